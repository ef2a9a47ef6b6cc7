// Applies a batch of commands in one transaction: takes the locks, loads the context, decides each command in turn, and
// writes conversions, ledger, cap usage and the log of calls together. The caller gets the outcomes after the commit.
//
// Locks: first one for each user and offer, and for each transaction and idempotency key, in ascending order, so that
// commands about the same thing are serialized across processes; then the caps, shared; then the usage of capped
// offers. Unique indexes are the last line of defence.
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
  type ClickSnapshot,
  clickOf,
  type DecisionContext,
  idempotencyKey,
  type Subject,
  subjectOf,
  applyChange,
  usageOf,
} from './decision-context.ts'
import { findDroppedClicks, type DroppedClicks } from './dropped-clicks.ts'
import { readClicks } from './latest-clicks.ts'
import { loadContext } from './load-context.ts'
import { keepCalls } from './inbound/calls.ts'
import { userKey } from './conversion-index.ts'
import { OfferCache } from './offer-cache.ts'

const LOCK_CLASS = 0x0ff3

/** A caller that applies commands often keeps `offerCache` between calls. */
export async function applyCommands(
  db: Db,
  commands: readonly Command[],
  now: Date,
  offerCache = new OfferCache(),
): Promise<Outcome[]> {
  const applyOnce = () => applyBatch(db, commands, now, offerCache)
  try {
    return await withRetry(applyOnce)
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', callTimes(commands))
    return withRetry(applyOnce)
  }
}

async function applyBatch(db: Db, commands: readonly Command[], now: Date, offerCache: OfferCache): Promise<Outcome[]> {
  const clickIds = commands.flatMap((command) => (command.kind === 'confirmation' ? (command.clickId ?? []) : []))
  const clicks = await readClicks(db, clickIds)
  const dropped = await findDroppedClicks(db, commands, clicks, now)
  const subjects = await findSubjects(db, commands, new Map([...clicks, ...dropped.clicks]))
  return db.transaction().execute((trx) => applyLocked(trx, { commands, subjects, clicks, dropped, offerCache, now }))
}

const callTimes = (commands: readonly Command[]) =>
  commands.flatMap((command) => (command.kind === 'confirmation' ? [command.call.receivedAt.getTime()] : []))

type Batch = {
  commands: readonly Command[]
  subjects: readonly (Subject | null)[]
  clicks: Map<string, ClickSnapshot>
  dropped: DroppedClicks
  offerCache: OfferCache
  now: Date
}

async function applyLocked(trx: Trx, batch: Batch): Promise<Outcome[]> {
  const { commands, now } = batch
  const day = dayNumber(now)
  const windowS = await lock(trx, batch)
  const context = await loadContext(trx, { ...batch, day, windowS })
  const moment = { now, newId: () => uuid7(now.getTime()) }
  const outcomes: Outcome[] = []
  let changes: Change[] = []
  for (const command of commands) {
    const { outcome, change } = decide(command, context, moment)
    outcomes.push(outcome)
    if (change !== null) {
      // Two changes of one conversion are two statements, so that each gets its event.
      if (changes.some(({ after }) => after.conversion_id === change.after.conversion_id)) {
        await writeChanges(trx, changes, context, now)
        changes = []
      }
      changes.push(change)
      applyChange(context, change, day)
    }
    if (command.kind === 'report' && command.idempotencyKey !== null && outcome.conversion !== null)
      await keepKey(trx, command, outcome.conversion, context, now)
  }
  await writeChanges(trx, changes, context, now)
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

/** The user and offer of each command: a report names them, a confirmation's click does. */
async function findSubjects(
  db: Db,
  commands: readonly Command[],
  clicks: Map<string, ClickSnapshot>,
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

/** Returns the longest attribution window of the reported offers, read in the same statement. */
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
  // Plans are cached per connection: planning these statements again would cost more than running them. Every look-up
  // has its index, which a plan made while a table was still empty would not use.
  const reported = commands.flatMap((command) => (command.kind === 'report' ? command.offerId : []))
  const { rows } = await sql<{
    windowS: number | null
  }>`/* commands-lock */ SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
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
  context: DecisionContext,
  now: Date,
): Promise<void> {
  const request = requestText(command)
  context.keys.set(idempotencyKey(command), { request, conversionId: conversion.conversion_id })
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
/** The attributes of `conversion_row`. By name, so that a column added by a later version gets its default. */
export const COLUMNS = [...FIXED_COLUMNS, ...CHANGING_COLUMNS]

const columnList = sql.raw(COLUMNS.join(', '))
const assignments = sql.raw(CHANGING_COLUMNS.map((name) => `${name} = n.${name}`).join(', '))
const tableOf = (conversions: Conversion[]) => sql`unnest(${rowsLiteral(COLUMNS, conversions)}::conversion_row[])`

async function writeChanges(trx: Trx, changes: Change[], context: DecisionContext, now: Date): Promise<void> {
  if (changes.length === 0) return
  const made = changes.filter(({ before }) => before === null).map(({ after }) => after)
  const moved = changes.filter(({ before }) => before !== null).map(({ after }) => after)
  // Updates first: a rejected conversion frees its place in the unique indexes for a new one.
  if (moved.length > 0) {
    await sql`/* commands-update */ UPDATE conversions c SET ${assignments} FROM ${tableOf(moved)} n
      WHERE c.conversion_id = n.conversion_id`.execute(trx)
  }
  if (made.length > 0)
    await sql`/* commands-insert */ INSERT INTO conversions (${columnList}) SELECT * FROM ${tableOf(made)}`.execute(trx)
  const live = changes.filter(({ after }) => !after.is_test)
  await post(
    trx,
    live.map((change) => postingOf(change, now)).filter((posting) => posting !== null),
  )
  const capped = live.filter(({ after }) => context.usage.has(after.offer_id))
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
  // A conversion whose amounts change while it is pending has no event; its posting gets an id of its own.
  const isCorrection = before?.event_id === after.event_id
  return movePosting({
    eventId: isCorrection ? uuid7(now.getTime()) : after.event_id,
    isCorrection,
    conversionId: after.conversion_id,
    publisherId: after.publisher_id,
    advertiserId: after.advertiser_id,
    at: now,
    before: ledgerAmounts(before),
    after: ledgerAmounts(after),
  })
}

function ledgerAmounts(conversion: Conversion | null): Worth | null {
  if (conversion === null || (conversion.status !== 'pending' && conversion.status !== 'approved')) return null
  return {
    status: conversion.status,
    payoutMicros: conversion.payout_micros,
    revenueMicros: conversion.revenue_micros,
    isUnconfirmed: conversion.is_unconfirmed,
  }
}
