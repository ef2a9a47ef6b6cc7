import { FEED_DEFAULTS } from '../src/features/feeds/feed-settings.ts'
import type { Deal } from './conversion-rows.ts'
import { run } from './crowd.ts'
import type { World } from './world.ts'

/** More than any page. */
export const MANY = 250
/** With as many attempts. */
export const POSTBACK = '01890000-0000-7000-8000-000000000000'

/** As long as a name may be, without a blank to break it at. */
const LONG = `CASE WHEN n % 2 = 0 THEN repeat('Longname', 12) ELSE 'Name' END || ' ' || n`

/** For lists that were once read whole: many rows of one deal, and tokens of a person. */
export async function fillManyRows(world: World, deal: Deal, personId: string): Promise<void> {
  const { appId, publisherId, advertiserId } = deal
  const many = `FROM generate_series(1, ${MANY}) n`
  await run(
    world.database.pool,
    `INSERT INTO people (name, email, role, publisher_id) SELECT ${LONG}, 'person-of-many-' || n || '@example.com', 'publisher_viewer', ${publisherId} ${many}`,
    `INSERT INTO people (name, email, role, advertiser_id) SELECT ${LONG}, 'advertiser-of-many-' || n || '@example.com', 'advertiser', ${advertiserId} ${many}`,
    `INSERT INTO people (name, email, role) SELECT ${LONG}, 'operator-of-many-' || n || '@example.com', 'operator_reader' ${many}`,
    `INSERT INTO access_tokens (person_id, name, scopes, token_hash, expires_at) SELECT '${personId}', 'Token', '{read}', 'hash' || n, now() - n * interval '1 day' ${many}`,
    `INSERT INTO lockers (app_id, kind, slug, settings) SELECT ${appId}, 'link', 'many-' || n, json_build_object('name', ${LONG}, 'link', json_build_object('target_url', 'https://example.com/')) ${many}`,
    `INSERT INTO locker_reports (locker_id, reason, details) SELECT locker_id, 'scam', repeat('badlink', 20) FROM lockers WHERE app_id = ${appId}`,
    `INSERT INTO feeds (feed_id, name, advertiser_id, preset, credentials, settings) SELECT n, ${LONG}, ${advertiserId}, 'cpalead', '', '${JSON.stringify(FEED_DEFAULTS)}' ${many}`,
    'ALTER TABLE offers DISABLE TRIGGER USER',
    `INSERT INTO offers (advertiser_id, external_id, name, description, category, payout_micros, revenue_micros, countries, platforms,
       destination_url, difficulty, time_estimate, requirements, payment_required, conversion_type, status, terms_id)
     SELECT ${advertiserId}, 'many-' || n, ${LONG}, '', 'app', 1000000, 1500000, '{}', '{web}', 'https://ads.example.com/', 'easy', '5 min', '',
       false, 'cpa', 'active', (SELECT max(terms_id) FROM terms) ${many}`,
    'ALTER TABLE offers ENABLE TRIGGER USER',
    'DELETE FROM fraud_rules',
    `INSERT INTO fraud_rules (signal, action) VALUES ('bot', 'flag')`,
    `INSERT INTO fraud_rules (signal, offer_id, action) SELECT 'bot', offer_id, 'hold' FROM offers WHERE external_id LIKE 'many-%'`,
    'ALTER TABLE postbacks DISABLE TRIGGER USER',
    `INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at)
     VALUES ('${POSTBACK}', ${appId}, false, gen_random_uuid(), 1, 'approved', 'delivered', now())`,
    'ALTER TABLE postbacks ENABLE TRIGGER USER',
    `INSERT INTO postback_attempts (postback_id, attempt_id, attempt, started_at, duration_ms, ok, request, response)
     SELECT '${POSTBACK}', (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint + n), 12, '0') || '70008000000000000000')::uuid, n, now(), 1, true, '', '' ${many}`,
    `INSERT INTO notices (app_id, kind, message) SELECT ${appId}, 'failing', ${LONG} ${many}`,
    `INSERT INTO mails (kind, about, recipient, status, expires_at, failure, settled_at)
     SELECT 'reset', n::text, repeat('longname', 6) || n || '@example.com', 'failed', now(), '550 no such user', now() ${many}`,
  )
}
