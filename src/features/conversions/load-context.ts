// Loads the context of a batch in a few statements, whatever its size, under the locks that apply-commands.ts holds.
import { type RawBuilder, sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { dayNumber, lockUsage, type OfferUsage, startOf } from '../offers/caps.ts'
import type { Command, Report } from './commands.ts'
import { type Conversion, conversionOfJson } from './conversions.ts'
import {
  addressCountKey,
  type AppSnapshot,
  appUserKey,
  type ClickSnapshot,
  type DecisionContext,
  idempotencyKey,
  type SubIds,
  type Subject,
  userCountKey,
} from './decision-context.ts'
import type { Action, Signal } from './fraud.ts'
import type { DroppedClicks } from './dropped-clicks.ts'
import { ConversionIndex, userKey } from './conversion-index.ts'
import { clickOfJson, type ClickJson, latestClicks } from './latest-clicks.ts'
import type { OfferCache, OfferVersion } from './offer-cache.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

export type ContextRequest = {
  commands: readonly Command[]
  subjects: readonly (Subject | null)[]
  clicks: Map<string, ClickSnapshot>
  dropped: DroppedClicks
  offerCache: OfferCache
  now: Date
  day: number
  /** The maximum age of a click that a report can count for. */
  windowS: number
}

export async function loadContext(trx: Trx, request: ContextRequest): Promise<DecisionContext> {
  const { commands, clicks, offerCache, day } = request
  let found = await queryContext(trx, request)
  const offers = await offerCache.read(trx, found.offers)
  const capped = [...offers.values()].filter((offer) => offer.is_capped).map((offer) => offer.offer_id)
  const locked = capped.length === 0 ? new Map<number, never>() : await lockUsage(trx, capped, day)
  // While we waited for the usage lock, a click may have been recorded that these reports are about.
  if (capped.length > 0) found = await queryContext(trx, request)
  const conversions = found.conversions.map(conversionOfJson)
  const mayRaise = commands.some((command) => command.kind === 'confirmation')
  const usage = await addEarlierDays(trx, locked, offers, mayRaise ? conversions : [], day)
  const reports = commands.filter((command) => command.kind === 'report')
  const latest = found.latest.map(clickOfJson)
  const keyed = reports.filter((report) => report.idempotencyKey !== null)
  return {
    offers,
    usage,
    clicks: new Map([...clicks, ...request.dropped.clicks]),
    ambiguous: request.dropped.ambiguous,
    latestClicks: new Map(latest.map((row) => [userKey(row), row])),
    apps: new Map(found.apps.map((row) => [row.app_id, row])),
    conversions: new ConversionIndex(conversions),
    subIds: new Map(found.contexts.map((row) => [appUserKey(row), row])),
    trusted: new Set(found.trusted.map((row) => `${row.app_id}|${row.offer_id}`)),
    denied: new Set(found.denied.map((row) => `${row.app_id}|${row.offer_id}`)),
    banned: new Set(found.banned.map((row) => `${row.app_id}|${row.user_id}`)),
    keys: await readKeys(trx, keyed, request.now),
    rules: found.rules.map((row) => ({
      offerId: row.offer_id,
      signal: row.signal,
      threshold: row.threshold,
      action: row.action,
    })),
    counts: new Map([
      ...found.counts.map(({ place, count }) => [userCountKey(found.users[place - 1] as Subject), count] as const),
      ...(await countAddresses(trx, [...clicks.values(), ...latest], request.now)),
    ]),
  }
}

// Most of the users (s) have no history (h), and nothing is looked up for those.
//
// `IS NOT NULL` beside `= ANY`: an array may be empty, so the planner would not use a partial index that excludes null.
// `OFFSET 0`: otherwise the planner reads all conversions of the user, expecting few.
//
// Lists are JSON: one statement, one result, one plan for any batch. Each ORDER BY names all columns of its index:
// ordered by the ID alone, a plan might scan all IDs instead.
type Found = {
  offers: OfferVersion[]
  apps: AppSnapshot[]
  conversions: Record<string, unknown>[]
  latest: ClickJson[]
  contexts: (SubIds & { app_id: number; is_test: boolean; user_id: string })[]
  trusted: { app_id: number; offer_id: number }[]
  denied: { app_id: number; offer_id: number }[]
  banned: { app_id: number; user_id: string }[]
  rules: { offer_id: number | null; signal: Signal; threshold: number | null; action: Action }[]
  counts: { place: number; count: number }[]
}

const list = (query: RawBuilder<unknown>) => sql`coalesce((SELECT json_agg(row_to_json(x)) FROM (${query}) x), '[]')`

async function queryContext(
  trx: Trx,
  { commands, subjects, dropped, now, windowS }: ContextRequest,
): Promise<Found & { users: Subject[] }> {
  const users = subjects.filter((subject) => subject !== null)
  const reports = commands.filter((command) => command.kind === 'report')
  const named = commands.filter((command) => command.kind === 'report' || command.kind === 'confirmation')
  const confirmations = commands.filter((command) => command.kind === 'confirmation')
  const moved = commands.flatMap((command) => ('conversionId' in command ? [command.conversionId] : []))
  const ids = [...moved, ...dropped.conversionIds]
  // Clicks are in many partitions; a batch without reports does not open them.
  const [name, latest] =
    reports.length > 0
      ? [sql.raw('/* commands-report-context */'), list(latestClicks('r', { now, windowS }))]
      : [sql.raw('/* commands-context */'), sql`'[]'::json`]
  const { rows } = await sql<Found>`${name}
    WITH s AS MATERIALIZED (
      SELECT * FROM unnest(${users.map((one) => one.app_id)}::bigint[], ${users.map((one) => one.is_test)}::boolean[],
        ${users.map((one) => one.user_id)}::text[], ${users.map((one) => one.offer_id)}::bigint[])
        WITH ORDINALITY AS s (app_id, is_test, user_id, offer_id, place)
    ), h AS MATERIALIZED (
      SELECT * FROM s WHERE EXISTS (SELECT FROM conversions c WHERE c.app_id = s.app_id AND c.user_id = s.user_id)
    ), r AS MATERIALIZED (
      SELECT DISTINCT * FROM unnest(${reports.map((one) => one.appId)}::bigint[], ${reports.map((one) => one.isTest)}::boolean[],
        ${reports.map((one) => one.userId)}::text[], ${reports.map((one) => one.offerId)}::bigint[]) AS r (app_id, is_test, user_id, offer_id)
    ), t AS MATERIALIZED (SELECT ${named.flatMap((one) => one.transactionId ?? [])}::text[] AS ids)
    SELECT
      ${list(sql`SELECT o.offer_id, o.changed_xid::text FROM (SELECT DISTINCT offer_id FROM s) k JOIN offers o USING (offer_id)`)} AS offers,
      ${list(sql`SELECT app_id, publisher_id, currency, rate_micros, share_ppm, blocked_categories, blocked_keywords, payment_offers
        FROM (SELECT DISTINCT app_id FROM s) k JOIN apps USING (app_id) JOIN publishers USING (publisher_id)`)} AS apps,
      ${list(sql`SELECT c.* FROM (SELECT DISTINCT app_id, user_id, offer_id FROM h) k CROSS JOIN LATERAL (
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status IN ('pending', 'approved') AND NOT c.is_repeatable) once
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status IN ('rejected', 'reversed') AND NOT c.is_repeatable
              ORDER BY c.app_id DESC, c.user_id DESC, c.offer_id DESC, c.conversion_id DESC LIMIT ${MAX_UNDONE}::integer) undone
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.bars_redo ORDER BY c.app_id, c.user_id, c.offer_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) over
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status = 'rejected' AND c.is_repeatable
              AND c.publisher_transaction_id IS NOT NULL AND c.publisher_transaction_id = ANY ((SELECT ids FROM t)::text[])
              ORDER BY c.app_id, c.user_id, c.offer_id, c.publisher_transaction_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) refused_report
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status = 'rejected' AND c.is_repeatable
              AND c.advertiser_transaction_id IS NOT NULL AND c.advertiser_transaction_id = ANY ((SELECT ids FROM t)::text[])
              ORDER BY c.app_id, c.user_id, c.offer_id, c.advertiser_transaction_id, c.conversion_id LIMIT ${MAX_UNDONE}::integer) refused
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status <> 'rejected' AND c.is_repeatable
              AND c.publisher_transaction_id IS NOT NULL AND c.publisher_transaction_id = ANY ((SELECT ids FROM t)::text[])
              ORDER BY c.app_id, c.user_id, c.offer_id, c.goal_id, c.is_test, c.publisher_transaction_id) reported
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.advertiser_id = (SELECT advertiser_id FROM offers o WHERE o.offer_id = k.offer_id)
              AND c.advertiser_transaction_id IS NOT NULL AND c.advertiser_transaction_id = ANY ((SELECT ids FROM t)::text[])
              AND c.offer_id = k.offer_id AND c.status <> 'rejected'
              ORDER BY c.advertiser_id, c.advertiser_transaction_id, c.offer_id, c.goal_id, c.is_test OFFSET 0) confirmed
              WHERE confirmed.app_id = k.app_id AND confirmed.user_id = k.user_id AND confirmed.is_repeatable
            UNION ALL
            SELECT * FROM (SELECT * FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id AND c.offer_id = k.offer_id
              AND c.status IN ('pending', 'approved') AND c.is_repeatable
              AND (c.publisher_transaction_id IS NULL OR c.advertiser_transaction_id IS NULL)
              ORDER BY c.app_id, c.user_id, c.offer_id, c.conversion_id LIMIT ${MAX_ADOPTABLE}::integer) adoptable) c
        UNION ALL
        SELECT c.* FROM (SELECT DISTINCT * FROM unnest(${confirmations.map((one) => one.advertiserId)}::bigint[],
            ${confirmations.map((one) => one.transactionId)}::text[]) AS k (advertiser_id, txn)) k
          CROSS JOIN LATERAL (SELECT * FROM conversions c WHERE c.advertiser_id = k.advertiser_id AND c.advertiser_transaction_id = k.txn
            AND c.status <> 'rejected' AND c.offer_id IN (SELECT offer_id FROM s)
            ORDER BY c.advertiser_id, c.advertiser_transaction_id, c.offer_id, c.goal_id, c.is_test) c
        UNION ALL
        SELECT c.* FROM conversions c WHERE c.conversion_id = ANY (${ids}::uuid[])`)} AS conversions,
      ${latest} AS latest,
      ${list(sql`SELECT u.* FROM (SELECT DISTINCT app_id, user_id, is_test FROM r) k
        JOIN user_contexts u USING (app_id, user_id, is_test)`)} AS contexts,
      ${list(sql`SELECT t.app_id, t.offer_id FROM (SELECT DISTINCT app_id, offer_id FROM r) k
        JOIN trusted_offers t USING (app_id, offer_id)`)} AS trusted,
      ${list(sql`SELECT k.app_id, k.offer_id FROM (SELECT DISTINCT app_id, offer_id FROM r) k
        JOIN apps a ON a.app_id = k.app_id JOIN publishers p ON p.publisher_id = a.publisher_id
        LEFT JOIN publisher_offers o ON o.publisher_id = p.publisher_id AND o.offer_id = k.offer_id
        WHERE NOT coalesce(o.is_allowed, NOT p.only_listed_offers)`)} AS denied,
      ${list(sql`SELECT s.app_id, s.user_id FROM s JOIN banned_users b ON b.user_id = s.user_id
        AND (b.app_id = s.app_id OR b.app_id IS NULL)`)} AS banned,
      ${list(sql`SELECT offer_id, signal, threshold, action FROM fraud_rules
        WHERE offer_id IS NULL OR offer_id IN (SELECT offer_id FROM s)`)} AS rules,
      ${list(sql`SELECT h.place, (SELECT count(*) FROM (SELECT FROM conversions c WHERE c.app_id = h.app_id AND c.user_id = h.user_id
            AND c.conversion_id >= ${uuid7Floor(now.getTime() - HOUR_MS)}::uuid AND NOT c.is_test ORDER BY c.app_id, c.user_id, c.conversion_id LIMIT ${MAX_COUNTED}::integer) n) AS count
        FROM h WHERE NOT h.is_test`)} AS counts`.execute(trx)
  const [found] = rows
  if (found === undefined) throw new Error('No context were found.')
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
  const usage = new Map([...locked].map(([id, used]) => [id, { ...used, earlier: new Map<number, number>() }]))
  const isLimited = (id: number) => {
    const { caps, over_cap } = offers.get(id) ?? {}
    return over_cap === 'reject' && caps?.dailyPayoutMicros != null
  }
  const pending = conversions.filter(
    (one) => one.status === 'pending' && !one.is_test && usage.has(one.offer_id) && isLimited(one.offer_id),
  )
  const days = pending.map((one) => ({ offer_id: one.offer_id, day: dayNumber(one.created_at) }))
  const asked = days.filter(({ day }) => day !== today)
  if (asked.length === 0) return usage
  const { rows } = await sql<{ offer_id: number; day: number; micros: number }>`/* commands-days */
    SELECT k.offer_id, k.day, (SELECT coalesce(sum(c.payout_micros), 0)::bigint FROM conversions c WHERE c.offer_id = k.offer_id
        AND c.created_at >= k.starts_at AND c.created_at < k.starts_at + interval '1 day' AND NOT c.is_test
        AND c.status IN ('pending', 'approved')) AS micros
    FROM (SELECT DISTINCT * FROM unnest(${asked.map((one) => one.offer_id)}::bigint[], ${asked.map((one) => one.day)}::integer[],
      ${asked.map((one) => startOf(one.day))}::timestamptz[]) AS k (offer_id, day, starts_at)) k`.execute(trx)
  for (const { offer_id, day, micros } of rows) usage.get(offer_id)?.earlier.set(day, micros)
  return usage
}

async function readKeys(trx: Trx, keyed: readonly Report[], now: Date): Promise<DecisionContext['keys']> {
  if (keyed.length === 0) return new Map()
  const { rows } = await sql<{ name: string; request: string; conversion_id: string }>`/* commands-keys */
    SELECT k.name, i.request, i.conversion_id FROM unnest(${keyed.map((one) => one.appId)}::bigint[], ${keyed.map((one) => one.isTest)}::boolean[],
      ${keyed.map((one) => one.idempotencyKey)}::text[], ${keyed.map(idempotencyKey)}::text[]) AS k (app_id, is_test, key, name)
    JOIN idempotency_keys i USING (app_id, is_test, key)
    WHERE i.created_at > ${new Date(now.getTime() - DAY_MS)}`.execute(trx)
  return new Map(rows.map((row) => [row.name, { request: row.request, conversionId: row.conversion_id }]))
}

// Limits for extreme cases, so that they do not slow down everything else.
const MAX_UNDONE = 50
const MAX_ADOPTABLE = 200
const MAX_COUNTED = 2_000 // more than any sensible threshold

/** For fraud rules: how many other users converted from a click's IP address within a day. */
async function countAddresses(trx: Trx, clicks: readonly ClickSnapshot[], now: Date): Promise<Map<string, number>> {
  const visits = clicks.filter((click) => click.ip !== null && !click.is_test)
  if (visits.length === 0) return new Map()
  const { rows } = await sql<{ name: string; count: number }>`/* commands-addresses */
    SELECT k.name, (SELECT count(DISTINCT (s.app_id, s.user_id)) FROM (SELECT c.app_id, c.user_id FROM conversions c WHERE c.ip = k.ip::inet
        AND c.created_at > ${new Date(now.getTime() - DAY_MS)} AND NOT c.is_test AND (c.app_id, c.user_id) <> (k.app_id, k.user_id)
        LIMIT ${MAX_COUNTED}::integer) s) AS count
      FROM unnest(${visits.map((one) => one.app_id)}::bigint[], ${visits.map((one) => one.user_id)}::text[], ${visits.map((one) => one.ip)}::text[],
        ${visits.map(addressCountKey)}::text[]) AS k (app_id, user_id, ip, name)`.execute(trx)
  return new Map(rows.map((row) => [row.name, row.count]))
}
