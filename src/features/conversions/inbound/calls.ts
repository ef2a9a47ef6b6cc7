// The log of what advertisers sent: every call with its outcome, in the same transaction as what it did.
//
// A call that names a click we do not know is tried again by itself for three days: its click may wait in a spool. Any
// call can be processed again by hand; whether its token was right was decided when it came, and stays so.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/open.ts'
import { ensurePartitions, isMissingPartition } from '../../../db/partitions.ts'
import { isUuid, uuid7Floor } from '../../../lib/uuid7.ts'
import type { Outcome } from '../commands.ts'

export type InboundCall = {
  inboundId: string
  receivedAt: Date
  /** Whose token it carried; null: nobody's. */
  advertiserId: number | null
  method: string
  query: string
  body: string
  /** It was too long: only its beginning is kept. */
  isCut: boolean
  ip: string | null
  clickId: string | null
  attempts: number
}

export type CallOutcome = {
  outcome: 'approved' | 'pending' | 'rejected' | 'reversed' | 'duplicate' | 'unmatched' | 'invalid' | 'refused'
  reason: string | null
  conversionId: string | null
}

const RETRY_FOR_MS = 72 * 3_600_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 600_000

const SENTENCES: Partial<Record<Outcome['kind'], string>> = {
  no_goal: 'The offer has no such goal.',
  needs_transaction: 'This goal can be completed again and again: a txn_id is required.',
  amount_too_large: 'The amount is larger than any conversion is worth.',
  not_yours: 'The token is not that of the advertiser of this click.',
  unmatched: 'No such click is known yet. The call is kept and tried again for three days.',
}

/** What a call came to, in the words of the log and of the answer. */
export function describeOutcome(outcome: Outcome): CallOutcome {
  const { conversion } = outcome
  if (conversion === null) {
    const reason = SENTENCES[outcome.kind] ?? null
    if (outcome.kind === 'unmatched') return { outcome: 'unmatched', reason, conversionId: null }
    return { outcome: outcome.kind === 'not_yours' ? 'refused' : 'invalid', reason, conversionId: null }
  }
  return {
    outcome: outcome.kind === 'duplicate' ? 'duplicate' : conversion.status,
    reason: conversion.status_reason,
    conversionId: conversion.conversion_id,
  }
}

/** When to try an unmatched call again, or null to give up. */
export function nextAttemptAt(call: InboundCall, now: Date): Date | null {
  if (now.getTime() - call.receivedAt.getTime() > RETRY_FOR_MS) return null
  return new Date(now.getTime() + Math.min(FIRST_RETRY_MS * 2 ** Math.min(call.attempts, 20), LONGEST_RETRY_MS))
}

export async function keepCalls(
  trx: Trx,
  calls: readonly { call: InboundCall; outcome: Outcome }[],
  now: Date,
): Promise<void> {
  await writeCalls(
    trx,
    calls.map(({ call, outcome }) => ({ call, result: describeOutcome(outcome) })),
    now,
  )
}

/** Writes calls down, or what became of them since. Of two that try one again at once, the first to finish counts. */
async function writeCalls(db: Db, calls: { call: InboundCall; result: CallOutcome }[], now: Date): Promise<void> {
  if (calls.length === 0) return
  const rows = calls.map(({ call, result }) => {
    const nextAttempt = result.outcome === 'unmatched' ? nextAttemptAt(call, now) : null
    return {
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
      next_attempt_at: nextAttempt,
      settled_at: nextAttempt === null ? now : null,
    }
  })
  await sql`
    INSERT INTO inbound_calls AS old SELECT * FROM jsonb_populate_recordset(NULL::inbound_calls, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (inbound_id) DO UPDATE SET outcome = excluded.outcome, reason = excluded.reason,
      conversion_id = excluded.conversion_id, click_id = excluded.click_id, attempts = excluded.attempts,
      next_attempt_at = excluded.next_attempt_at, settled_at = excluded.settled_at
    WHERE old.attempts < excluded.attempts`.execute(db)
}

/** For calls that never got as far as a command. */
export async function keepRefusedCall(db: Db, call: InboundCall, result: CallOutcome, now: Date): Promise<void> {
  try {
    await writeCalls(db, [{ call, result }], now)
  } catch (error) {
    if (!isMissingPartition(error)) throw error
    await ensurePartitions(db, 'inbound_calls', [call.receivedAt.getTime()])
    await writeCalls(db, [{ call, result }], now)
  }
}

const selectCalls = (db: Db) =>
  db
    .selectFrom('inbound_calls')
    .select([
      'inbound_id',
      'received_at',
      'advertiser_id',
      'method',
      'query',
      'body',
      'is_cut',
      'click_id',
      'outcome',
      'reason',
    ])
    .select(['conversion_id', 'attempts', 'next_attempt_at', sql<string | null>`host(ip)`.as('ip')])

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
  }
}

export type CallFilter = { outcome?: string; advertiserId?: number; clickId?: string; before?: string }

/** Newest first. */
export async function listCalls(db: Db, filter: CallFilter, limit: number): Promise<CallRow[]> {
  let query = selectCalls(db)
  if (filter.outcome !== undefined) query = query.where('outcome', '=', filter.outcome)
  if (filter.advertiserId !== undefined) query = query.where('advertiser_id', '=', filter.advertiserId)
  if (filter.clickId !== undefined) query = query.where('click_id', '=', filter.clickId)
  if (filter.before !== undefined) query = query.where('inbound_id', '<', filter.before)
  return query.orderBy('inbound_id', 'desc').limit(limit).execute()
}

export async function findCall(db: Db, inboundId: string): Promise<CallRow | null> {
  if (!isUuid(inboundId)) return null
  return (await selectCalls(db).where('inbound_id', '=', inboundId).executeTakeFirst()) ?? null
}

export async function findDueCalls(db: Db, now: Date, limit: number): Promise<CallRow[]> {
  return selectCalls(db).where('next_attempt_at', '<=', now).orderBy('next_attempt_at').limit(limit).execute()
}

/** All that wait for these clicks, in the order in which they came. */
export async function findWaitingCalls(db: Db, clickIds: readonly string[], now: Date): Promise<CallRow[]> {
  return selectCalls(db)
    .where('next_attempt_at', 'is not', null)
    .where((is) => is('click_id', '=', is.fn.any(is.val([...clickIds]))))
    .where('inbound_id', '>=', oldestWaiting(now))
    .orderBy('inbound_id')
    .execute()
}

/** So that only the partitions of the last days are looked into. */
const oldestWaiting = (now: Date) => uuid7Floor(now.getTime() - RETRY_FOR_MS - LONGEST_RETRY_MS * 2)
