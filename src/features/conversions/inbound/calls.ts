// The log of advertisers' calls: every call with its outcome, in the same transaction as what it changed.
//
// Calls without a result are in open-calls.ts, too. Any call can be processed again by hand; whether its token was
// valid was decided when it was received, and stays so.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../../db/partitions.ts'
import { type Found, search } from '../../../db/search.ts'
import { isUuid, uuid7Floor } from '../../../lib/uuid7.ts'
import { isPseudonym } from '../../apps/erased-users.ts'
import type { Outcome } from '../commands.ts'
import { type CallOutcome, type InboundCall, isUnprocessed } from './inbound-call.ts'
import { withNamedClick } from './named-click.ts'
import { followCalls } from './open-calls.ts'
import type { Dialect } from './parameters.ts'
import { countRepeats } from './repeated-calls.ts'

const SENTENCES: Partial<Record<Outcome['kind'], string>> = {
  no_goal: 'The offer has no such goal.',
  needs_transaction: 'This goal is repeatable: a txn_id is required.',
  amount_too_large: 'The amount is above the maximum for a conversion.',
  amount_unclear: 'This goal pays a percentage, and the amount is not a clear number of US dollars, such as 1234.56.',
  amount_other_currency: 'This goal pays a percentage, and there is no rate for the currency of the amount.',
  other_offer: 'The callback is for another offer of this network than the one that was clicked.',
  not_yours: 'The token belongs to another advertiser than this click.',
  ambiguous: 'Several conversions have this txn_id: also send the click_id or the goal.',
  unmatched: 'Unknown click. The callback is stored and retried for three days.',
}

/** The outcome of a call, as the log and the response name it. */
export function describeOutcome(outcome: Outcome): CallOutcome {
  const { conversion } = outcome
  if (conversion === null) {
    const reason = SENTENCES[outcome.kind] ?? null
    if (outcome.kind === 'unmatched') return { outcome: 'unmatched', reason, conversionId: null }
    return { outcome: outcome.kind === 'not_yours' ? 'refused' : 'invalid', reason, conversionId: null }
  }
  return {
    outcome: outcome.kind === 'duplicate' ? 'duplicate' : conversion.status,
    reason: conversion.statusReason,
    conversionId: conversion.conversionId,
  }
}

/** `click`: which it names, whatever became of it. */
type KnownCall = { call: InboundCall; outcome: Outcome; click: { clickId: string | null; userId: string } | null }

export async function keepCalls(trx: Trx, calls: readonly KnownCall[], now: Date): Promise<void> {
  const isRepeat = ({ call, outcome }: KnownCall) => call.repeatOf != null && outcome.kind === 'duplicate'
  const results = calls
    .filter((one) => !isRepeat(one))
    .map((one) => ({ call: keptCall(one), result: describeOutcome(one.outcome) }))
  await writeCalls(
    trx,
    results.filter(({ call, result }) => !(call.isOverBudget && isUnprocessed(result))),
    now,
  )
  await countRepeats(
    trx,
    calls.filter(isRepeat).flatMap(({ call }) => call.repeatOf ?? []),
    now,
  )
}

/** One that named its conversion by the transaction alone is found by the click, like all others. */
function keptCall({ call, outcome: { conversion }, click }: KnownCall): InboundCall {
  const found = { ...call, clickId: call.clickId ?? conversion?.clickId ?? click?.clickId ?? null }
  return isPseudonym(conversion?.userId ?? click?.userId ?? '') ? { ...found, ...call.redact?.() } : found
}

/**
 * Inserts calls into the log, or updates their outcome. Of two retries of a call at once, the first to finish counts.
 */
async function writeCalls(db: Db, calls: { call: InboundCall; result: CallOutcome }[], now: Date): Promise<void> {
  if (calls.length === 0) return
  const rows = calls.map(({ call, result }) => ({
    inbound_id: call.inboundId,
    received_at: call.receivedAt,
    advertiser_id: call.advertiserId,
    method: call.method,
    query: call.query,
    body: call.body,
    is_cut: call.isCut,
    ip: call.ip,
    click_id: call.clickId,
    outcome: result.outcome,
    reason: result.reason,
    conversion_id: result.conversionId,
    attempts: call.attempts,
    settled_at: result.outcome === 'unmatched' ? null : now,
  }))
  const { rows: written } = await sql<{ inbound_id: string }>`
    INSERT INTO inbound_calls AS old SELECT * FROM jsonb_populate_recordset(NULL::inbound_calls, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (inbound_id) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
      conversion_id = excluded.conversion_id, click_id = excluded.click_id, attempts = excluded.attempts,
      settled_at = excluded.settled_at, query = excluded.query, body = excluded.body, ip = excluded.ip
    WHERE old.attempts < excluded.attempts
    RETURNING inbound_id`.execute(db)
  const ids = new Set(written.map((row) => row.inbound_id))
  await followCalls(
    db,
    calls.filter(({ call }) => ids.has(call.inboundId)),
    now,
  )
}

/** For calls that never became a command. Without a dialect, a stranger sent it. */
export async function keepRefusedCall(
  db: Db,
  sent: InboundCall,
  dialect: Dialect | null,
  result: CallOutcome,
  now: Date,
): Promise<void> {
  const call = dialect === null ? sent : await withNamedClick(db, sent, dialect)
  const keep = () => db.transaction().execute((trx) => writeCalls(trx, [{ call, result }], now))
  try {
    await keep()
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', [call.receivedAt.getTime()])
    await keep()
  }
}

const selectCalls = (db: Db) =>
  db
    .selectFrom('inbound_calls as c')
    .leftJoin('open_calls as o', 'o.inbound_id', 'c.inbound_id')
    .select(['c.inbound_id', 'received_at', 'c.advertiser_id', 'method', 'query', 'body', 'is_cut', 'c.click_id'])
    .select(['c.outcome', 'reason', 'conversion_id', 'attempts', 'next_attempt_at', 'repeats', 'repeated_at'])
    .select([sql<string | null>`host(ip)`.as('ip'), sql<boolean>`o.inbound_id IS NOT NULL`.as('is_open')])

export type CallRow = Awaited<ReturnType<ReturnType<typeof selectCalls>['execute']>>[number]

export function callOf(row: CallRow): InboundCall {
  return {
    inboundId: row.inbound_id,
    receivedAt: row.received_at,
    advertiserId: row.advertiser_id,
    method: row.method,
    query: row.query,
    body: row.body,
    isCut: row.is_cut,
    ip: row.ip,
    clickId: row.click_id,
    attempts: row.attempts,
    before: { outcome: row.outcome as CallOutcome['outcome'], reason: row.reason },
  }
}

export type CallFilter = {
  outcome?: string
  advertiserId?: number
  clickId?: string
  inboundId?: string
  before?: string
  /** Only those without a result that were not dismissed. */
  isOpen?: boolean
}

/** Newest first. Open calls are read from their own small table: the log may be long and hold few of them. */
export function searchCalls(db: Db, filter: CallFilter, limit: number): Promise<Found<CallRow>> {
  const { outcome, advertiserId, clickId, inboundId, before, isOpen } = filter
  const filters: RawBuilder<boolean>[] = outcome === undefined ? [] : [sql`outcome = ${outcome}`]
  const id = sql.ref(isOpen ? 'o.inbound_id' : 'c.inbound_id')
  let query = selectCalls(db)
  if (isOpen) query = query.where('o.inbound_id', 'is not', null)
  if (advertiserId !== undefined) query = query.where(isOpen ? 'o.advertiser_id' : 'c.advertiser_id', '=', advertiserId)
  if (clickId !== undefined) query = query.where('c.click_id', '=', clickId)
  if (inboundId !== undefined) query = query.where('c.inbound_id', '=', inboundId)
  if (before !== undefined) query = query.where(id, '<', before)
  const walk = (_: unknown, most: number) => sql`SELECT * FROM (${query.orderBy(id, 'desc').limit(most)}) AS c`
  return search(db, { walk, id: 'inbound_id', filters }, limit)
}

/** One page of it, without a cursor. */
export const listCalls = async (...given: Parameters<typeof searchCalls>): Promise<CallRow[]> =>
  (await searchCalls(...given)).rows

export async function findCall(db: Db, inboundId: string): Promise<CallRow | null> {
  const [call] = isUuid(inboundId) ? await findCalls(db, [inboundId]) : []
  return call ?? null
}

/** Those of them that are in the log, in the order they were received. */
export async function findCalls(db: Db, inboundIds: readonly string[]): Promise<CallRow[]> {
  return selectCalls(db)
    .where((is) => is('c.inbound_id', '=', is.fn.any(is.val([...inboundIds]))))
    .orderBy('c.inbound_id')
    .execute()
}

const STRANGERS_DAYS = 7
const DAY_MS = 86_400_000

/**
 * Deletes calls with invalid tokens, which are of no use for long. Looks at the day that has just become old enough.
 */
export async function forgetStrangersCalls(db: Db, now: Date): Promise<void> {
  const beforeMs = now.getTime() - STRANGERS_DAYS * DAY_MS
  await sql`DELETE FROM inbound_calls WHERE advertiser_id IS NULL
    AND inbound_id >= ${uuid7Floor(beforeMs - DAY_MS)}::uuid AND inbound_id < ${uuid7Floor(beforeMs)}::uuid`.execute(db)
}
