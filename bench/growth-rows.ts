// The rows of a grown network, created by SQL in chunks of time: what triggers would do for each conversion is done for all
// of a chunk, from the same rows. Everything follows from a row's number, so that the same plan gives the same network.
import type pg from 'pg'

export const YEAR_DAYS = 365
const PENDING_DAYS = 30
const CHUNK = 100_000
const LONGEST_MS = 3_600_000

export type Span = { fromMs: number; toMs: number }
export type Sizes = { conversions: number; clicks: number; apps: number; offersInUse: number; retentionDays: number }

/** A number from 0 to 1 that `n` always has. */
const share = (seed: number, n = 'n') => `((hashint8extended(${n}, ${seed}) & 1073741823) / 1073741824.0)`
const uuidAt = (ms: string, name: string) =>
  `(lpad(to_hex((${ms})::bigint), 12, '0') || '7' || left(md5(${name}), 3) || '8' || substr(md5(${name}), 4, 15))::uuid`

/** One statement after the other, in a transaction that may take its time. */
export async function runAll(pool: pg.Pool, ...statements: string[]): Promise<void> {
  const client = await pool.connect()
  let isDone = false
  try {
    await client.query(
      `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = off; SET LOCAL work_mem = '256MB';
       SET LOCAL maintenance_work_mem = '1GB'; SET LOCAL jit = off`,
    )
    for (const text of statements) await client.query({ text, query_timeout: LONGEST_MS } as pg.QueryConfig)
    await client.query('COMMIT')
    isDone = true
  } finally {
    client.release(!isDone)
  }
}

const LOADED = ['clicks', 'conversions', 'conversion_events', 'event_feed', 'ledger_entries', 'postbacks'] as const

/** Without triggers and all indexes but the primary keys, which are there again afterwards: a third of the time. */
export async function loading(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE NOT indisprimary AND indrelid = ANY ($1::regclass[])`,
    [LOADED],
  )
  await runAll(pool, ...LOADED.map((table) => `ALTER TABLE ${table} DISABLE TRIGGER USER`))
  for (const { name } of rows) await runAll(pool, `DROP INDEX ${name}`)
  await work()
  for (const { definition } of rows) await runAll(pool, definition)
  await runAll(pool, ...LOADED.map((table) => `ALTER TABLE ${table} ENABLE TRIGGER USER`))
}

/** Publishers with two apps each, half of them with postbacks; offers in use belong to 50 advertisers, every tenth repeats. */
export async function fillParties(pool: pg.Pool, { apps, offersInUse }: Sizes): Promise<void> {
  await runAll(
    pool,
    `INSERT INTO publishers (name) SELECT 'Publisher ' || n FROM generate_series(1, ${apps / 2}) AS n`,
    `INSERT INTO apps (publisher_id, name, currency, rate_micros, rate_limit)
     SELECT publisher_id, 'App ' || n, 'Coins', 100000000, 1000 FROM publishers CROSS JOIN generate_series(1, 2) AS n
     WHERE name LIKE 'Publisher %' ORDER BY publisher_id, n`,
    `INSERT INTO credentials (api_key, app_id, is_test, signing_secret_sealed)
     SELECT md5('key ' || app_id || is_test), app_id, is_test, '\\x00' FROM apps CROSS JOIN (VALUES (false), (true)) AS kind (is_test)
     WHERE NOT EXISTS (SELECT FROM credentials c WHERE c.app_id = apps.app_id)`,
    `INSERT INTO postback_settings (app_id, method, url) SELECT app_id, 'GET', 'https://publisher.example.com/postback?id={transaction_id}'
     FROM apps WHERE app_id % 2 = 0`,
    `INSERT INTO postback_lanes (app_id, publisher_id) SELECT app_id, publisher_id FROM apps JOIN postback_settings USING (app_id)`,
    `INSERT INTO advertisers (name) SELECT 'Advertiser ' || n FROM generate_series(1, 50) AS n`,
    `CREATE TABLE bench_offers AS SELECT row_number() OVER (ORDER BY offer_id) - 1 AS place, offer_id FROM (
       SELECT offer_id FROM offers ORDER BY offer_id LIMIT ${offersInUse}) AS first`,
    `UPDATE offers o SET advertiser_id = a.advertiser_id FROM bench_offers b,
       (SELECT advertiser_id, row_number() OVER (ORDER BY advertiser_id) - 1 AS place FROM advertisers) AS a
     WHERE o.offer_id = b.offer_id AND a.place = b.place % 50`,
    `UPDATE goals SET is_repeatable = true FROM bench_offers b WHERE goals.offer_id = b.offer_id AND b.place % 10 = 9`,
    `SELECT renew_terms(ARRAY(SELECT offer_id FROM bench_offers))`,
    `ALTER TABLE bench_offers ADD PRIMARY KEY (place), ADD goal_id bigint, ADD advertiser_id bigint, ADD terms_id bigint,
       ADD payout_micros bigint, ADD revenue_micros bigint`,
    `UPDATE bench_offers b SET goal_id = g.goal_id, payout_micros = g.payout_micros, revenue_micros = g.revenue_micros,
       advertiser_id = o.advertiser_id, terms_id = o.terms_id
     FROM offers o, (SELECT DISTINCT ON (offer_id) * FROM goals ORDER BY offer_id, place) AS g
     WHERE o.offer_id = b.offer_id AND g.offer_id = b.offer_id`,
    `CREATE TABLE bench_apps AS SELECT row_number() OVER (ORDER BY app_id) - 1 AS place, app_id, publisher_id, p.app_id IS NOT NULL AS is_told
     FROM apps LEFT JOIN postback_settings p USING (app_id)`,
    'ANALYZE bench_offers, bench_apps',
  )
}

/** The first chunk begins a year ago. */
export async function fillConversions(pool: pg.Pool, sizes: Sizes, nowMs: number, say: (text: string) => void) {
  for (let from = 0; from < sizes.conversions; from += CHUNK) {
    const to = Math.min(from + CHUNK, sizes.conversions) - 1
    await runAll(pool, ...chunkOf(sizes, nowMs, from, to))
    if (from % (10 * CHUNK) === 0) say(`  ${to + 1} conversions …`)
  }
}

/**
 * Ordinary users convert about four times, each on another offer. One in fifty conversions is of a busy user, who does
 * what can be repeated: half of these of a single one, the others of twenty. Users are spread over the apps by the cube of
 * chance: the first app has an eighth of them.
 */
function chunkOf({ conversions, apps, offersInUse, retentionDays }: Sizes, nowMs: number, from: number, to: number) {
  const users = Math.ceil(conversions / 4)
  const spanMs = YEAR_DAYS * 86_400_000
  const ms = `${nowMs - spanMs}::bigint + n * ${Math.floor(spanMs / conversions)}::bigint`
  const pendingMs = nowMs - PENDING_DAYS * 86_400_000
  const keptMs = nowMs - (retentionDays - 1) * 86_400_000
  return [
    `CREATE TEMPORARY TABLE made ON COMMIT DROP AS
     SELECT d.n, d.ms, to_timestamp(d.ms / 1000.0) AS at, ${uuidAt('d.ms', `'conversion ' || d.n`)} AS conversion_id,
       ${uuidAt('d.ms', `'event 1 ' || d.n`)} AS event_id, ${uuidAt('later_ms', `'event 2 ' || d.n`)} AS later_id,
       ${uuidAt('d.ms - 600000', `'click ' || d.n`)} AS click_id, to_timestamp((d.ms - 600000) / 1000.0) AS click_at,
       to_timestamp(later_ms / 1000.0) AS later_at, status, had_two, user_id, a.app_id, a.publisher_id, a.is_told,
       o.advertiser_id, o.offer_id, o.goal_id, o.terms_id, o.place % 10 = 9 AS is_repeatable,
       o.payout_micros, o.revenue_micros, 'source-' || d.n % 50 AS aff_sub, 'campaign-' || d.n % 1000 AS aff_sub2,
       CASE WHEN d.n % 5 = 0 THEN 'visit-' || d.n END AS aff_sub3, '10.0.0.0'::inet + u % 16000000 AS ip,
       (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + d.n % 5] AS country
     FROM (SELECT *, least(ms + 86400000, ${nowMs}::bigint) AS later_ms, status = 'reversed' OR (status = 'approved' AND ${share(4)} < 0.3) AS had_two
       FROM (SELECT n, ${ms} AS ms, CASE WHEN n % 50 = 0 THEN n / 50 % 20 ELSE 100 + n % ${users} END AS u,
           CASE WHEN n % 100 = 0 THEN 'busiest' WHEN n % 50 = 0 THEN 'busy-' || n / 50 % 20 ELSE 'user-' || n % ${users} END AS user_id,
           CASE WHEN n % 50 = 0 THEN 9 + 10 * (n / 50 % ${offersInUse / 10}) ELSE (n % ${users} * 31 + n / ${users} * 7) % ${offersInUse} END AS offer_place,
           CASE WHEN ${share(1)} < 0.08 THEN 'rejected' WHEN ${share(1)} < 0.11 THEN 'reversed'
             WHEN ${ms} > ${pendingMs} AND ${share(1)} > 0.7 THEN 'pending' ELSE 'approved' END AS status
         FROM generate_series(${from}::bigint, ${to}) AS n) AS numbers) AS d
     JOIN bench_apps a ON a.place = CASE WHEN d.n % 100 = 0 THEN 0 ELSE floor(${apps} * power(${share(2, 'u')}, 3)) END
     JOIN bench_offers o ON o.place = d.offer_place ORDER BY d.n`,
    `INSERT INTO conversions (conversion_id, app_id, publisher_id, advertiser_id, offer_id, goal_id, user_id, is_test, is_repeatable,
       is_first_goal, status, status_reason, source, advertiser_transaction_id, payout_micros, revenue_micros, currency, rate_micros,
       aff_sub, aff_sub2, aff_sub3, click_id, click_at, ip, country, device, confirmed_at, told_at, created_at, approved_at, rejected_at,
       reversed_at, sequence, event_id, actor, terms_id)
     SELECT conversion_id, app_id, publisher_id, advertiser_id, offer_id, goal_id, user_id, false, is_repeatable, true, status,
       CASE status WHEN 'rejected' THEN 'advertiser_rejected' WHEN 'reversed' THEN 'advertiser_reversed' END, 'advertiser', 'order-' || n,
       payout_micros, revenue_micros, 'Coins', 100000000, aff_sub, aff_sub2, aff_sub3, click_id, click_at, ip, country, 'desktop',
       CASE status WHEN 'pending' THEN NULL ELSE at END, at, at, CASE status WHEN 'approved' THEN CASE WHEN had_two THEN later_at ELSE at END WHEN 'reversed' THEN at END,
       CASE status WHEN 'rejected' THEN at END, CASE status WHEN 'reversed' THEN later_at END, CASE WHEN had_two THEN 2 ELSE 1 END,
       CASE WHEN had_two THEN later_id ELSE event_id END, 'advertiser', terms_id FROM made`,
    `CREATE TEMPORARY TABLE moves ON COMMIT DROP AS
     SELECT made.*, move.sequence, move.event, move.was, move.became, move.moved_at FROM made CROSS JOIN LATERAL (VALUES
       (1, event_id, NULL, CASE WHEN NOT had_two THEN status WHEN status = 'approved' THEN 'pending' ELSE 'approved' END, at),
       (2, later_id, CASE status WHEN 'approved' THEN 'pending' ELSE 'approved' END, status, later_at)
     ) AS move (sequence, event, was, became, moved_at) WHERE move.sequence = 1 OR had_two`,
    `INSERT INTO conversion_events (conversion_id, sequence, event_id, app_id, is_test, actor, created_at, status, status_reason,
       payout_micros, revenue_micros, currency, rate_micros, aff_sub, aff_sub2, aff_sub3, click_id, click_at, ip, country, device,
       approved_at, rejected_at, reversed_at)
     SELECT conversion_id, sequence, event, app_id, false, 'advertiser', moved_at, became,
       CASE became WHEN 'rejected' THEN 'advertiser_rejected' WHEN 'reversed' THEN 'advertiser_reversed' END, payout_micros, revenue_micros,
       'Coins', 100000000, aff_sub, aff_sub2, aff_sub3, click_id, click_at, ip, country, 'desktop',
       CASE WHEN became IN ('approved', 'reversed') THEN moved_at END, CASE became WHEN 'rejected' THEN moved_at END,
       CASE became WHEN 'reversed' THEN moved_at END FROM moves`,
    'INSERT INTO event_feed (conversion_id, sequence, app_id, is_test) SELECT conversion_id, sequence, app_id, false FROM moves ORDER BY moved_at',
    `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, conversion_id, created_at)
     SELECT event, 'conversion', account, party_id, sum(amount), conversion_id, moved_at FROM (
       SELECT event, conversion_id, moved_at, line.* FROM moves CROSS JOIN LATERAL (VALUES (became, 1), (was, -1)) AS side (status, sign)
       CROSS JOIN LATERAL (VALUES ('advertiser_receivable', advertiser_id, sign * revenue_micros),
         (CASE side.status WHEN 'pending' THEN 'publisher_pending' ELSE 'publisher_payable' END, publisher_id, -sign * payout_micros),
         ('network_margin', 0, sign * (payout_micros - revenue_micros))) AS line (account, party_id, amount)
       WHERE side.status IN ('pending', 'approved')) AS lines
     GROUP BY event, account, party_id, conversion_id, moved_at HAVING sum(amount) <> 0 ORDER BY moved_at`,
    `INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id,
       aff_sub, aff_sub2, aff_sub3, ip, country, device, os)
     SELECT click_id, click_at, app_id, false, user_id, offer_id, terms_id, 'Coins', 100000000, 'req_' || n, aff_sub, aff_sub2,
       aff_sub3, ip, country, 'desktop', 'windows' FROM made WHERE ms > ${keptMs}`,
    `INSERT INTO inbound_calls (inbound_id, received_at, advertiser_id, method, query, body, ip, click_id, outcome, conversion_id, settled_at)
     SELECT event, moved_at, advertiser_id, 'GET', 'click_id=' || click_id || '&txn_id=order-' || n || '&status=' || became, '',
       '192.0.2.7', click_id, became, conversion_id, moved_at FROM moves WHERE ms > ${keptMs}`,
    `INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, attempts, created_at, settled_at, last_status)
     SELECT event, app_id, false, conversion_id, sequence, became, 'delivered', 1, moved_at, moved_at, 200
     FROM moves WHERE is_told AND became IN ('approved', 'reversed') AND ms > ${keptMs}`,
    `INSERT INTO postback_attempts (postback_id, attempt_id, attempt, started_at, duration_ms, ok, status, remote_address, request, response)
     SELECT event, event, 1, moved_at, 80, true, 200, '192.0.2.8', 'GET https://publisher.example.com/postback?id=' || event || E'\\n\\n' || repeat('webhook-header ', 20),
       '200' || E'\\n' || repeat('x-header: value ', 12) || E'\\n\\nOK' FROM moves WHERE is_told AND became IN ('approved', 'reversed') AND ms > ${keptMs}`,
  ]
}

/** The same number for each day; users, apps and offers as those of conversions, and most never convert. */
export async function fillClicks(pool: pg.Pool, sizes: Sizes, dayMs: number, untilMs: number, place: number) {
  const count = Math.floor(sizes.clicks / sizes.retentionDays)
  const users = sizes.conversions
  const first = place * count
  await runAll(
    pool,
    `INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id,
       aff_sub, aff_sub2, aff_sub3, ip, country, device, os, signals)
     SELECT ${uuidAt('ms', `'visit ' || n`)}, to_timestamp(ms / 1000.0), a.app_id, false, 'user-' || u, o.offer_id, o.terms_id, 'Coins',
       100000000, 'req_' || n, 'source-' || n % 50, 'campaign-' || n % 1000, CASE WHEN n % 5 = 0 THEN 'click-' || n END,
       '10.0.0.0'::inet + u % 16000000, (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5], 'desktop',
       (ARRAY['windows', 'android', 'ios'])[1 + n % 3], CASE WHEN n % 50 = 0 THEN '{bot}'::text[] END
     FROM (SELECT n, ${dayMs}::bigint + (n - ${first}) * ${untilMs - dayMs}::bigint / ${count} AS ms, floor(${users} * ${share(5)})::bigint AS u
       FROM generate_series(${first}::bigint, ${first + count - 1}) AS n) AS d
     JOIN bench_apps a ON a.place = floor(${sizes.apps} * power(${share(2, '100 + u')}, 3))
     JOIN bench_offers o ON o.place = floor(${sizes.offersInUse} * power(${share(6)}, 2)) ORDER BY ms`,
  )
}

/** What else there is after a year: sub-IDs of users, counts of dropped clicks, the audit log, keys of today, payments. */
export async function fillRest(pool: pg.Pool, sizes: Sizes, nowMs: number): Promise<void> {
  const few = Math.ceil(sizes.conversions / 10)
  await runAll(
    pool,
    `INSERT INTO user_contexts (app_id, is_test, user_id, aff_sub, aff_sub2, seen_at)
     SELECT a.app_id, false, 'user-' || n, 'source-' || n % 50, 'campaign-' || n % 1000, now() FROM generate_series(0::bigint, ${few}) AS n
     JOIN bench_apps a ON a.place = floor(${sizes.apps} * power(${share(2, '100 + n')}, 3)) ON CONFLICT DO NOTHING`,
    `INSERT INTO click_counts (app_id, quarter, offer_id, country, aff_sub, aff_sub2, clicks)
     SELECT a.app_id, date_bin('15 minutes', to_timestamp(${nowMs} / 1000.0) - (${sizes.retentionDays} + 1 + n % ${YEAR_DAYS - sizes.retentionDays - 1}) * interval '1 day', '2000-01-01Z'),
       o.offer_id, 'US', 'source-' || n % 50, 'campaign-' || n % 1000, 1 + n % 7 FROM generate_series(0::bigint, ${few * 2}) AS n
     JOIN bench_apps a ON a.place = floor(${sizes.apps} * power(${share(7)}, 3)) JOIN bench_offers o ON o.place = n % ${sizes.offersInUse}`,
    `INSERT INTO audit_log (created_at, who, action, subject, details) SELECT now() - n * interval '1 minute', 'operator@example.com',
       'conversion.approve', 'conversion ' || n, '{"reason": "checked"}' FROM generate_series(1, ${few}) AS n`,
    `INSERT INTO idempotency_keys (app_id, is_test, key, request, conversion_id, created_at)
     SELECT app_id, false, 'key-' || n, repeat('r', 60), gen_random_uuid(), now() - n * interval '1 second' FROM generate_series(1, ${few / 10}) AS n,
       (SELECT min(app_id) AS app_id FROM apps) AS a`,
    `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, reference, created_at)
     SELECT posting_id, 'payout', line.account, line.party_id, line.amount, reference, at FROM (
       SELECT publisher_id, gen_random_uuid() AS posting_id, 'run ' || month || ' ' || publisher_id AS reference,
         to_timestamp(${nowMs} / 1000.0) - month * interval '30 days' AS at FROM publishers, generate_series(0, 11) AS month) AS paid
     CROSS JOIN LATERAL (VALUES ('publisher_payable', publisher_id, 1000000), ('cash', 0, -1000000)) AS line (account, party_id, amount)
     ORDER BY at`, // the newest entry last: days are folded up to it
  )
}
