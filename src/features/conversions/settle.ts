// Settles a batch of commands in one transaction: locks, reads the facts, decides each in turn, writes conversions,
// ledger, caps and the log of calls together. Whoever asked hears of it after the commit.
//
// Locks: first one for each user and offer, and for each transaction and idempotency key, in ascending order, so that
// commands about the same thing come one after the other whatever process they are in; then the caps, shared; then the
// usage of capped offers. The unique indexes stand behind all of it.
import { sql } from 'kysely'
import { arrayLiteral } from '../../db/arrays.ts'
import { retrying } from '../../db/faults.ts'
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
    return await retrying(settleOnce)
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', callTimes(commands))
    return retrying(settleOnce)
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
    pg_advisory_xact_lock_shared(${CAPS_LOCK}::bigint), (
      SELECT max(longest.attribution_s) FROM unnest(${reported}::bigint[]) AS one (offer_id) CROSS JOIN LATERAL (
        SELECT attribution_s FROM terms WHERE terms.offer_id = one.offer_id
        ORDER BY offer_id DESC, attribution_s DESC LIMIT 1) AS longest) AS "windowS"`.execute(trx)
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

type Column = Exclude<keyof Conversion, 'signals'>

const KEY_COLUMNS = { conversion_id: 'uuid' } as const
const FIXED_COLUMNS = {
  app_id: 'bigint', publisher_id: 'bigint', advertiser_id: 'bigint', offer_id: 'bigint', goal_id: 'bigint', user_id: 'text',
  is_test: 'boolean', is_repeatable: 'boolean', is_first_goal: 'boolean', source: 'text', created_at: 'timestamptz',
} as const // prettier-ignore
const CHANGING_COLUMNS = {
  status: 'text', status_reason: 'text', publisher_transaction_id: 'text', advertiser_transaction_id: 'text', payout_micros: 'bigint',
  revenue_micros: 'bigint', currency: 'text', rate_micros: 'bigint', aff_sub: 'text', aff_sub2: 'text', aff_sub3: 'text', aff_sub4: 'text',
  click_id: 'uuid', click_at: 'timestamptz', ip: 'inet', country: 'text', device: 'text', confirmed_at: 'timestamptz',
  hold_until: 'timestamptz', approved_at: 'timestamptz', rejected_at: 'timestamptz', reversed_at: 'timestamptz', sequence: 'integer',
  event_id: 'uuid', actor: 'text', terms_id: 'bigint', share_ppm: 'integer', told_at: 'timestamptz', confirm_by: 'timestamptz',
  bars_redo: 'boolean', is_unconfirmed: 'boolean',
} as const // prettier-ignore

/** Conversions as a table of the statement, under the name n; its columns by name, so that one which a later version adds gets its default. */
function rowsOf(conversions: Conversion[], columns: Record<string, string>) {
  const names = Object.keys(columns) as Column[]
  const arrays = names.map((name) => {
    const literal = arrayLiteral(conversions.map((conversion) => conversion[name]))
    return sql`${literal}::${sql.raw(`${columns[name]}[]`)}`
  })
  const signals = arrayLiteral(conversions.map((conversion) => conversion.signals))
  const list = sql.raw([...names, 'signals'].join(', '))
  return { list, table: sql`unnest(${sql.join(arrays)}, ${signals}::text[]) AS n (${list})` }
}

const ALL_COLUMNS = { ...KEY_COLUMNS, ...FIXED_COLUMNS, ...CHANGING_COLUMNS }
const values = sql.raw([...Object.keys(ALL_COLUMNS), 'signals::text[]'].join(', '))
const assignments = sql.raw(
  [...Object.keys(CHANGING_COLUMNS).map((name) => `${name} = n.${name}`), 'signals = n.signals::text[]'].join(', '),
)

async function writeChanges(trx: Trx, changes: Change[], facts: Facts, now: Date): Promise<void> {
  if (changes.length === 0) return
  const made = changes.filter(({ before }) => before === null).map(({ after }) => after)
  const moved = changes.filter(({ before }) => before !== null).map(({ after }) => after)
  // Moves first: what is rejected leaves its place to what is made.
  if (moved.length > 0) {
    const { table } = rowsOf(moved, { ...KEY_COLUMNS, ...CHANGING_COLUMNS })
    await sql`/* settle-moved */ UPDATE conversions c SET ${assignments} FROM ${table} WHERE c.conversion_id = n.conversion_id`.execute(
      trx,
    )
  }
  if (made.length > 0) {
    const { table, list } = rowsOf(made, ALL_COLUMNS)
    await sql`/* settle-made */ INSERT INTO conversions (${list}) SELECT ${values} FROM ${table}`.execute(trx)
  }
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
