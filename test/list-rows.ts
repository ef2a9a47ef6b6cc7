// What the lists of a large network have, for the tests of what a page of them costs.
import { ensurePartitions } from '../src/db/partitions.ts'
import { type Crowd, daysOf, fillConversions, fillHistory, run } from './crowd.ts'
import type { World } from './world.ts'

export const DAY_MS = 86_400_000
export const MANY = 50_000
const SOME = 8_000
export const APPS = 500

/** Rows behind every list, most of them of one app and its crowd of users. */
export async function fillLists(world: World): Promise<Crowd> {
  const { db, pool } = world.database
  const { appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const { publisher_id: publisherId } = await db.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirstOrThrow() // prettier-ignore
  const { advertiser_id: advertiserId } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const now = Date.now()
  const crowd = { appId, publisherId, advertiserId, offerIds: [offerId], fromMs: now - 5 * DAY_MS, toMs: now, name: 'crowd', users: SOME } // prettier-ignore
  await ensurePartitions(db, 'inbound_calls', daysOf(crowd))
  await ensurePartitions(db, 'api_requests', daysOf(crowd))
  await fillConversions(pool, crowd, SOME)
  await fillHistory(pool)
  const uuid = (
    prefix: string,
  ) => `(substr(lpad(to_hex(${Math.round(crowd.fromMs)}::bigint + n * ${Math.round((5 * DAY_MS) / MANY)}), 12, '0'), 1, 12)
    || '7' || substr(md5('${prefix}' || n), 1, 3) || '8' || substr(md5('${prefix}' || n), 4, 15))::uuid`
  const at = `to_timestamp((${Math.round(crowd.fromMs)}::bigint + n * ${Math.round((5 * DAY_MS) / MANY)}) / 1000.0)`
  await run(
    pool,
    `INSERT INTO publishers (name, email, status) SELECT 'Crowd publisher ' || n, 'p' || n || '@example.com', CASE WHEN n < 3 THEN 'suspended' ELSE 'active' END
     FROM generate_series(1, ${SOME}) n`,
    `INSERT INTO applications (status, name, email, company, website, answers, created_at, publisher_id, verified_at)
     SELECT CASE WHEN publisher_id % 1000 = 0 THEN 'waiting' ELSE 'approved' END, 'x', email, name, 'x', '[]', now(), publisher_id, now() FROM publishers WHERE email IS NOT NULL`,
    `INSERT INTO advertisers (name) SELECT 'Crowd advertiser ' || n FROM generate_series(1, ${SOME}) n`,
    `INSERT INTO apps (publisher_id, name, currency, rate_micros, rate_limit)
     SELECT publisher_id, 'App', 'Coins', 100000000, 100 FROM publishers WHERE publisher_id <> ${publisherId} ORDER BY publisher_id DESC LIMIT ${APPS}`,
    // Without a single postback, as most of those on the first pages are.
    'INSERT INTO postback_lanes (app_id, publisher_id) SELECT app_id, publisher_id FROM apps ON CONFLICT DO NOTHING',
    'ALTER TABLE offers DISABLE TRIGGER USER',
    `INSERT INTO offers (advertiser_id, external_id, name, description, category, payout_micros, revenue_micros, countries, platforms,
       destination_url, difficulty, time_estimate, requirements, payment_required, conversion_type, status, terms_id)
     SELECT CASE WHEN n < 50 THEN (SELECT max(advertiser_id) FROM advertisers) ELSE ${advertiserId} END, 'x-' || n,
       CASE WHEN n = 7 THEN 'A needle' ELSE 'Game number ' || n END, 'To do', CASE WHEN n = 7 THEN 'survey' ELSE 'app' END, 1000000, 1500000,
       '{}', '{web}', 'https://ads.example.com/', 'easy', '5 min', 'None', false, 'cpa', CASE WHEN n < 5 THEN 'paused' ELSE 'active' END,
       (SELECT max(terms_id) FROM terms)
     FROM generate_series(1, ${MANY}) n`,
    'ALTER TABLE offers ENABLE TRIGGER USER',
    `INSERT INTO trusted_offers (app_id, offer_id) SELECT ${appId}, offer_id FROM offers WHERE offer_id % 2 = 0`,
    'ALTER TABLE audit_log DISABLE TRIGGER USER',
    `INSERT INTO audit_log (who, action, subject, publisher_id)
     SELECT CASE WHEN n < 4 THEN 'rare@example.com' ELSE 'o' || n % 9 || '@example.com' END,
       CASE WHEN n < 6 THEN 'rare.action' WHEN n % 3 = 0 THEN 'offer.change' ELSE 'session.start' END, (n % 5000)::text,
       CASE WHEN n < 8 THEN ${publisherId} END FROM generate_series(1, ${MANY}) n`,
    'ALTER TABLE audit_log ENABLE TRIGGER USER',
    'ALTER TABLE postbacks DISABLE TRIGGER USER',
    `INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at, settled_at, attempts, last_error)
     SELECT ${uuid('postback')}, ${appId}, n % 100 = 0, gen_random_uuid(), 1, CASE WHEN n < 4 THEN 'reversed' WHEN n % 2 = 0 THEN 'pending' ELSE 'approved' END,
       CASE WHEN n = 9 THEN 'dead' ELSE 'delivered' END, ${at}, ${at}, 1, CASE WHEN n = 9 THEN '500' END
     FROM generate_series(1, ${MANY}) n`,
    'ALTER TABLE postbacks ENABLE TRIGGER USER',
    `INSERT INTO inbound_calls (inbound_id, method, query, body, received_at, outcome, advertiser_id, click_id)
     SELECT ${uuid('call')}, 'GET', 'x', '', ${at}, CASE WHEN n < 4 THEN 'invalid' ELSE 'approved' END,
       CASE WHEN n < 9 THEN ${advertiserId} + 1 ELSE ${advertiserId} END, gen_random_uuid()::text FROM generate_series(1, ${MANY}) n`,
    `INSERT INTO api_requests (logged_id, app_id, is_test, request_id, method, path, parameters, status, duration_us, is_verified, skipped)
     SELECT ${uuid('request')}, ${appId}, n % 100 = 0, 'req_' || n, 'GET', '/v1/offers', '{}', CASE WHEN n < 4 THEN 200 ELSE 400 END, 1, true, 0
     FROM generate_series(1, ${MANY}) n`,
    // The newest are of other apps, and all that were closed.
    `INSERT INTO tickets (ticket_id, app_id, is_test, user_id, submit_key, kind, status, created_at, updated_at)
     SELECT ${uuid('ticket')}, CASE WHEN n <= ${MANY} THEN ${appId} ELSE ${appId} + 1 + n % ${APPS - 1} END, false, 'u' || n % 999, gen_random_uuid(), 'question',
       CASE WHEN n % 50 = 0 THEN 'open' WHEN n <= ${MANY} THEN 'answered' ELSE 'closed' END, ${at}, ${at}
     FROM generate_series(1, ${2 * MANY}) n`,
    `INSERT INTO banned_users (app_id, user_id, reason) SELECT CASE WHEN n < 9 THEN ${appId} END, 'u' || n, 'fraud' FROM generate_series(1, ${MANY}) n`,
    `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, reference, created_at)
     SELECT posting_id, CASE WHEN n < 5 THEN 'receipt' ELSE 'payout' END, line.account, line.party_id, line.amount, 'r' || n, created_at
     FROM (SELECT n, gen_random_uuid() AS posting_id, ${at} AS created_at FROM generate_series(1, ${SOME}) n) AS payments
     CROSS JOIN LATERAL (VALUES ('publisher_payable', ${publisherId}, 100), ('cash', 0, -100)) AS line (account, party_id, amount)`,
    `INSERT INTO feeds (feed_id, name, advertiser_id, request, mapping, credentials, settings) VALUES (1, 'Crowd', ${advertiserId}, '{}', '{}', '', '{}')`,
    `INSERT INTO feed_runs (feed_id, is_preview, ended_at, outcome) SELECT 1, n % 2 = 0, now(), 'done' FROM generate_series(1, ${SOME}) n`,
    `INSERT INTO feed_changes (run_id, external_id, name, kind) SELECT (SELECT min(run_id) FROM feed_runs), 'x' || n, 'Offer', CASE WHEN n < 5 THEN 'paused' ELSE 'created' END
     FROM generate_series(1, ${MANY}) n`,
    `INSERT INTO feed_offers (feed_id, external_id, offer_id, hash, applied, held_hash, held_payout)
     SELECT 1, 'x' || offer_id, offer_id, 'h', '{}', CASE WHEN offer_id % 3 = 0 THEN 'h' END, '{"before": 1, "after": 2}' FROM offers`,
    `INSERT INTO offer_proposals (advertiser_id, is_new, external_id, fields, before, proposed_by, status, decided_at)
     SELECT CASE WHEN n < 9 THEN ${advertiserId} + 1 ELSE ${advertiserId} END, true, 'x' || n, '{}', '{}', 'x', CASE WHEN n < 9 THEN 'waiting' ELSE 'approved' END, CASE WHEN n < 9 THEN NULL ELSE now() END
     FROM generate_series(1, ${SOME}) n`,
    `INSERT INTO payment_runs (minimum_micros, created_by, created_at) SELECT 0, 'x', now() FROM generate_series(1, 2)`,
    `INSERT INTO payment_run_lines (run_id, publisher_id, amount_micros, payable_micros, name, status, settled_at)
     SELECT 1, publisher_id, 1000000, 1000000, name, CASE WHEN publisher_id < 10 THEN 'cancelled' ELSE 'due' END,
       CASE WHEN publisher_id < 10 THEN now() END FROM publishers`,
  )
  return crowd
}
