// Loads the context of a batch in a few statements, whatever its size, under the locks of lock-batch.ts.
import { type RawBuilder, sql } from 'kysely'
import { camelColumns, type Selected } from '../../db/camel-case.ts'
import type { Trx } from '../../db/open.ts'
import type { UserContexts } from '../../db/tables.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { dayNumber, lockUsage, type OfferUsage, startOf, type Worth } from '../offers/caps.ts'
import type { Report } from './commands.ts'
import { batchConversions } from './batch-conversions.ts'
import { type Conversion, conversionOfJson } from './conversions.ts'
import { ConversionIndex } from './conversion-index.ts'
import { APP_COLUMNS, type AppSnapshot, type DecisionContext } from './decision-context.ts'
import type { FraudRule } from './fraud.ts'
import {
  addressCountKey,
  appOfferKey,
  appUserKey,
  banKey,
  idempotencyKey,
  type Subject,
  userCountKey,
  userKey,
} from './keys.ts'
import type { OfferVersion } from './offer-cache.ts'
import type { Batch } from './prepare-batch.ts'
import { clickOfRow, type ClickRow, type ClickSnapshot, latestClicks } from './read-clicks.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** For extreme cases, so that they do not slow down everything else: more than any sensible threshold. */
const MAX_COUNTED = 2_000

const CONTEXT_COLUMNS = [
  'app_id', 'user_id', 'is_test', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4',
] as const satisfies (keyof UserContexts)[] // prettier-ignore

/** `windowS`: the maximum age of a click that a report can count for. */
export async function loadContext(trx: Trx, batch: Batch, windowS: number): Promise<DecisionContext> {
  const { commands, clicks, dropped, offerCache, now } = batch
  const day = dayNumber(now)
  let found = await queryContext(trx, batch, windowS)
  const offers = await offerCache.read(trx, found.offers)
  const capped = [...offers.values()].filter((offer) => offer.isCapped).map((offer) => offer.offerId)
  const locked = capped.length === 0 ? new Map<number, never>() : await lockUsage(trx, capped, day)
  // While we waited for the usage lock, a click may have been recorded that these reports are about.
  if (capped.length > 0) found = await queryContext(trx, batch, windowS)
  const conversions = found.conversions.map(conversionOfJson)
  const mayRaise = commands.some((command) => command.kind === 'confirmation')
  const usage = await addEarlierDays(trx, locked, offers, mayRaise ? conversions : [], day)
  const reports = commands.filter((command) => command.kind === 'report')
  const latest = found.latest.map(clickOfRow)
  const keyed = reports.filter((report) => report.idempotencyKey !== null)
  return {
    moves: found.moves,
    offers,
    usage,
    clicks: new Map([...clicks, ...dropped.clicks]),
    ambiguous: dropped.ambiguous,
    latestClicks: new Map(latest.map((row) => [userKey(row), row])),
    apps: new Map(found.apps.map((row) => [row.appId, row])),
    conversions: new ConversionIndex(conversions),
    subIds: new Map(found.contexts.map((row) => [appUserKey(row), row])),
    trusted: new Set(found.trusted.map(appOfferKey)),
    denied: new Set(found.denied.map(appOfferKey)),
    banned: new Set(found.banned.map(banKey)),
    keys: await readKeys(trx, keyed, now),
    rules: found.rules,
    counts: new Map([
      ...found.counts.map(({ place, count }) => [userCountKey(found.users[place - 1] as Subject), count] as const),
      ...(await countAddresses(trx, [...clicks.values(), ...latest], now)),
    ]),
  }
}

// Lists are JSON: one statement, one result, one plan for any batch. Each ORDER BY names all columns of its index:
// ordered by the ID alone, a plan might scan all IDs instead. Most of the users (s) have no history (h), and nothing is
// looked up for those.
type Found = {
  offers: OfferVersion[]
  apps: AppSnapshot[]
  conversions: Record<string, unknown>[]
  latest: ClickRow[]
  contexts: Selected<UserContexts, typeof CONTEXT_COLUMNS>[]
  trusted: { appId: number; offerId: number }[]
  denied: { appId: number; offerId: number }[]
  banned: { appId: number; userId: string }[]
  rules: FraudRule[]
  counts: { place: number; count: number }[]
  moves: number
}

const CONTEXT = sql.raw(camelColumns('u', CONTEXT_COLUMNS))
const APP = sql.raw(
  `${camelColumns('apps', APP_COLUMNS)}, publishers.share_ppm AS "sharePpm", p.events AS "postbackEvents"`,
)

const saleAt = (now: Date) =>
  sql`CASE WHEN apps.sale_starts_at <= ${now}::timestamptz AND apps.sale_ends_at > ${now}::timestamptz THEN apps.sale_multiplier_ppm END`

const list = (query: RawBuilder<unknown>) => sql`coalesce((SELECT json_agg(row_to_json(x)) FROM (${query}) x), '[]')`

async function queryContext(trx: Trx, batch: Batch, windowS: number): Promise<Found & { users: Subject[] }> {
  const { commands, subjects, now } = batch
  const users = subjects.filter((subject) => subject !== null)
  const reports = commands.filter((command) => command.kind === 'report')
  const named = commands.filter((command) => command.kind === 'report' || command.kind === 'confirmation')
  // Clicks are in many partitions; a batch without reports does not open them.
  const [name, latest] =
    reports.length > 0
      ? [sql.raw('/* commands-report-context */'), list(latestClicks('r', { now, windowS }))]
      : [sql.raw('/* commands-context */'), sql`'[]'::json`]
  const { rows } = await sql<Found>`${name}
    WITH s AS MATERIALIZED (
      SELECT * FROM unnest(${users.map((one) => one.appId)}::bigint[], ${users.map((one) => one.isTest)}::boolean[],
        ${users.map((one) => one.userId)}::text[], ${users.map((one) => one.offerId)}::bigint[])
        WITH ORDINALITY AS s (app_id, is_test, user_id, offer_id, place)
    ), h AS MATERIALIZED (
      SELECT * FROM s WHERE EXISTS (SELECT FROM conversions c WHERE c.app_id = s.app_id AND c.user_id = s.user_id)
    ), r AS MATERIALIZED (
      SELECT DISTINCT * FROM unnest(${reports.map((one) => one.appId)}::bigint[], ${reports.map((one) => one.isTest)}::boolean[],
        ${reports.map((one) => one.userId)}::text[], ${reports.map((one) => one.offerId)}::bigint[]) AS r (app_id, is_test, user_id, offer_id)
    ), t AS MATERIALIZED (SELECT ${named.flatMap((one) => one.transactionId ?? [])}::text[] AS ids)
    SELECT
      ${list(sql`SELECT o.offer_id AS "offerId", o.changed_xid::text AS version FROM (SELECT DISTINCT offer_id FROM s) k JOIN offers o USING (offer_id)`)} AS offers,
      ${list(sql`SELECT ${APP}, ${saleAt(now)} AS "multiplierPpm" FROM (SELECT DISTINCT app_id FROM s) k JOIN apps USING (app_id) JOIN publishers USING (publisher_id) LEFT JOIN postback_settings p USING (app_id)`)} AS apps,
      ${list(batchConversions(batch))} AS conversions,
      ${latest} AS latest,
      ${list(sql`SELECT ${CONTEXT} FROM (SELECT DISTINCT app_id, user_id, is_test FROM r) k
        JOIN user_contexts u USING (app_id, user_id, is_test)`)} AS contexts,
      ${list(sql`SELECT t.app_id AS "appId", t.offer_id AS "offerId" FROM (SELECT DISTINCT app_id, offer_id FROM r) k
        JOIN trusted_offers t USING (app_id, offer_id)`)} AS trusted,
      ${list(sql`SELECT k.app_id AS "appId", k.offer_id AS "offerId" FROM (SELECT DISTINCT app_id, offer_id FROM r) k
        JOIN apps a ON a.app_id = k.app_id JOIN publishers p ON p.publisher_id = a.publisher_id
        LEFT JOIN publisher_offers o ON o.publisher_id = p.publisher_id AND o.offer_id = k.offer_id
        WHERE NOT coalesce(o.is_allowed, NOT p.only_listed_offers)`)} AS denied,
      ${list(sql`SELECT s.app_id AS "appId", s.user_id AS "userId" FROM s JOIN banned_users b ON b.user_id = s.user_id
        AND (b.app_id = s.app_id OR b.app_id IS NULL)`)} AS banned,
      ${list(sql`SELECT offer_id AS "offerId", signal, threshold, action FROM fraud_rules
        WHERE offer_id IS NULL OR offer_id IN (SELECT offer_id FROM s)`)} AS rules,
      ${list(sql`SELECT h.place, (SELECT count(*) FROM (SELECT FROM conversions c WHERE c.app_id = h.app_id AND c.user_id = h.user_id
            AND c.conversion_id >= ${uuid7Floor(now.getTime() - HOUR_MS)}::uuid AND NOT c.is_test ORDER BY c.app_id, c.user_id, c.conversion_id LIMIT ${MAX_COUNTED}::integer) n) AS count
        FROM h WHERE NOT h.is_test`)} AS counts,
      (SELECT moves FROM erasure_moves) AS moves`.execute(trx)
  const [found] = rows
  if (found === undefined) throw new Error('The query for the context returned no row.')
  return { ...found, users }
}

/**
 * What pending conversions' days have paid, where a daily cap may refuse a raised amount. Read from conversions,
 * because usage covers only recent days. Runs under the usage lock, so that two batches see each other.
 */
async function addEarlierDays(
  trx: Trx,
  locked: Map<number, Omit<OfferUsage, 'earlier'>>,
  offers: DecisionContext['offers'],
  conversions: readonly Conversion[],
  today: number,
): Promise<Map<number, OfferUsage>> {
  const usage = new Map([...locked].map(([id, used]) => [id, { ...used, earlier: new Map<number, Worth>() }]))
  const isLimited = (id: number) => {
    const { caps, overCap } = offers.get(id) ?? {}
    return overCap === 'reject' && (caps?.dailyPayoutMicros ?? caps?.dailyRevenueMicros ?? null) !== null
  }
  const pending = conversions.filter(
    (one) => one.status === 'pending' && !one.isTest && usage.has(one.offerId) && isLimited(one.offerId),
  )
  const days = pending.map((one) => ({ offerId: one.offerId, day: dayNumber(one.createdAt) }))
  const asked = days.filter(({ day }) => day !== today)
  if (asked.length === 0) return usage
  const { rows } = await sql<Worth & { offerId: number; day: number }>`/* commands-days */
    SELECT k.offer_id AS "offerId", k.day, worth.* FROM (SELECT DISTINCT * FROM unnest(${asked.map((one) => one.offerId)}::bigint[], ${asked.map((one) => one.day)}::integer[],
      ${asked.map((one) => startOf(one.day))}::timestamptz[]) AS k (offer_id, day, starts_at)) k
    CROSS JOIN LATERAL (SELECT coalesce(sum(c.payout_micros), 0)::bigint AS "payoutMicros", coalesce(sum(c.revenue_micros), 0)::bigint AS "revenueMicros"
      FROM conversions c WHERE c.offer_id = k.offer_id AND c.created_at >= k.starts_at AND c.created_at < k.starts_at + interval '1 day'
        AND NOT c.is_test AND c.status IN ('pending', 'approved')) worth`.execute(trx)
  for (const { offerId, day, ...worth } of rows) usage.get(offerId)?.earlier.set(day, worth)
  return usage
}

async function readKeys(trx: Trx, keyed: readonly Report[], now: Date): Promise<DecisionContext['keys']> {
  if (keyed.length === 0) return new Map()
  const { rows } = await sql<{ name: string; request: string; conversionId: string }>`/* commands-keys */
    SELECT k.name, i.request, i.conversion_id AS "conversionId" FROM unnest(${keyed.map((one) => one.appId)}::bigint[], ${keyed.map((one) => one.isTest)}::boolean[],
      ${keyed.map((one) => one.idempotencyKey)}::text[], ${keyed.map(idempotencyKey)}::text[]) AS k (app_id, is_test, key, name)
    JOIN idempotency_keys i USING (app_id, is_test, key)
    WHERE i.created_at > ${new Date(now.getTime() - DAY_MS)}`.execute(trx)
  return new Map(rows.map(({ name, ...kept }) => [name, kept]))
}

/** For fraud rules: how many other users converted from a click's IP address within a day. */
async function countAddresses(trx: Trx, clicks: readonly ClickSnapshot[], now: Date): Promise<Map<string, number>> {
  const visits = clicks.filter((click) => click.ip !== null && !click.isTest)
  if (visits.length === 0) return new Map()
  const { rows } = await sql<{ name: string; count: number }>`/* commands-addresses */
    SELECT k.name, (SELECT count(DISTINCT (s.app_id, s.user_id)) FROM (SELECT c.app_id, c.user_id FROM conversions c WHERE c.ip = k.ip::inet
        AND c.created_at > ${new Date(now.getTime() - DAY_MS)} AND NOT c.is_test AND (c.app_id, c.user_id) <> (k.app_id, k.user_id)
        LIMIT ${MAX_COUNTED}::integer) s) AS count
      FROM unnest(${visits.map((one) => one.appId)}::bigint[], ${visits.map((one) => one.userId)}::text[], ${visits.map((one) => one.ip)}::text[],
        ${visits.map(addressCountKey)}::text[]) AS k (app_id, user_id, ip, name)`.execute(trx)
  return new Map(rows.map((row) => [row.name, row.count]))
}
