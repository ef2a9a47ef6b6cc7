// Settles a batch of commands in one transaction: locks, reads the facts, decides each in turn, writes conversions,
// ledger, caps and the log of calls together. Whoever asked hears of it after the commit.
//
// Locks: first one for each user and offer, and for each transaction and idempotency key, in ascending order, so that
// commands about the same thing come one after the other whatever process they are in; then the caps, shared; then the
// usage of capped offers. The unique indexes stand behind all of it.
import { sql } from 'kysely'
import { rowsLiteral } from '../../db/arrays.ts'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../db/partitions.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { movePosting, post, type Worth } from '../ledger/ledger.ts'
import { addUsage, CAPS_LOCK, dayNumber, refreshFull } from '../offers/caps.ts'
import type { Change, Command, Outcome } from './commands.ts'
import type { Conversion } from './conversions.ts'
import { decide } from './decide.ts'
import { requestText } from './decide-report.ts'
import {
  type ClickFacts,
  clickOf,
  type Facts,
  idempotencyKey,
  type Subject,
  subjectOf,
  takeIn,
  usageOf,
} from './facts.ts'
import { findGoneClicks, type GoneClicks } from './gone-clicks.ts'
import { readClicks } from './latest-clicks.ts'
import { readFacts } from './read-facts.ts'
import { keepCalls } from './inbound/calls.ts'
import { userKey } from './known.ts'
import { KnownOffers } from './known-offers.ts'

const LOCK_CLASS = 0x0ff3

/** Whoever settles often keeps `knownOffers` from one call to the next. */
export async function settle(
  db: Db,
  commands: readonly Command[],
  now: Date,
  knownOffers = new KnownOffers(),
): Promise<Outcome[]> {
  const settleOnce = () => settleBatch(db, commands, now, knownOffers)
  try {
    return await withRetry(settleOnce)
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', callTimes(commands))
    return withRetry(settleOnce)
  }
}

async function settleBatch(
  db: Db,
  commands: readonly Command[],
  now: Date,
  knownOffers: KnownOffers,
): Promise<Outcome[]> {
  const clickIds = commands.flatMap((command) => (command.kind === 'confirmation' ? (command.clickId ?? []) : []))
  const clicks = await readClicks(db, clickIds)
  const gone = await findGoneClicks(db, commands, clicks, now)
  const subjects = await findSubjects(db, commands, new Map([...clicks, ...gone.clicks]))
  return db.transaction().execute((trx) => settleLocked(trx, { commands, subjects, clicks, gone, knownOffers, now }))
}

const callTimes = (commands: readonly Command[]) =>
  commands.flatMap((command) => (command.kind === 'confirmation' ? [command.call.receivedAt.getTime()] : []))

type Batch = {
  commands: readonly Command[]
  subjects: readonly (Subject | null)[]
  clicks: Map<string, ClickFacts>
  gone: GoneClicks
  knownOffers: KnownOffers
  now: Date
}

async function settleLocked(trx: Trx, batch: Batch): Promise<Outcome[]> {
  const { commands, now } = batch
  const day = dayNumber(now)
  const windowS = await lock(trx, batch)
  const facts = await readFacts(trx, { ...batch, day, windowS })
  const moment = { now, makeId: () => uuid7(now.getTime()) }
  const outcomes: Outcome[] = []
  let changes: Change[] = []
  for (const command of commands) {
    const { outcome, change } = decide(command, facts, moment)
    outcomes.push(outcome)
    if (change !== null) {
      // Two moves of one conversion are two statements, so that each has its event.
      if (changes.some(({ after }) => after.conversion_id === change.after.conversion_id)) {
        await writeChanges(trx, changes, facts, now)
        changes = []
      }
      changes.push(change)
      takeIn(facts, change, day)
    }
    if (command.kind === 'report' && command.idempotencyKey !== null && outcome.conversion !== null)
      await keepKey(trx, command, outcome.conversion, facts, now)
  }
  await writeChanges(trx, changes, facts, now)
  const calls = commands.flatMap((command, i) =>
    command.kind === 'confirmation' ? [{ call: command.call, outcome: outcomes[i] as Outcome }] : [],
  )
  await keepCalls(trx, calls, now)
  for (const [i, command] of commands.entries()) {
    const outcome = outcomes[i]
    if (command.kind === 'move' && outcome?.kind === 'moved') await command.record?.(trx, outcome.conversion)
  }
  return outcomes
}

/** Whom each command is about: of a report it says so, of a confirmation its click does. */
async function findSubjects(
  db: Db,
  commands: readonly Command[],
  clicks: Map<string, ClickFacts>,
): Promise<(Subject | null)[]> {
  const ids = commands.flatMap((command) => ('conversionId' in command ? [command.conversionId] : []))
  const rows =
    ids.length === 0
      ? []
      : await db
          .selectFrom('conversions')
          .select(['conversion_id', 'app_id', 'is_test', 'user_id', 'offer_id'])
          .where('conversion_id', 'in', ids)
          .execute()
  const byId = new Map(rows.map((row) => [row.conversion_id, row]))
  return commands.map((command) => {
    if (command.kind === 'report') return subjectOf(command)
    if (command.kind === 'confirmation') return clickOf(clicks, command) ?? null
    return byId.get(command.conversionId) ?? null
  })
}

/** Returns how old a click may be that a report counts for, by the longest terms of its offers: asked on the way. */
async function lock(trx: Trx, { commands, subjects, clicks }: Batch): Promise<number> {
  const names = commands.flatMap((command, i) => {
    const subject = subjects[i]
    const about = subject ? [`user ${userKey(subject)}`] : []
    if (command.kind === 'report' && command.idempotencyKey !== null) about.push(`key ${idempotencyKey(command)}`)
    if (command.kind === 'confirmation' && command.transactionId !== null && subject)
      about.push(`transaction ${command.advertiserId}|${subject.offer_id}|${command.transactionId}`)
    const ip = command.kind === 'confirmation' ? clickOf(clicks, command)?.ip : undefined
    if (ip) about.push(`address ${ip}`) // so that rules about an address see those before them
    return about
  })
  const keys = [...new Set(names.map((name) => hashNumber(name) % 0x7fff_ffff))].toSorted((a, b) => a - b)
  // Plans are made once for each connection: planning these statements anew would cost more than running them. Every
  // look-up in them has its index, which a plan made while a table was still empty would not use.
  const reported = commands.flatMap((command) => (command.kind === 'report' ? command.offerId : []))
  const { rows } = await sql<{
    windowS: number | null
  }>`/* settle-lock */ SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    (SELECT count(pg_advisory_xact_lock(${LOCK_CLASS}::integer, key)) FROM unnest(${keys}::integer[]) AS key),
    pg_advisory_xact_lock_shared(${CAPS_LOCK}::bigint), longest_attribution(${reported}::bigint[]) AS "windowS"`.execute(
    trx,
  )
  return rows[0]?.windowS ?? 0
}

async function keepKey(
  trx: Trx,
  command: Extract<Command, { kind: 'report' }>,
  conversion: Conversion,
  facts: Facts,
  now: Date,
): Promise<void> {
  const request = requestText(command)
  facts.keys.set(idempotencyKey(command), { request, conversionId: conversion.conversion_id })
  await sql`
    INSERT INTO idempotency_keys (app_id, is_test, key, request, conversion_id, created_at)
    VALUES (${command.appId}, ${command.isTest}, ${command.idempotencyKey}, ${request}, ${conversion.conversion_id}, ${now})
    ON CONFLICT (app_id, key, is_test) DO UPDATE
    SET request = excluded.request, conversion_id = excluded.conversion_id, created_at = excluded.created_at
    WHERE idempotency_keys.created_at <= ${new Date(now.getTime() - 86_400_000)}`.execute(trx)
}

const FIXED_COLUMNS = [
  'conversion_id', 'app_id', 'publisher_id', 'advertiser_id', 'offer_id', 'goal_id', 'user_id', 'is_test', 'is_repeatable', 'is_first_goal',
  'source', 'created_at',
] as const satisfies (keyof Conversion)[] // prettier-ignore
const CHANGING_COLUMNS = [
  'status', 'status_reason', 'publisher_transaction_id', 'advertiser_transaction_id', 'payout_micros', 'revenue_micros', 'currency',
  'rate_micros', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'click_id', 'click_at', 'ip', 'country', 'device', 'confirmed_at',
  'hold_until', 'approved_at', 'rejected_at', 'reversed_at', 'sequence', 'event_id', 'actor', 'terms_id', 'share_ppm', 'told_at',
  'confirm_by', 'bars_redo', 'is_unconfirmed', 'signals',
] as const satisfies (keyof Conversion)[] // prettier-ignore
/** Those of `conversion_row`. By name, so that a column which a later version adds gets its default. */
export const COLUMNS = [...FIXED_COLUMNS, ...CHANGING_COLUMNS]

const columnList = sql.raw(COLUMNS.join(', '))
const assignments = sql.raw(CHANGING_COLUMNS.map((name) => `${name} = n.${name}`).join(', '))
const tableOf = (conversions: Conversion[]) => sql`unnest(${rowsLiteral(COLUMNS, conversions)}::conversion_row[])`

async function writeChanges(trx: Trx, changes: Change[], facts: Facts, now: Date): Promise<void> {
  if (changes.length === 0) return
  const made = changes.filter(({ before }) => before === null).map(({ after }) => after)
  const moved = changes.filter(({ before }) => before !== null).map(({ after }) => after)
  // Moves first: what is rejected leaves its place to what is made.
  if (moved.length > 0) {
    await sql`/* settle-moved */ UPDATE conversions c SET ${assignments} FROM ${tableOf(moved)} n
      WHERE c.conversion_id = n.conversion_id`.execute(trx)
  }
  if (made.length > 0)
    await sql`/* settle-made */ INSERT INTO conversions (${columnList}) SELECT * FROM ${tableOf(made)}`.execute(trx)
  const live = changes.filter(({ after }) => !after.is_test)
  await post(
    trx,
    live.map((change) => postingOf(change, now)).filter((posting) => posting !== null),
  )
  const capped = live.filter(({ after }) => facts.usage.has(after.offer_id))
  await addUsage(
    trx,
    capped.map((change) => ({
      offerId: change.after.offer_id,
      day: dayNumber(change.after.created_at),
      clicks: 0,
      ...usageOf(change),
    })),
  )
  await refreshFull(trx, [...new Set(capped.map(({ after }) => after.offer_id))], now)
}

function postingOf({ before, after }: Change, now: Date) {
  // A conversion that changes its worth while it stays pending has no event; its posting has an id of its own.
  const isCorrection = before?.event_id === after.event_id
  return movePosting({
    eventId: isCorrection ? uuid7(now.getTime()) : after.event_id,
    isCorrection,
    conversionId: after.conversion_id,
    publisherId: after.publisher_id,
    advertiserId: after.advertiser_id,
    at: now,
    before: worthInLedger(before),
    after: worthInLedger(after),
  })
}

function worthInLedger(conversion: Conversion | null): Worth | null {
  if (conversion === null || (conversion.status !== 'pending' && conversion.status !== 'approved')) return null
  return {
    status: conversion.status,
    payoutMicros: conversion.payout_micros,
    revenueMicros: conversion.revenue_micros,
    isUnconfirmed: conversion.is_unconfirmed,
  }
}
