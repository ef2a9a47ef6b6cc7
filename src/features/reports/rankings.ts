// The worker's part of recommending: counts what clicks earn, and makes a ranking of it a few times a day.
//
// Clicks are counted once, some minutes after they were made, by their day, offer, country and platform. What they earn
// follows the feed of events: an approved conversion is added to the day of its click, and taken out again when it is
// reversed, so that the click has earned nothing. Whatever the age of the database, a run reads what is new, and a ranking the
// days of the last weeks.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { withRetry } from '../../db/pg-errors.ts'
import { tryLock } from '../../db/try-lock.ts'
import { uuid7Floor, uuid7Time } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/clicks.ts'
import { PLATFORM_OF } from '../clicks/visitor.ts'
import type { Category } from '../offers/choices.ts'
import { type Cell, estimate, type Estimates } from '../offers/ranking/model.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A click is in the database by then. */
const LAG_MS = 3 * MINUTE_MS
const EVENTS = 5_000

/** A list stays the same for a user in between. */
const PERIOD_MS = 4 * HOUR_MS
/** Until a ranking takes effect: every process has taken it up by then. */
const NOTICE_MS = MINUTE_MS
/** What happened a week ago counts half as much, and after four weeks nothing. */
const HALF_LIFE_DAYS = 7
const WINDOW_DAYS = 28
/** A click cannot be approved before its hold period is over: until then it does not count. Longer ones count from here on. */
const MAX_HOLD_DAYS = 60
const KEPT_DAYS = WINDOW_DAYS + MAX_HOLD_DAYS + 1
const KEPT_RANKINGS = 3
const MAX_CELLS = 300_000
const OFFERS_AT_ONCE = 500
const CLICKS_AT_ONCE = 500_000

/** Counts what is new, and makes a ranking if one is due. */
export async function renewRanking(db: Db, now: Date): Promise<void> {
  while (await withRetry(() => db.transaction().execute((trx) => countNext(trx, now))));
  await withRetry(() => db.transaction().execute((trx) => rankIfDue(trx, now)))
}

/**
 * One step of clicks and of events. True while much is left to count: what comes in meanwhile waits for the next run, or a
 * busy network would never get its ranking. False as well where another process does it.
 */
async function countNext(trx: Trx, now: Date): Promise<boolean> {
  if (!(await tryLock(trx, LOCKS.rankings))) return false
  const start = new Date(Math.floor((now.getTime() - WINDOW_DAYS * DAY_MS) / DAY_MS) * DAY_MS)
  await sql`INSERT INTO ranking_progress (since, clicks_through, event_seq)
    SELECT ${start}, ${start}, 0 WHERE NOT EXISTS (SELECT FROM ranking_progress)`.execute(trx)
  const progress = await trx.selectFrom('ranking_progress').selectAll().executeTakeFirstOrThrow()
  const clicks = await countClicks(trx, progress.clicks_through, now)
  const events = await countEvents(trx, progress.since, progress.event_seq)
  await trx.updateTable('ranking_progress').set({ clicks_through: clicks.through, event_seq: events.last }).execute()
  return clicks.isBehind || events.isBehind
}

const platform = sql`coalesce(CASE ${sql.join(
  Object.entries(PLATFORM_OF).map(([os, its]) => sql`WHEN k.os = ${sql.lit(os)} THEN ${sql.lit(its)}`),
  sql` `,
)} END, '')`
const added = sql.raw(['clicks', 'approved', 'earned_micros'].map((name) => `${name} = old.${name} + excluded.${name}`).join(', ')) // prettier-ignore

/** From the next one on, at most a day of them, and less of a busy one. Returns up to which time they are counted. */
async function countClicks(trx: Trx, through: Date, now: Date): Promise<{ through: Date; isBehind: boolean }> {
  const { rows } = await sql<{ until: Date }>`SELECT date_trunc('minute',
    least(now(), ${now}) - ${LAG_MS} * interval '1 millisecond') AS until`.execute(trx)
  const wanted = new Date(rows[0]?.until.getTime() ?? 0)
  if (wanted <= through) return { through, isBehind: false }
  const nextMs = await findClick(trx, through, wanted, 0)
  if (nextMs === null) return { through: wanted, isBehind: false } // as on a new database, for weeks
  const until = await findStep(trx, through, new Date(Math.min(wanted.getTime(), nextMs + DAY_MS)))
  await sql`
    INSERT INTO ranking_days AS old (day, offer_id, country, platform, clicks)
    SELECT (clicked_at AT TIME ZONE 'UTC')::date, offer_id, coalesce(country, ''), ${platform}, count(*)
    FROM clicks k WHERE ${IS_COUNTED} AND click_id >= ${uuid7Floor(through.getTime())}::uuid
      AND click_id < ${uuid7Floor(until.getTime())}::uuid
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (day, offer_id, country, platform) DO UPDATE SET ${added}`.execute(trx)
  return { through: until, isBehind: until < wanted }
}

/** The time of a click in between, after so many others; null where there are no more. */
async function findClick(trx: Trx, from: Date, until: Date, before: number): Promise<number | null> {
  const { rows } = await sql<{ click_id: string }>`
    SELECT click_id FROM clicks WHERE click_id >= ${uuid7Floor(from.getTime())}::uuid
      AND click_id < ${uuid7Floor(until.getTime())}::uuid ORDER BY click_id OFFSET ${before} LIMIT 1`.execute(trx)
  return rows[0] === undefined ? null : uuid7Time(rows[0].click_id)
}

/** Where so many clicks lie in between that they would take too long: the time of the last one that is counted now. */
async function findStep(trx: Trx, from: Date, until: Date): Promise<Date> {
  const lastMs = await findClick(trx, from, until, CLICKS_AT_ONCE)
  return lastMs === null ? until : new Date(Math.max(lastMs, from.getTime() + 1))
}

/** A page of the feed. Each event takes out what the one before it counted for. Returns the position of the last one. */
async function countEvents(trx: Trx, since: Date, after: number): Promise<{ last: number; isBehind: boolean }> {
  const { rows } = await sql<{ last: number | null; count: number }>`
    WITH next AS (
      SELECT seq, conversion_id, sequence FROM event_feed WHERE seq > ${after} ORDER BY seq LIMIT ${EVENTS}
    ), moves AS (
      SELECT (clicked_at AT TIME ZONE 'UTC')::date AS day, offer_id, coalesce(e.country, '') AS country, ${platform} AS platform,
        sum(sign)::bigint AS approved, sum(sign * e.payout_micros)::bigint AS earned_micros
      FROM next CROSS JOIN (VALUES (0, 1), (1, -1)) AS of (back, sign)
      JOIN conversion_events e ON e.conversion_id = next.conversion_id AND e.sequence = next.sequence - back
      JOIN conversions c ON c.conversion_id = e.conversion_id
      CROSS JOIN LATERAL (SELECT coalesce(e.click_at, c.created_at) AS clicked_at) AS at
      LEFT JOIN LATERAL (SELECT os FROM clicks WHERE click_id = e.click_id) AS k ON true
      WHERE NOT e.is_test AND e.status = 'approved' AND c.nth_of_click IS NOT NULL AND e.click_id IS NOT NULL
        AND clicked_at >= ${since}
      GROUP BY 1, 2, 3, 4 HAVING sum(sign) <> 0 OR sum(sign * e.payout_micros) <> 0
    ), written AS (
      INSERT INTO ranking_days AS old (day, offer_id, country, platform, approved, earned_micros) SELECT * FROM moves
      ON CONFLICT (day, offer_id, country, platform) DO UPDATE SET ${added}
    )
    SELECT max(seq) AS last, count(*) AS count FROM next`.execute(trx)
  const [{ last, count } = { last: null, count: 0 }] = rows
  return { last: last ?? after, isBehind: count === EVENTS }
}

async function rankIfDue(trx: Trx, now: Date): Promise<void> {
  if (!(await tryLock(trx, LOCKS.rankings))) return
  const since = new Date(now.getTime() - PERIOD_MS)
  const latest = await trx
    .selectFrom('rankings')
    .select('computed_at')
    .orderBy('ranking_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (latest !== undefined && latest.computed_at > since && latest.computed_at <= now) return
  const { cells, offers } = await readCells(trx, now)
  if (cells.length === 0 && latest === undefined) return // nothing is known yet
  await insertRanking(trx, estimate(cells, offers), now, new Date(now.getTime() + NOTICE_MS))
}

type CellRow = Cell & { allClicks: number; category: Category; payoutMicros: number }

/** What the last weeks say, the busiest first. Some offers at a time: a statement over all of them could take too long. */
export async function readCells(trx: Trx, now: Date, offersAtOnce = OFFERS_AT_ONCE) {
  let cells: CellRow[] = []
  for (let after: number | null = 0; after !== null;) {
    const last: number | null = await findLastOffer(trx, after, offersAtOnce)
    cells.push(...(await readSlice(trx, now, after, last)))
    if (last === null || cells.length > 2 * MAX_CELLS) cells = busiest(cells)
    after = last
  }
  const offers = new Map(cells.map(({ offerId, category, payoutMicros }) => [offerId, { offerId, category, payoutMicros }])) // prettier-ignore
  return { cells, offers: [...offers.values()] }
}

const busiest = (cells: CellRow[]): CellRow[] =>
  cells
    .toSorted(
      (a, b) =>
        b.allClicks - a.allClicks ||
        a.offerId - b.offerId ||
        (a.country < b.country ? -1 : Number(a.country > b.country)) ||
        (a.platform < b.platform ? -1 : 1),
    )
    .slice(0, MAX_CELLS)

/** Null: there are no more than so many behind it. */
async function findLastOffer(trx: Trx, after: number, count: number): Promise<number | null> {
  const { rows } = await sql<{ offer_id: number }>`
    SELECT offer_id FROM offers WHERE offer_id > ${after} ORDER BY offer_id OFFSET ${count - 1} LIMIT 1`.execute(trx)
  return rows[0]?.offer_id ?? null
}

async function readSlice(trx: Trx, now: Date, after: number, last: number | null): Promise<CellRow[]> {
  const today = sql`${now.toISOString().slice(0, 10)}::date`
  const { rows } = await sql<CellRow>`
    SELECT d.offer_id AS "offerId", country, platform, min(category) AS category, min(payout_micros) AS "payoutMicros",
      coalesce(sum(clicks * power(0.5, matured / ${HALF_LIFE_DAYS}::float8)) FILTER (WHERE is_mature), 0) AS clicks,
      coalesce(sum(approved * power(0.5, matured / ${HALF_LIFE_DAYS}::float8)) FILTER (WHERE is_mature), 0) AS approved,
      coalesce(sum(earned_micros * power(0.5, matured / ${HALF_LIFE_DAYS}::float8)) FILTER (WHERE is_mature), 0) AS "earnedMicros",
      sum(clicks * power(0.5, (${today} - d.day) / ${HALF_LIFE_DAYS}::float8)) AS "allClicks"
    FROM generate_series(0, ${KEPT_DAYS - 1}::integer) AS ago
    CROSS JOIN LATERAL ( -- by the index, day by day
      SELECT * FROM ranking_days r WHERE r.day = ${today} - ago
        AND r.offer_id > ${after} AND r.offer_id <= ${last ?? Number.MAX_SAFE_INTEGER}::bigint OFFSET 0
    ) AS d JOIN offers o USING (offer_id)
    CROSS JOIN LATERAL (SELECT ${today} - d.day - least(ceil(hold_s / 86400.0), ${MAX_HOLD_DAYS})::integer AS matured) AS a
    CROSS JOIN LATERAL (SELECT matured >= 0 AND matured < ${WINDOW_DAYS} AS is_mature) AS b
    WHERE matured < ${WINDOW_DAYS}
    GROUP BY 1, 2, 3 ORDER BY "allClicks" DESC, 1, 2, 3 LIMIT ${MAX_CELLS}`.execute(trx)
  return rows
}

/** Every process takes it up before it takes effect. */
export async function insertRanking(
  trx: Trx,
  { means, offers, segments }: Estimates,
  computedAt: Date,
  effectiveAt: Date,
): Promise<void> {
  const { ranking_id } = await trx
    .insertInto('rankings')
    .values({
      computed_at: computedAt,
      effective_at: effectiveAt,
      means: JSON.stringify(means),
      offer_ids: offers.map(({ offerId }) => offerId),
      clicks: offers.map(({ clicks }) => clicks),
      seen: offers.map(({ seen }) => seen),
      expected: offers.map(({ expected }) => expected),
    })
    .returning('ranking_id')
    .executeTakeFirstOrThrow()
  for (const { country, platform: on, cells } of segments)
    await trx
      .insertInto('ranking_segments')
      .values({
        ranking_id,
        country,
        platform: on,
        offer_ids: cells.map(({ offerId }) => offerId),
        clicks: cells.map(({ clicks }) => clicks),
        factors: cells.map(({ factor }) => factor),
      })
      .execute()
}

export async function forgetOldRankings(db: Db, now: Date): Promise<void> {
  const first = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10)
  await sql`DELETE FROM ranking_days WHERE day < ${first}::date`.execute(db)
  await sql`DELETE FROM rankings WHERE ranking_id <= (
    SELECT ranking_id FROM rankings ORDER BY ranking_id DESC OFFSET ${KEPT_RANKINGS} LIMIT 1)`.execute(db)
}
