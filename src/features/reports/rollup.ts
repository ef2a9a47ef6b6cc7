// Sums up past figures for statistics, of every app and of all together: by quarters of an hour, and by days and months of
// UTC with offers, countries and devices.
//
// Every five minutes are rolled up three minutes after their end, so that only a few minutes are counted from the rows of
// the whole network. Whatever changes later, or was not there yet, is written by the transaction that changes it as a
// difference (migration 0071), which is added to the rollups from time to time. Each step is one snapshot: a change is
// either in what is summed up, and then its difference is deleted, or in neither. A month has the days that are over: each is
// added when `through` reaches its end.
//
// The database's clock decides what is past, because its triggers use it to decide which changes are late. If that clock was
// ahead for a while, times were rolled up that were yet to come; they are rolled up again.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7Floor, uuid7Time } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/clicks.ts'
import { CONVERSION_FIGURES, FIGURE_NAMES, FIGURE_SUMS, FIGURES, NO_CONVERSIONS } from './figures.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS
const STEP_MS = 5 * MINUTE_MS
const LAG_MS = 3 * MINUTE_MS
const START_MS = Date.UTC(2000, 0, 1)
/** What a statement sums up in a second or two; a query may take 15. */
const MOST_CLICKS = 100_000
export const BY_OFFER = 1
export const BY_COUNTRY = 2
export const BY_DEVICE = 4

/** Which rollups by day and month there are for each app: 1 is by offer, 2 by country, 4 by device. */
export const APP_DIMS = [0, BY_OFFER, BY_COUNTRY, BY_OFFER + BY_COUNTRY, BY_DEVICE] as const
/** The same for all apps together, as app 0. */
export const NETWORK_DIMS = [...APP_DIMS, BY_OFFER + BY_DEVICE, BY_COUNTRY + BY_DEVICE] as const

/** Rolls up what has not been yet, and returns up to which time everything is. */
export async function rollUpStats(db: Db, now: Date, mostClicks = MOST_CLICKS): Promise<Date> {
  const nowMs = Math.min(now.getTime(), await forgetFuture(db))
  const untilMs = Math.floor((nowMs - LAG_MS) / STEP_MS) * STEP_MS
  while (
    await withRetry(() =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((trx) => rollUpNext(trx, untilMs, mostClicks)),
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
    await sql`SELECT pg_advisory_xact_lock(${LOCKS.statsRollup})`.execute(trx)
    await sql`DELETE FROM stats_quarters WHERE quarter >= ${day}`.execute(trx)
    await sql`DELETE FROM stats_days WHERE day >= ${utcDate(day)}::date`.execute(trx)
    await sql`DELETE FROM stats_months WHERE month >= ${firstOfMonth(day)}`.execute(trx)
    await addDays(trx, sql`day >= ${firstOfMonth(day)} AND day < ${utcDate(day)}::date`)
    await sql`DELETE FROM stats_deltas WHERE at >= ${day}`.execute(trx)
    await sql`UPDATE stats_rollup SET through = ${day} WHERE through > ${day}`.execute(trx)
  })
  return now.getTime()
}

/**
 * The next step; where many wait, the rest of the day, unless there are too many clicks. False when there is nothing left
 * to do.
 */
async function rollUpNext(trx: Trx, untilMs: number, mostClicks: number): Promise<boolean> {
  // One process at a time; a second one finds nothing to add.
  if (!(await tryLock(trx, LOCKS.statsRollup))) return false
  const through = (await readThrough(trx)).getTime()
  const fromMs = through > START_MS ? through : await findFirst(trx, untilMs)
  if (fromMs >= untilMs) return false
  const wishedMs = Math.min(untilMs, (Math.floor(fromMs / DAY_MS) + 1) * DAY_MS)
  const toMs = await stopBefore(trx, fromMs, wishedMs, mostClicks)
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
      SELECT app_id, ${quarterOf('clicked_at')} AS quarter, offer_id, country, device, count(*) AS clicks, ${NO_CONVERSIONS}
      FROM clicks WHERE ${IS_COUNTED} AND ${ids('click_id')} GROUP BY 1, 2, 3, 4, 5
      UNION ALL
      SELECT app_id, quarter, offer_id, country, device, clicks, ${NO_CONVERSIONS} FROM click_counts WHERE ${isWithin('quarter')}
      UNION ALL
      SELECT app_id, ${quarterOf('created_at')}, offer_id, country, device, 0, ${CONVERSION_FIGURES}
      FROM conversions WHERE NOT is_test AND ${ids('conversion_id')} GROUP BY 1, 2, 3, 4, 5`,
  )
  if (toMs % DAY_MS === 0) await addDays(trx, sql`day = ${utcDate(new Date(toMs - 1))}::date`)
  await sql`UPDATE stats_rollup SET through = ${new Date(toMs)}`.execute(trx)
  return true
}

/** The second in which there are more than so many clicks, or the end. */
async function stopBefore(trx: Trx, fromMs: number, toMs: number, mostClicks: number): Promise<number> {
  const { rows } = await sql<{ click_id: string }>`
    SELECT click_id FROM clicks WHERE click_id >= ${uuid7Floor(fromMs)}::uuid AND click_id < ${uuid7Floor(toMs)}::uuid
    ORDER BY click_id OFFSET ${mostClicks}::integer LIMIT 1`.execute(trx)
  const [crowded] = rows
  if (crowded === undefined) return toMs
  return Math.max(Math.floor(uuid7Time(crowded.click_id) / SECOND_MS) * SECOND_MS, fromMs + SECOND_MS)
}

const utcDate = (time: Date) => time.toISOString().slice(0, 10)
const firstOfMonth = (time: Date) => sql`${`${utcDate(time).slice(0, 7)}-01`}::date`
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
  if (!(await tryLock(trx, LOCKS.statsRollup))) return
  const old = sql`DELETE FROM stats_deltas WHERE at < (SELECT through FROM stats_rollup)
    RETURNING app_id, ${quarterOf('at')} AS quarter, offer_id, country, device, ${FIGURE_NAMES}`
  await addRows(trx, old, await readThrough(trx))
}

const isAnything = sql.raw(FIGURES.map((name) => `sum(${name}) <> 0`).join(' OR '))
const added = sql.raw(FIGURES.map((name) => `${name} = old.${name} + excluded.${name}`).join(', '))
const asMonth = sql`date_trunc('month', day::timestamp)::date`

const COLUMNS = { offer_id: BY_OFFER, country: BY_COUNTRY, device: BY_DEVICE }
const columnsOf = (dims: number) => Object.entries(COLUMNS).flatMap(([column, bit]) => ((dims & bit) === 0 ? [] : [column])) // prettier-ignore
const SETS = sql.raw(
  [...APP_DIMS.map((dims) => ['app_id', ...columnsOf(dims)]), ...NETWORK_DIMS.map(columnsOf)]
    .map((columns) => `(${columns.join(', ')})`)
    .join(', '),
)

/** Adds rows to all rollups in one statement: to months only those of days that ended by this time. */
async function addRows(trx: Trx, rows: ReturnType<typeof sql>, through?: Date): Promise<void> {
  const monthsBefore = through === undefined ? '-infinity' : utcDate(through)
  await sql`
    WITH rows AS (${rows}), quarters AS (
      INSERT INTO stats_quarters AS old (app_id, quarter, ${FIGURE_NAMES})
      SELECT coalesce(app_id, 0), quarter, ${FIGURE_SUMS} FROM rows
      GROUP BY quarter, GROUPING SETS ((app_id), ()) HAVING ${isAnything}
      ON CONFLICT (app_id, quarter) DO UPDATE SET ${added}
    ), days AS (
      SELECT coalesce(app_id, 0) AS app_id, 7 - grouping(device, country, offer_id) AS dims, day, coalesce(offer_id, 0) AS offer_id,
        coalesce(country, '*') AS country, coalesce(device, '*') AS device, ${FIGURE_SUMS}
      FROM (SELECT app_id, (quarter AT TIME ZONE 'UTC')::date AS day, offer_id, coalesce(country, '') AS country,
        coalesce(device, '') AS device, ${FIGURE_NAMES} FROM rows) AS known
      GROUP BY day, GROUPING SETS (${SETS}) HAVING ${isAnything}
    ), months AS (
      INSERT INTO stats_months AS old (app_id, dims, month, offer_id, country, device, ${FIGURE_NAMES})
      SELECT app_id, dims, ${asMonth}, offer_id, country, device, ${FIGURE_SUMS} FROM days
      WHERE day < ${monthsBefore}::date GROUP BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (app_id, dims, month, offer_id, country, device) DO UPDATE SET ${added}
    )
    INSERT INTO stats_days AS old (app_id, dims, day, offer_id, country, device, ${FIGURE_NAMES})
    SELECT app_id, dims, day, offer_id, country, device, ${FIGURE_NAMES} FROM days
    ON CONFLICT (app_id, dims, day, offer_id, country, device) DO UPDATE SET ${added}`.execute(trx)
}

/** Adds whole days to their month. App by app, as the days are indexed. */
async function addDays(trx: Trx, isAsked: ReturnType<typeof sql>): Promise<void> {
  await sql`
    INSERT INTO stats_months AS old (app_id, dims, month, offer_id, country, device, ${FIGURE_NAMES})
    SELECT days.app_id, dims, ${asMonth}, offer_id, country, device, ${FIGURE_SUMS}
    FROM (SELECT 0 AS app_id UNION ALL SELECT app_id FROM apps) AS every CROSS JOIN LATERAL (
      SELECT * FROM stats_days WHERE app_id = every.app_id AND dims = ANY (${[...NETWORK_DIMS]}::smallint[]) AND ${isAsked}) AS days
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (app_id, dims, month, offer_id, country, device) DO UPDATE SET ${added}`.execute(trx)
}
