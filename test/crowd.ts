// Many rows at once, created by SQL: for tests and benchmarks of costs in a large network. What triggers would do for
// each conversion is done for all: its event, its position in the feed, its entries in the ledger.
import type pg from 'pg'

export type Crowd = {
  appId: number
  publisherId: number
  advertiserId: number
  offerIds: readonly number[]
  /** Their conversions and clicks are spread evenly over this time. */
  fromMs: number
  toMs: number
  /** Distinguishes crowds in one database. */
  name: string
  /** Each user converts about `count / users` times. */
  users: number
}

const DAY_MS = 86_400_000

/** `n` counts from 0; ids are UUIDv7 of their time, the same for the same name and number. */
const idAt = (prefix: string) => `(lpad(to_hex(ms), 12, '0') || '7' || substr(md5('${prefix}' || n), 1, 3) || '8'
  || substr(md5('${prefix}' || n), 4, 15))::uuid`

/** One in ten rejected, one in twenty reversed, the newest tenth pending, the others approved. */
export async function fillConversions(pool: pg.Pool, crowd: Crowd, count: number, more: { repeatable?: boolean } = {}) {
  await run(
    pool,
    'ALTER TABLE conversions DISABLE TRIGGER USER',
    `INSERT INTO conversions (conversion_id, app_id, publisher_id, advertiser_id, offer_id, goal_id, user_id, is_test, is_repeatable,
       status, status_reason, source, advertiser_transaction_id, payout_micros, revenue_micros, currency, rate_micros, aff_sub, aff_sub2,
       click_id, click_at, ip, country, device, confirmed_at, created_at, approved_at, rejected_at, reversed_at, sequence, event_id, actor)
     SELECT ${idAt(`${crowd.name} conversion`)}, ${crowd.appId}, ${crowd.publisherId}, ${crowd.advertiserId}, g.offer_id, g.goal_id,
       '${crowd.name}-' || (n * 7919::bigint % ${crowd.users}), false, ${more.repeatable ?? false}, status,
       CASE WHEN status IN ('rejected', 'reversed') THEN 'operator' END, 'advertiser', '${crowd.name}-' || n,
       500000 + n % 1000, 700000 + n % 1000, 'Coins', 100000000, 'source-' || n % 50, 'campaign-' || n % 1000,
       ${idAt(`${crowd.name} click`)}, at, '10.0.0.0'::inet + n % 100000, (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5], 'desktop',
       at, at, CASE WHEN status IN ('approved', 'reversed') THEN at END, CASE WHEN status = 'rejected' THEN at END,
       CASE WHEN status = 'reversed' THEN at END, 1, ${idAt(`${crowd.name} event`)}, 'advertiser'
     FROM (SELECT n, ms, to_timestamp(ms / 1000.0) AS at, CASE WHEN n % 10 = 3 THEN 'rejected' WHEN n % 20 = 7 THEN 'reversed'
           WHEN n >= ${count} * 0.9 THEN 'pending' ELSE 'approved' END AS status
         FROM (SELECT n, ${Math.round(crowd.fromMs)}::bigint + n * ${Math.round(crowd.toMs - crowd.fromMs)}::bigint / ${count} AS ms
           FROM generate_series(0::bigint, ${count - 1}) AS n) AS times) AS made
     JOIN (SELECT DISTINCT ON (offer_id) offer_id, goal_id, (row_number() OVER (ORDER BY offer_id) - 1) AS place FROM (
           SELECT DISTINCT ON (offer_id) offer_id, goal_id FROM goals WHERE offer_id IN (${crowd.offerIds.join(', ')})
           ORDER BY offer_id, goal_id) AS first_goals) AS g
       ON g.place = n / ${crowd.users} % ${crowd.offerIds.length}
     ORDER BY n ON CONFLICT DO NOTHING`,
    'ALTER TABLE conversions ENABLE TRIGGER USER',
  )
}

/** The history, the feed and the ledger of all conversions that have none yet. */
export async function fillHistory(pool: pg.Pool): Promise<void> {
  await run(
    pool,
    `CREATE TEMPORARY TABLE unsent AS SELECT c.* FROM conversions c
     WHERE NOT EXISTS (SELECT FROM conversion_events e WHERE e.conversion_id = c.conversion_id) ORDER BY conversion_id`,
    `INSERT INTO conversion_events (conversion_id, sequence, event_id, app_id, is_test, actor, created_at, status, status_reason,
       payout_micros, revenue_micros, currency, rate_micros, aff_sub, aff_sub2, click_id, click_at, ip, country, device,
       approved_at, rejected_at, reversed_at)
     SELECT conversion_id, 1, event_id, app_id, is_test, actor, created_at, status, status_reason, payout_micros, revenue_micros,
       currency, rate_micros, aff_sub, aff_sub2, click_id, click_at, ip, country, device, approved_at, rejected_at, reversed_at
     FROM unsent`,
    `INSERT INTO event_feed (conversion_id, sequence, app_id, is_test) SELECT conversion_id, 1, app_id, is_test FROM unsent`,
    `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, created_at)
     SELECT event_id, 'conversion', line.account, line.party_id, line.amount_micros, conversion_id, created_at
     FROM unsent CROSS JOIN LATERAL (VALUES ('advertiser_receivable', advertiser_id, revenue_micros),
       (CASE status WHEN 'pending' THEN 'publisher_pending' ELSE 'publisher_payable' END, publisher_id, -payout_micros),
       ('network_margin', 0, payout_micros - revenue_micros)) AS line (account, party_id, amount_micros)
     WHERE status IN ('pending', 'approved')`,
    'DROP TABLE unsent',
  )
}

/** One in fifty of a bot. */
export async function fillClicks(pool: pg.Pool, crowd: Crowd, count: number): Promise<void> {
  await run(
    pool,
    `INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id,
       aff_sub, aff_sub2, ip, country, device, os, signals)
     SELECT ${idAt(`${crowd.name} click`)}, to_timestamp(ms / 1000.0), ${crowd.appId}, false,
       '${crowd.name}-' || (n * 7919::bigint % ${crowd.users}), o.offer_id, o.terms_id, 'Coins', 100000000, 'req_' || n,
       'source-' || n % 50, 'campaign-' || n % 1000, '10.0.0.0'::inet + n % 100000, (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5],
       'desktop', (ARRAY['windows', 'android', 'ios'])[1 + n % 3], CASE WHEN n % 50 = 0 THEN '{bot}'::text[] END
     FROM (SELECT n, ${Math.round(crowd.fromMs)}::bigint + n * ${Math.round(crowd.toMs - crowd.fromMs)}::bigint / ${count} AS ms
       FROM generate_series(0::bigint, ${count - 1}) AS n) AS times
     JOIN (SELECT offer_id, terms_id, row_number() OVER (ORDER BY offer_id) - 1 AS place FROM offers
       WHERE offer_id IN (${crowd.offerIds.join(', ')})) AS o ON o.place = n / ${crowd.users} % ${crowd.offerIds.length}
     ORDER BY n ON CONFLICT DO NOTHING`,
  )
}

/** The beginnings of the days (UTC) that a crowd touches, for partitions. */
export function daysOf({ fromMs, toMs }: Pick<Crowd, 'fromMs' | 'toMs'>): number[] {
  const first = Math.floor(fromMs / DAY_MS)
  const last = Math.floor((toMs - 1) / DAY_MS)
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * DAY_MS)
}

const LONGEST_MS = 3_600_000

/** In one transaction that may take its time. */
export async function run(pool: pg.Pool, ...statements: string[]): Promise<void> {
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query('BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = off')
    for (const text of statements) await client.query({ text, query_timeout: LONGEST_MS } as pg.QueryConfig)
    await client.query('COMMIT')
    isDone = true
  } finally {
    client.release(!isDone)
  }
}
