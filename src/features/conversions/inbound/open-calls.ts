// Calls without a result so far.
//
//   unmatched ----- its click arrives ----> processed, and no longer here
//       |
//       +-- after 72 hours --+
//   invalid, refused --------+--> for the operator: processed again, or dismissed
//
// The log keeps every call. This is the small table beside it, so that a search for waiting calls does not scan the log. A
// waiting call costs nothing: only calls that can succeed now are retried.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../db/open.ts'
import { Cache } from '../../../lib/cache.ts'
import { uuid7Floor, uuid7Time } from '../../../lib/uuid7.ts'
import { type Actor, recordAudit } from '../../accounts/audit.ts'
import { type CallOutcome, type InboundCall, isUnprocessed } from './inbound-call.ts'

const HOUR_MS = 3_600_000
const RETRY_FOR_MS = 72 * HOUR_MS
const FIRST_RETRY_MS = 2_000
const LONGEST_RETRY_MS = 600_000

/** More calls about one unknown click are a mistake; they get 429. */
export const MAX_WAITING_OF_CLICK = 50
const MAX_WAITING_OF_ADVERTISER = 10_000
const MAX_LISTED_OF_ADVERTISER = 10_000
/** From this number on an advertiser's list counts as nearly full. */
export const NEARLY_LISTED = 8_000
const COUNT_FRESH_MS = 5_000

const isOpen = (result: CallOutcome) => result.outcome === 'unmatched' || isUnprocessed(result)

/** When to look for the click of an unmatched call again, or null to leave it to the operator. The intervals double. */
export function nextAttemptAt(inboundId: string, now: Date): Date | null {
  const ageMs = now.getTime() - uuid7Time(inboundId)
  if (ageMs > RETRY_FOR_MS) return null
  return new Date(now.getTime() + Math.min(Math.max(ageMs, FIRST_RETRY_MS), LONGEST_RETRY_MS))
}

/** Updates this table to match the log. */
export async function followCalls(
  db: Db,
  calls: readonly { call: InboundCall; result: CallOutcome }[],
  now: Date,
): Promise<void> {
  const open = calls.filter(({ call, result }) => call.advertiserId !== null && isOpen(result))
  const done = calls.filter(({ call, result }) => call.attempts > 1 && !isOpen(result))
  if (done.length > 0)
    await db
      .deleteFrom('open_calls')
      .where(
        'inbound_id',
        'in',
        done.map(({ call }) => call.inboundId),
      ) // prettier-ignore
      .execute()
  if (open.length === 0) return
  const rows = open.map(({ call, result }) => ({
    inbound_id: call.inboundId,
    advertiser_id: call.advertiserId,
    click_id: call.clickId,
    outcome: result.outcome,
    next_attempt_at: result.outcome === 'unmatched' ? nextAttemptAt(call.inboundId, now) : null,
  }))
  await sql`
    INSERT INTO open_calls SELECT * FROM jsonb_populate_recordset(NULL::open_calls, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT (inbound_id) DO UPDATE SET click_id = excluded.click_id, outcome = excluded.outcome,
      next_attempt_at = excluded.next_attempt_at`.execute(db)
}

export type WaitingCall = { inbound_id: string; click_id: string | null }

export async function findDueCalls(db: Db, now: Date, limit: number): Promise<WaitingCall[]> {
  return db
    .selectFrom('open_calls')
    .select(['inbound_id', 'click_id'])
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(limit)
    .execute()
}

/** The IDs of all calls that wait for these clicks, in the order they were received. */
export async function findWaitingCalls(db: Db, clickIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('open_calls')
    .select('inbound_id')
    .where('next_attempt_at', 'is not', null)
    .where((is) => is('click_id', '=', is.fn.any(is.val([...clickIds]))))
    .orderBy('inbound_id')
    .execute()
  return rows.map((row) => row.inbound_id)
}

/**
 * Which of these clicks exist, or are known from a conversion. By plain values, so that only their partitions are
 * planned for.
 */
export async function findKnownClicks(db: Db, clickIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ click_id: string }>`
    SELECT click_id FROM clicks WHERE click_id = ANY (${[...clickIds]}::uuid[])
    UNION ALL SELECT click_id FROM conversions WHERE click_id = ANY (${[...clickIds]}::uuid[])`.execute(db)
  return new Set(rows.map((row) => row.click_id))
}

/** Whether this advertiser has a conversion with this transaction ID. */
export async function isKnownTransaction(db: Db, advertiserId: number, transactionId: string): Promise<boolean> {
  const found = await db
    .selectFrom('conversions')
    .select('conversion_id')
    .where('advertiser_id', '=', advertiserId)
    .where('advertiser_transaction_id', '=', transactionId)
    .where('status', '<>', 'rejected')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

const MOST_SEARCHED = 50 // of one transaction

/** The click of what has this transaction; null: none. */
export async function clickOfTransaction(db: Db, advertiserId: number, transactionId: string): Promise<string | null> {
  const { rows } = await sql<{ click_id: string | null }>`SELECT click_id FROM (
      (SELECT 1 AS place, conversion_id, click_id FROM conversions WHERE advertiser_id = ${advertiserId}
        AND advertiser_transaction_id = ${transactionId} AND status <> 'rejected' LIMIT ${MOST_SEARCHED}::integer) UNION ALL
      (SELECT 2, conversion_id, click_id FROM conversions WHERE advertiser_id = ${advertiserId}
        AND advertiser_transaction_id = ${transactionId} AND status = 'rejected' LIMIT ${MOST_SEARCHED}::integer)
    ) found ORDER BY place, conversion_id LIMIT 1`.execute(db)
  return rows[0]?.click_id ?? null
}

/** Calls still without a click wait twice as long as before; after three days they are left to the operator. */
export async function postponeCalls(db: Db, inboundIds: readonly string[], now: Date): Promise<void> {
  if (inboundIds.length === 0) return
  const next = inboundIds.map((inboundId) => nextAttemptAt(inboundId, now))
  await sql`
    UPDATE open_calls SET next_attempt_at = (${next}::timestamptz[])[array_position(${inboundIds}::uuid[], inbound_id)]
    WHERE inbound_id = ANY (${inboundIds}::uuid[]) AND next_attempt_at <= ${now}`.execute(db)
}

/** Removes calls from the list of those that need the operator; the log keeps them. Returns those that were on it. */
export async function dismissCalls(db: Db, by: Actor, inboundIds: readonly string[]): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    const rows = await trx
      .deleteFrom('open_calls')
      .where((is) => is('inbound_id', '=', is.fn.any(is.val([...inboundIds]))))
      .where('next_attempt_at', 'is', null)
      .returning('inbound_id')
      .execute()
    for (const { inbound_id } of rows) await recordAudit(trx, by, { action: 'call.dismiss', subject: inbound_id })
    return rows.map((row) => row.inbound_id)
  })
}

/** Each advertiser's list keeps its newest ten thousand; the log keeps all. */
export async function trimOpenCalls(db: Db, warn: (message: string) => void): Promise<void> {
  const { numAffectedRows = 0n } = await sql`
    WITH crowded AS MATERIALIZED ( -- once for each advertiser, not for each call
      SELECT advertiser_id, (SELECT inbound_id FROM open_calls n WHERE n.advertiser_id = k.advertiser_id
        ORDER BY inbound_id DESC OFFSET ${MAX_LISTED_OF_ADVERTISER} LIMIT 1) AS last
      FROM (SELECT advertiser_id FROM open_calls GROUP BY advertiser_id HAVING count(*) > ${MAX_LISTED_OF_ADVERTISER}) k
    )
    DELETE FROM open_calls o USING crowded c
    WHERE o.advertiser_id = c.advertiser_id AND o.inbound_id <= c.last AND o.next_attempt_at IS NULL`.execute(db)
  if (numAffectedRows > 0n)
    warn(`${numAffectedRows} of the oldest open calls of advertisers left the list; the log keeps them`)
}

/** Whether more calls of an advertiser may wait. Counted now and then, and only for those with waiting calls. */
export class WaitingRoom {
  readonly #db: Db
  readonly #counts = new Cache<number, { waiting: number; readAtMs: number }>(10_000)

  constructor(db: Db) {
    this.#db = db
  }

  isFull(advertiserId: number): boolean {
    return (this.#counts.get(advertiserId)?.waiting ?? 0) >= MAX_WAITING_OF_ADVERTISER
  }

  /** Call this whenever a call waits, or is refused. */
  async count(advertiserId: number, nowMs: number): Promise<void> {
    const known = this.#counts.get(advertiserId)
    if (known !== undefined && nowMs - known.readAtMs < COUNT_FRESH_MS) return void known.waiting++
    const entry = { waiting: known?.waiting ?? 0, readAtMs: nowMs }
    this.#counts.set(advertiserId, entry)
    const { waiting } = await this.#db
      .selectFrom('open_calls')
      .select((is) => is.fn.countAll<number>().as('waiting'))
      .where('advertiser_id', '=', advertiserId)
      .where('next_attempt_at', 'is not', null)
      .where('inbound_id', '>=', uuid7Floor(nowMs - RETRY_FOR_MS - HOUR_MS))
      .executeTakeFirstOrThrow()
    entry.waiting = waiting
  }
}
