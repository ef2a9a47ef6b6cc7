// Sums up past figures for statistics: by quarters of an hour, and by days of UTC with offers and countries.
//
// Every five minutes are rolled up three minutes after their end, so that only a few minutes are counted from the rows of
// the whole network. Whatever changes later, or was not there yet, is written by the transaction that changes it as a
// difference (migration 0071), which is added to the rollups from time to time. Each step is one snapshot: a change is
// either in what is summed up, and then its difference is deleted, or in neither.
//
// The database's clock tells what is past, because it also tells its triggers which changes are late. If that clock was
// ahead for a while, times were rolled up that were yet to come; they are rolled up again.
import { sql } from 'kysely'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/retention.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const STEP_MS = 5 * MINUTE_MS
const LAG_MS = 3 * MINUTE_MS
const START_MS = Date.UTC(2000, 0, 1)
const LOCK = 0x0ff3_0009

export const FIGURES = [
  'clicks',
  'pending',
  'approved',
  'rejected',
  'reversed',
  'payout_micros',
  'local_steps',
] as const

/** What conversions count for, as the columns FIGURES without clicks. */
export const CONVERSION_FIGURES = sql`count(*) FILTER (WHERE status = 'pending') AS pending,
  count(*) FILTER (WHERE status = 'approved') AS approved, count(*) FILTER (WHERE status = 'rejected') AS rejected,
  count(*) FILTER (WHERE status = 'reversed') AS reversed,
  coalesce(sum(payout_micros) FILTER (WHERE status = 'approved'), 0)::bigint AS payout_micros,
  coalesce(sum(div(payout_micros::numeric * rate_micros, 100000000)) FILTER (WHERE status = 'approved'), 0) AS local_steps`

/** Rolls up what has not been yet, and returns up to which time everything is. */
export async function rollUpStats(db: Db, now: Date): Promise<Date> {
  const nowMs = Math.min(now.getTime(), await forgetFuture(db))
  const untilMs = Math.floor((nowMs - LAG_MS) / STEP_MS) * STEP_MS
  while (
    await withRetry(() =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((trx) => rollUpNext(trx, untilMs)),
    )
  );
  await withRetry(() => db.transaction().execute(addDeltas))
  return readThrough(db)
}

export async function readThrough(db: Db): Promise<Date> {
  return (await db.selectFrom('stats_rollup').select('through').executeTakeFirstOrThrow()).through
}

/** Undoes what was rolled up beyond the present, from the beginning of a day on. Returns the present. */
async function forgetFuture(db: Db): Promise<number> {
  const { rows } = await sql<{ now: Date; isAhead: boolean }>`
    SELECT now() AS now, through > now() AS "isAhead" FROM stats_rollup`.execute(db)
  const [{ now, isAhead } = { now: new Date(), isAhead: false }] = rows
  if (!isAhead) return now.getTime()
  const day = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
  await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx)
    await sql`DELETE FROM stats_quarters WHERE quarter >= ${day}`.execute(trx)
    await sql`DELETE FROM stats_days WHERE day >= ${day.toISOString().slice(0, 10)}::date`.execute(trx)
    await sql`DELETE FROM stats_deltas WHERE at >= ${day}`.execute(trx)
    await sql`UPDATE stats_rollup SET through = ${day} WHERE through > ${day}`.execute(trx)
  })
  return now.getTime()
}

/** One process at a time; a second one finds nothing to add. */
async function takeTurn(trx: Trx): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS locked`.execute(trx)
  return rows[0]?.locked ?? false
}

/** The next step; where many wait, the rest of an hour or a whole day. False when there is nothing left to do. */
async function rollUpNext(trx: Trx, untilMs: number): Promise<boolean> {
  if (!(await takeTurn(trx))) return false
  const through = (await readThrough(trx)).getTime()
  const fromMs = through > START_MS ? through : await findFirst(trx, untilMs)
  if (fromMs >= untilMs) return false
  const isDay = fromMs % DAY_MS === 0 && fromMs + DAY_MS <= untilMs
  const toMs = isDay ? fromMs + DAY_MS : Math.min(untilMs, (Math.floor(fromMs / HOUR_MS) + 1) * HOUR_MS)
  const isWithin = (column: string) =>
    sql`${sql.ref(column)} >= ${new Date(fromMs)} AND ${sql.ref(column)} < ${new Date(toMs)}`
  const ids = (name: string) => {
    const id = sql.ref(name)
    return sql`${id} >= ${uuid7Floor(fromMs)}::uuid AND ${id} < ${uuid7Floor(toMs)}::uuid`
  }
  await sql`DELETE FROM stats_deltas WHERE ${isWithin('at')}`.execute(trx)
  await addRows(
    trx,
    sql`
      SELECT app_id, ${quarterOf('clicked_at')} AS quarter, offer_id, country, count(*) AS clicks,
        0 AS pending, 0 AS approved, 0 AS rejected, 0 AS reversed, 0 AS payout_micros, 0 AS local_steps
      FROM clicks WHERE ${IS_COUNTED} AND ${ids('click_id')} GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT app_id, quarter, offer_id, country, clicks, 0, 0, 0, 0, 0, 0 FROM click_counts WHERE ${isWithin('quarter')}
      UNION ALL
      SELECT app_id, ${quarterOf('created_at')}, offer_id, country, 0, ${CONVERSION_FIGURES}
      FROM conversions WHERE NOT is_test AND ${ids('conversion_id')} GROUP BY 1, 2, 3, 4`,
  )
  await sql`UPDATE stats_rollup SET through = ${new Date(toMs)}`.execute(trx)
  return true
}

const quarterOf = (column: string) => sql`date_bin('15 minutes', ${sql.ref(column)}, '2000-01-01Z')`

/** The day with which figures begin. */
async function findFirst(trx: Trx, untilMs: number): Promise<number> {
  const { rows } = await sql<{ first: Date | null }>`SELECT least(
    (SELECT created_at FROM conversions ORDER BY conversion_id LIMIT 1),
    (SELECT clicked_at FROM clicks ORDER BY click_id LIMIT 1),
    (SELECT min(quarter) FROM click_counts)) AS first`.execute(trx)
  const firstMs = rows[0]?.first?.getTime() ?? untilMs
  return Math.max(Math.floor(Math.min(firstMs, untilMs) / DAY_MS) * DAY_MS, START_MS)
}

async function addDeltas(trx: Trx): Promise<void> {
  if (!(await takeTurn(trx))) return
  const old = sql`DELETE FROM stats_deltas WHERE at < (SELECT through FROM stats_rollup)
    RETURNING app_id, ${quarterOf('at')} AS quarter, offer_id, country, ${sql.raw(FIGURES.join(', '))}`
  await addRows(trx, old)
}

const sums = sql.raw(FIGURES.map((name) => `sum(${name}) AS ${name}`).join(', '))
const isAnything = sql.raw(FIGURES.map((name) => `sum(${name}) <> 0`).join(' OR '))
const added = sql.raw(FIGURES.map((name) => `${name} = old.${name} + excluded.${name}`).join(', '))
const names = sql.raw(FIGURES.join(', '))

/** Adds rows to both rollups in one statement. */
async function addRows(trx: Trx, rows: ReturnType<typeof sql>): Promise<void> {
  await sql`
    WITH rows AS (${rows}), quarters AS (
      INSERT INTO stats_quarters AS old (app_id, quarter, ${names})
      SELECT app_id, quarter, ${sums} FROM rows GROUP BY 1, 2 HAVING ${isAnything}
      ON CONFLICT (app_id, quarter) DO UPDATE SET ${added}
    )
    INSERT INTO stats_days AS old (app_id, dims, day, offer_id, country, ${names})
    SELECT app_id, 3 - grouping(country, offer_id), day, CASE grouping(offer_id) WHEN 1 THEN 0 ELSE offer_id END,
      CASE grouping(country) WHEN 1 THEN '*' ELSE country END, ${sums}
    FROM (SELECT app_id, (quarter AT TIME ZONE 'UTC')::date AS day, offer_id, coalesce(country, '') AS country, ${names} FROM rows) AS r
    GROUP BY app_id, day, GROUPING SETS ((), (offer_id), (country), (offer_id, country)) HAVING ${isAnything}
    ON CONFLICT (app_id, dims, day, offer_id, country) DO UPDATE SET ${added}`.execute(trx)
}
