// What a user has started and earned: the offers in progress, goal by goal, and every conversion with its status.
import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../db/open.ts'
import { cutPage } from '../../http/paging.ts'
import { takeShare, toLocal, WHOLE_PPM } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { AppUser } from '../offers/completions.ts'
import { latestOf } from '../users/users.ts'
import type { EarnedItem, StartedOffer } from './schema.ts'
import type { Language } from '../../lib/languages.ts'

const DAY_MS = 86_400_000
/** An offer that was started longer ago is not shown as in progress. */
const IN_PROGRESS_DAYS = 30
const MAX_CLICKS = 200
const MAX_STARTED = 30

/** Of an offer or goal, translated where it is. */
export const nameIn = (language: Language, row: 'o' | 'g' | 'offers') =>
  sql<string>`coalesce(nullif(${sql.ref(`${row}.translations`)}, '')::jsonb -> ${language} ->> 'name', ${sql.ref(`${row}.name`)})`

type Earned = Static<typeof EarnedItem>
type Started = Static<typeof StartedOffer>

/** Newest first. */
export async function listEarned(db: Db, user: AppUser, language: Language, limit: number, before: string | undefined) {
  const { rows } = await sql<EarnedRow>`
    SELECT c.conversion_id, c.offer_id, ${nameIn(language, 'o')} AS offer_name, o.image_url, c.goal_id, ${nameIn(language, 'g')} AS goal_name, c.payout_micros,
      c.rate_micros, c.rounding, c.currency, c.status, c.status_reason, c.created_at, c.hold_until,
      coalesce(c.reversed_at, c.rejected_at, c.approved_at, c.created_at) AS changed_at
    FROM conversions c JOIN offers o USING (offer_id) JOIN goals g USING (goal_id)
    WHERE c.app_id = ${user.appId} AND c.user_id = ${user.userId} AND c.is_test = ${user.isTest}
      ${before === undefined ? sql`` : sql`AND c.conversion_id < ${before}::uuid`}
    ORDER BY c.app_id DESC, c.user_id DESC, c.conversion_id DESC LIMIT ${limit + 1}`.execute(db)
  const { page, nextCursor } = cutPage(rows, limit, ({ conversion_id }) => conversion_id)
  return { items: page.map(presentEarned), next_cursor: nextCursor }
}

type EarnedRow = Pick<
  Earned,
  'conversion_id' | 'offer_id' | 'offer_name' | 'goal_id' | 'goal_name' | 'currency' | 'status' | 'status_reason'
> & {
  image_url: string
  payout_micros: number
  rate_micros: number
  rounding: string | null
  created_at: Date
  changed_at: Date
  hold_until: Date | null
}

function presentEarned(row: EarnedRow): Earned {
  const { image_url, payout_micros, rate_micros, rounding, created_at, changed_at, hold_until, ...shown } = row
  return {
    ...shown,
    image_url: image_url || null,
    reward: toLocal(payout_micros, rate_micros, rounding),
    created_at: rfc3339(created_at),
    changed_at: rfc3339(changed_at),
    hold_until: hold_until === null ? null : rfc3339(hold_until),
  }
}

type StartedRow = {
  offer_id: number
  offer_name: string
  image_url: string
  started_at: Date
  currency: string
  rate_micros: number
  rounding: string | null
  share_ppm: number | null
  goals: {
    goal_id: number
    name: string
    is_optional: boolean
    payout_micros: number
    status: Earned['status'] | null
  }[]
}

/**
 * By the terms of the first click, which is what was promised. Without offers whose goals are all reached. A click after
 * a goal was rejected, reversed, or completed where it repeats, is the first one of another attempt.
 */
export async function listStarted(db: Db, user: AppUser, language: Language, nowMs: number): Promise<Started[]> {
  const since = uuid7Floor(nowMs - IN_PROGRESS_DAYS * DAY_MS)
  const { rows } = await sql<StartedRow>`
    WITH latest AS MATERIALIZED (
      SELECT * FROM clicks
      WHERE app_id = ${user.appId} AND user_id = ${user.userId} AND is_test = ${user.isTest} AND click_id >= ${since}::uuid
      ORDER BY app_id DESC, user_id DESC, click_id DESC LIMIT ${MAX_CLICKS}
    ), reached AS MATERIALIZED (
      SELECT offer_id, goal_id, conversion_id, status, CASE WHEN bars_redo THEN NULL
        WHEN status IN ('rejected', 'reversed') THEN coalesce(reversed_at, rejected_at) WHEN is_repeatable THEN created_at END AS over_at
      FROM ${latestOf('conversions', user)} AS c
    ), attempts AS (
      SELECT l.offer_id, max(r.over_at) AS after FROM (SELECT offer_id, max(clicked_at) AS last_at FROM latest GROUP BY offer_id) l
      LEFT JOIN reached r ON r.offer_id = l.offer_id AND r.over_at <= l.last_at GROUP BY l.offer_id
    ), started AS (
      SELECT DISTINCT ON (offer_id) c.* FROM latest c JOIN attempts a USING (offer_id)
      WHERE a.after IS NULL OR c.clicked_at >= a.after ORDER BY offer_id, click_id
    ), last_reached AS MATERIALIZED (
      SELECT DISTINCT ON (goal_id) goal_id, status, over_at FROM reached ORDER BY goal_id, conversion_id DESC
    )
    SELECT s.offer_id, ${nameIn(language, 'o')} AS offer_name, o.image_url, s.clicked_at AS started_at, s.currency, s.rate_micros, s.rounding, s.share_ppm, goals.goals
    FROM started s JOIN offers o USING (offer_id) JOIN terms t ON t.terms_id = s.terms_id
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_object('goal_id', g.goal_id, 'name', ${nameIn(language, 'g')}, 'is_optional', g.is_optional,
        'payout_micros', (t.goals -> g.goal_id::text ->> 'payout_micros')::bigint, 'status', r.status) ORDER BY g.place, g.goal_id) AS goals
      FROM goals g
      LEFT JOIN last_reached r ON r.goal_id = g.goal_id AND (r.over_at > s.clicked_at) IS NOT FALSE
      WHERE g.offer_id = s.offer_id AND t.goals ? g.goal_id::text
    ) goals
    WHERE goals.goals IS NOT NULL AND s.clicked_at + t.attribution_s * interval '1 second' > to_timestamp(${nowMs / 1000})
    ORDER BY s.click_id DESC`.execute(db)
  return rows
    .filter(({ goals }) => goals.some(({ status }) => status === null))
    .slice(0, MAX_STARTED)
    .map(presentStarted)
}

function presentStarted({
  image_url,
  started_at,
  rate_micros,
  rounding,
  share_ppm,
  goals,
  ...shown
}: StartedRow): Started {
  return {
    ...shown,
    image_url: image_url || null,
    started_at: rfc3339(started_at),
    goals: goals.map(({ payout_micros, ...goal }) => ({
      ...goal,
      reward: toLocal(takeShare(payout_micros, share_ppm ?? WHOLE_PPM), rate_micros, rounding),
    })),
  }
}
