// Counts what an offer has used so far, after its caps were set. That may be millions of conversions, so nothing waits for
// it: the caps are committed first, together with a flag that the offer is to be counted.
//
//   1. From the commit on, every transaction adds what it uses. Those that had not seen the caps hold the lock on caps,
//      shared: we wait until these have ended.
//   2. In one snapshot: how many conversions there are, and what the usage says. The difference was never added.
//   3. The difference is added to the usage, unless another process was faster; changes since the snapshot were added by
//      their own transactions.
//
// Until then the offer stays open for longer than its caps allow, by the time that counting takes.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { dayNumber, lockUsage, refreshFull, startOf, TOTAL } from './caps.ts'

const LOOK_MS = 5
const PATIENCE_MS = 5_000
const OFFERS_AT_ONCE = 500
const SLICE_MS = 90 * 86_400_000 // counted in one statement, so that none takes longer than a statement may

type Asked = { offer_id: number; asked_xid: string }

/** To be called in the transaction that changes the caps. `countCaps` must follow after its commit. */
export async function askForCount(trx: Trx, offerIds: number[]): Promise<void> {
  if (offerIds.length === 0) return
  await sql`INSERT INTO cap_counts (offer_id) SELECT id FROM unnest(${offerIds}::bigint[]) AS id ORDER BY id
    ON CONFLICT (offer_id) DO UPDATE SET asked_xid = excluded.asked_xid`.execute(trx)
}

/** Counts what was asked for, unless others keep it waiting for long: then it is left for the next time. */
export async function countCaps(db: Db, now: Date): Promise<void> {
  for (;;) {
    const { rows: asked } = await sql<Asked>`SELECT offer_id, asked_xid::text FROM cap_counts
      ORDER BY offer_id LIMIT ${OFFERS_AT_ONCE}`.execute(db)
    if (asked.length === 0) return
    const ids = asked.map(({ offer_id }) => offer_id)
    const day = dayNumber(now)
    await withRetry(() => db.transaction().execute((trx) => openUsage(trx, ids, day, now)))
    if (!(await waitForCounters(db))) return
    const missing = await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((trx) => findMissing(trx, ids, day))
    await withRetry(() => db.transaction().execute((trx) => addMissing(trx, asked, missing, now)))
    if (asked.length < OFFERS_AT_ONCE) return
  }
}

/**
 * From now on there is a row for reversals, too; for tomorrow as well, because midnight may pass meanwhile. Caps that
 * were raised or removed open the offer at once.
 */
async function openUsage(trx: Trx, offerIds: number[], day: number, now: Date): Promise<void> {
  await sql`INSERT INTO offer_usage (offer_id, day) SELECT offer_id, day
    FROM offers CROSS JOIN unnest(ARRAY[${TOTAL}, ${day}, ${day + 1}]::integer[]) AS day
    WHERE is_capped AND offer_id = ANY (${offerIds}::bigint[]) ORDER BY offer_id, day ON CONFLICT DO NOTHING`.execute(
    trx,
  )
  await lockUsage(trx, offerIds, day)
  await refreshFull(trx, offerIds, now)
}

/** True once every transaction that may not have seen the caps has ended. Later ones do not wait for us. */
async function waitForCounters(db: Db): Promise<boolean> {
  const listCounters = async () => {
    const { rows } = await sql<{ counter: string }>`SELECT virtualtransaction AS counter FROM pg_locks
      WHERE locktype = 'advisory' AND classid = 0 AND objid = ${LOCKS.caps} AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db)
    return new Set(rows.map(({ counter }) => counter))
  }
  const untilMs = performance.now() + PATIENCE_MS
  let before = await listCounters()
  while (before.size > 0 && performance.now() < untilMs) {
    await sleep(LOOK_MS)
    before = before.intersection(await listCounters())
  }
  return before.size === 0
}

type Counted = { offer_id: number; day: number; conversions: number; payout_micros: number; revenue_micros: number }

async function findMissing(trx: Trx, offerIds: number[], day: number): Promise<Counted[]> {
  const isCounted = sql`NOT c.is_test AND c.status IN ('pending', 'approved')`
  const { rows: used } = await sql<Counted>`
    SELECT u.offer_id, u.day, -u.conversions AS conversions, -u.payout_micros AS payout_micros, -u.revenue_micros AS revenue_micros FROM offer_usage u JOIN offers USING (offer_id)
    WHERE is_capped AND u.offer_id = ANY (${offerIds}::bigint[]) AND u.day IN (${TOTAL}, ${day}, ${day + 1})`.execute(
    trx,
  )
  const { rows: ends } = await sql<{ first: Date | null; last: Date | null }>`
    SELECT min(first.created_at) AS first, max(last.created_at) AS last FROM offers o
    CROSS JOIN LATERAL (SELECT created_at FROM conversions c WHERE c.offer_id = o.offer_id AND ${isCounted} ORDER BY created_at LIMIT 1) first
    CROSS JOIN LATERAL (SELECT created_at FROM conversions c WHERE c.offer_id = o.offer_id AND ${isCounted} ORDER BY created_at DESC LIMIT 1) last
    WHERE o.is_capped AND o.offer_id = ANY (${offerIds}::bigint[])`.execute(trx)
  const { first = null, last = null } = ends[0] ?? {}
  const counted: Counted[] = []
  if (first === null || last === null) return used
  for (let fromMs = first.getTime(); fromMs <= last.getTime(); fromMs += SLICE_MS) {
    const { rows } = await sql<Counted>`
      SELECT c.offer_id, span.day, count(*) AS conversions, sum(c.payout_micros)::bigint AS payout_micros, sum(c.revenue_micros)::bigint AS revenue_micros
      FROM conversions c JOIN offers o ON o.offer_id = c.offer_id AND o.is_capped
      JOIN (VALUES (${TOTAL}::integer, '-infinity'::timestamptz, 'infinity'::timestamptz), (${day}, ${startOf(day)}, ${startOf(day + 1)}),
        (${day + 1}, ${startOf(day + 1)}, ${startOf(day + 2)})) AS span (day, starts_at, ends_at)
        ON c.created_at >= span.starts_at AND c.created_at < span.ends_at
      WHERE c.offer_id = ANY (${offerIds}::bigint[]) AND ${isCounted}
        AND c.created_at >= ${new Date(fromMs)} AND c.created_at < ${new Date(fromMs + SLICE_MS)}
      GROUP BY 1, 2`.execute(trx)
    counted.push(...rows)
  }
  return [...used, ...counted]
}

async function addMissing(trx: Trx, asked: Asked[], missing: Counted[], now: Date): Promise<void> {
  const ids = asked.map(({ offer_id }) => offer_id)
  await lockUsage(trx, ids, dayNumber(now))
  // Those that another process counted meanwhile, or whose caps changed again, are left to it.
  const { rows: mine } = await sql<{ offer_id: number }>`DELETE FROM cap_counts c
    USING unnest(${ids}::bigint[], ${asked.map(({ asked_xid }) => asked_xid)}::text[]) AS asked (offer_id, xid)
    WHERE c.offer_id = asked.offer_id AND c.asked_xid = asked.xid::xid8 RETURNING c.offer_id`.execute(trx)
  const counted = new Set(mine.map(({ offer_id }) => offer_id))
  const rows = missing.filter(({ offer_id }) => counted.has(offer_id))
  await sql`
    UPDATE offer_usage u SET conversions = u.conversions + m.conversions, payout_micros = u.payout_micros + m.payout_micros,
      revenue_micros = u.revenue_micros + m.revenue_micros
    FROM (SELECT offer_id, day, sum(conversions)::bigint AS conversions, sum(payout_micros)::bigint AS payout_micros,
        sum(revenue_micros)::bigint AS revenue_micros FROM jsonb_populate_recordset(NULL::offer_usage, ${JSON.stringify(rows)}) GROUP BY 1, 2) m
    WHERE u.offer_id = m.offer_id AND u.day = m.day`.execute(trx)
  await refreshFull(trx, [...counted], now)
}
