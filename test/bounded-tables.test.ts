// Every table says here how it stays bounded, or why it may grow: a new one without an answer fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from './world.ts'

const world = useWorld('bounded')

const SET_UP = 'as many as operators and publishers set up'
const FOR_GOOD = 'kept for good; read by index or by its rollups'
const BY_RETENTION = 'RETENTION_DAYS'
const BY_PERSON = 'a few for each person'

const BOUNDS: Record<string, string> = {
  accepted_service_terms: 'one for each publisher and version',
  access_tokens: BY_PERSON,
  address_retention: 'one row',
  advertiser_tokens: SET_UP,
  advertisers: SET_UP,
  api_secrets: SET_UP,
  applications: 'one for each publisher that signed up; others go after 3 days (forgetUnverified)',
  apps: SET_UP,
  audit_log: FOR_GOOD,
  banned_users: SET_UP,
  cap_counts: 'one for each cap that is being counted',
  click_counts:
    'a number for each app, offer, country and quarter of an hour; with sub-IDs for 400 days (compactClickCounts)',
  clicks: BY_RETENTION,
  conversion_events: FOR_GOOD,
  conversions: FOR_GOOD,
  credential_uses: 'one for each key',
  credentials: SET_UP,
  currency_rates: 'the last 400 days',
  erasure_moves: 'one row',
  erasures: 'one for each user who was erased: the proof that it was done',
  event_feed: FOR_GOOD,
  export_files: 'those of the last two manifests of each kind',
  export_positions: 'two for each target that was ever used',
  failed_tries: 'one for each account, and one for all unknown addresses',
  feed_changes: 'with their run: RETENTION_DAYS',
  feed_offers: 'one for each offer of a feed',
  feed_runs: BY_RETENTION,
  feed_staging: 'deleted when its run ends',
  feeds: SET_UP,
  fraud_rules: SET_UP,
  goals: SET_UP,
  idempotency_keys: 'forgotten after a day (forgetOldKeys)',
  images: 'those of offers, walls and the network; others go after 30 days, with the next upload (deleteUnused)',
  inbound_calls: BY_RETENTION,
  invitations: BY_PERSON,
  ledger_balances: 'one for each party and account',
  ledger_days: FOR_GOOD,
  ledger_entries: FOR_GOOD,
  ledger_rollup: 'one row',
  mails: BY_RETENTION,
  network_days: FOR_GOOD,
  network_settings: 'one row',
  nodes: 'forgotten an hour after the last beat (nodes.ts)',
  notices: BY_RETENTION,
  advertiser_budgets: 'one of an advertiser',
  budget_warnings: 'six of an advertiser with budgets',
  cap_warnings: 'a few days of capped offers (warnOfCaps)',
  offer_proposals: 'waiting: 50 for each advertiser; decided: RETENTION_DAYS (forgetOldProposals)',
  offer_usage: 'today and total of capped offers (forgetPastUsage)',
  offers: SET_UP,
  old_signing_secrets: 'gone with the next rotation after their grace',
  open_calls: 'a number for each advertiser (trimOpenCalls)',
  payment_run_lines: FOR_GOOD,
  payment_runs: FOR_GOOD,
  people: SET_UP,
  api_requests: BY_RETENTION,
  postback_attempts: BY_RETENTION,
  postback_lanes: SET_UP,
  postback_queue: 'what is still to be sent',
  postback_replays: 'one for each replay that was asked for',
  postback_settings: SET_UP,
  postbacks: BY_RETENTION,
  publisher_offers: SET_UP,
  publishers: SET_UP,
  ranking_days: 'the days that a ranking looks at',
  ranking_progress: 'one row',
  ranking_segments: 'with its ranking',
  rankings: 'the latest ones',
  schema_migrations: 'one for each migration',
  secret_keys: SET_UP,
  sessions: 'forgotten when they have expired (forgetExpired)',
  sign_in_places: 'a number for each person',
  sign_ins: BY_PERSON,
  stats_days: FOR_GOOD,
  stats_deltas: 'added to the rollups every minute',
  stats_months: FOR_GOOD,
  stats_quarters: FOR_GOOD,
  stats_rollup: 'one row',
  terms: SET_UP,
  ticket_images: 'deleted after 90 days (forgetOldTickets)',
  ticket_messages: 'a number for each ticket',
  tickets: 'a few for each user; deleted 400 days after the last change (forgetOldTickets)',
  tester_app: SET_UP,
  advertiser_pauses: SET_UP,
  trusted_offers: SET_UP,
  two_factors: BY_PERSON,
  unnumbered_clicks: 'one row',
  user_balances: 'one for each user who ever had an entry',
  user_balances_rollup: 'one row',
  user_entries: FOR_GOOD,
  user_contexts: 'one for each user who was seen while clicks are kept (forgetOldContexts)',
  verifications: 'forgotten when they have expired (forgetExpired)',
  waiting_events: 'deleted when they have their place in the feed',
  wall_days: 'one for each app and day, for 400 days (forgetOldWallDays)',
  walls: 'one for each app',
  lockers: 'a few for each app',
  locker_unlocks: BY_RETENTION,
  locker_unlock_conversions: 'one for each conversion that unlocked, which are kept for good',
  locker_proofs: 'at most 50 redeemed ones for each unlock; others are deleted after a day (forgetOldUnlocks)',
  locker_reports: 'at most 100 open ones for each locker; closed ones: RETENTION_DAYS',
  locker_wrong_passwords:
    'one for each network that was wrong about a link today; deleted the day after (forgetOldUnlocks)',
  sdk_versions: 'one for each release',
}

test('every table is bounded, or says why it may grow', async () => {
  const { rows } = await world.database.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition ORDER BY relname`,
  )
  const names = rows.map((row) => row.name)
  assert.deepEqual(names.filter((name) => !(name in BOUNDS)), [], 'say in BOUNDS how it stays bounded') // prettier-ignore
  assert.deepEqual(Object.keys(BOUNDS).filter((name) => !names.includes(name)), []) // prettier-ignore
})
