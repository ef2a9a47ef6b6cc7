// Everything a batch of commands is decided on, read in a few statements whatever the size of the batch, under the locks
// that settle.ts took. Deciding a command changes the facts for those behind it.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { type Caps, lockUsage, type Usage } from '../offers/caps.ts'
import type { Change, Command, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import { type FraudRule, readFraudRules } from './fraud.ts'
import { KnownConversions, userKey } from './known.ts'

export type GoalTerms = {
  payout_micros: number
  revenue_micros: number
  payout_ppm: number | null
  revenue_ppm: number | null
}

export type GoalFacts = GoalTerms & { goal_id: number; name: string; is_retired: boolean; is_repeatable: boolean }

export type OfferFacts = {
  offer_id: number
  advertiser_id: number
  name: string
  description: string
  category: string
  payment_required: boolean
  status: string
  starts_at: Date | null
  ends_at: Date | null
  over_cap: string
  hold_s: number
  is_capped: boolean
  caps: Caps
  /** In their order, the retired ones among them. */
  goals: GoalFacts[]
}

export type AppFacts = {
  app_id: number
  publisher_id: number
  currency: string
  rate_micros: number
  blocked_categories: string[]
  blocked_keywords: string[]
  payment_offers: boolean
}

export type ClickFacts = {
  click_id: string
  clicked_at: Date
  app_id: number
  is_test: boolean
  user_id: string
  offer_id: number
  currency: string
  rate_micros: number
  aff_sub: string | null
  aff_sub2: string | null
  aff_sub3: string | null
  aff_sub4: string | null
  ip: string | null
  country: string | null
  device: string | null
  signals: string[] | null
  attribution_s: number
  terms: Record<string, GoalTerms>
}

export type SubIds = Pick<ClickFacts, 'aff_sub' | 'aff_sub2' | 'aff_sub3' | 'aff_sub4'>

export type Facts = {
  offers: Map<number, OfferFacts>
  apps: Map<number, AppFacts>
  clicks: Map<string, ClickFacts>
  /** The latest click of a user on an offer, by `userKey`. */
  latestClicks: Map<string, ClickFacts>
  conversions: KnownConversions
  contexts: Map<string, SubIds>
  trusted: Set<string>
  keys: Map<string, { request: string; conversionId: string }>
  rules: FraudRule[]
  usage: Map<number, { today: Usage; total: Usage }>
  /** By user and by address: how many conversions, how many other users. */
  counts: Map<string, number>
}

export const appUserKey = (of: { app_id: number; is_test: boolean; user_id: string }) =>
  `${of.app_id}|${of.is_test ? 't' : 'l'}|${of.user_id}`

export const idempotencyKey = ({ appId, isTest, idempotencyKey: key }: Report) =>
  `${appId}|${isTest ? 't' : 'l'}|${key ?? ''}`

/** What a command is about, known before anything is locked: clicks never change, nor does what a conversion is of. */
export type Subject = { app_id: number; is_test: boolean; user_id: string; offer_id: number }

const DAY_MS = 86_400_000
const LONGEST_ATTRIBUTION_MS = 366 * DAY_MS

export async function readClicks(db: Db, clickIds: string[]): Promise<Map<string, ClickFacts>> {
  if (clickIds.length === 0) return new Map()
  const { rows } = await sql<ClickFacts>`
    SELECT c.*, t.attribution_s, t.goals AS terms FROM unnest(${clickIds}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (SELECT ${CLICK_COLUMNS}, terms_id FROM clicks WHERE click_id = wanted.id) c
    JOIN terms t ON t.terms_id = c.terms_id`.execute(db)
  return new Map(rows.map((row) => [row.click_id, row]))
}

const CLICK_COLUMNS = sql.raw(
  'click_id, clicked_at, app_id, is_test, user_id, offer_id, currency, rate_micros, aff_sub, aff_sub2, aff_sub3, aff_sub4, host(ip) AS ip, country, device, signals',
)

export type FactsRequest = {
  commands: readonly Command[]
  subjects: readonly (Subject | null)[]
  clicks: Map<string, ClickFacts>
  now: Date
  day: number
}

export async function readFacts(trx: Trx, request: FactsRequest): Promise<Facts> {
  const { commands, clicks, now, day } = request
  const subjects = request.subjects.filter((subject) => subject !== null)
  const reports = commands.filter((command) => command.kind === 'report')
  const offers = await readOffers(trx, [...new Set(subjects.map((subject) => subject.offer_id))])
  const capped = [...offers.values()].filter((offer) => offer.is_capped).map((offer) => offer.offer_id)
  const usage = capped.length === 0 ? new Map() : await lockUsage(trx, capped, day)
  const latestClicks = await readLatestClicks(trx, reports, now)
  return {
    offers,
    usage,
    clicks,
    latestClicks,
    apps: await readApps(trx, [...new Set(subjects.map((subject) => subject.app_id))]),
    conversions: await readConversions(trx, subjects, commands),
    contexts: await readContexts(trx, reports),
    trusted: await readTrusted(trx, reports),
    keys: await readKeys(trx, reports, now),
    rules: await readFraudRules(trx),
    counts: await readCounts(trx, subjects, [...clicks.values(), ...latestClicks.values()], now),
  }
}

export const subjectOf = (report: Report): Subject => ({
  app_id: report.appId,
  is_test: report.isTest,
  user_id: report.userId,
  offer_id: report.offerId,
})

async function readOffers(trx: Trx, offerIds: number[]): Promise<Map<number, OfferFacts>> {
  const { rows } = await sql<OfferFacts & Record<string, number | null>>`
    SELECT o.offer_id, o.advertiser_id, o.name, o.description, o.category, o.payment_required, o.status, o.starts_at, o.ends_at,
      o.over_cap, o.hold_s, o.is_capped, o.daily_click_cap, o.total_click_cap, o.daily_conversion_cap, o.total_conversion_cap,
      o.daily_payout_cap_micros, o.total_payout_cap_micros,
      (SELECT json_agg(json_build_object('goal_id', g.goal_id, 'name', g.name, 'is_retired', g.is_retired,
        'is_repeatable', g.is_repeatable, 'payout_micros', g.payout_micros, 'revenue_micros', g.revenue_micros,
        'payout_ppm', g.payout_ppm, 'revenue_ppm', g.revenue_ppm) ORDER BY g.place, g.goal_id)
        FROM goals g WHERE g.offer_id = o.offer_id) AS goals
    FROM offers o WHERE o.offer_id = ANY (${offerIds})`.execute(trx)
  return new Map(
    rows.map((row) => [
      row.offer_id,
      {
        ...row,
        caps: {
          dailyClicks: row['daily_click_cap'] ?? null,
          totalClicks: row['total_click_cap'] ?? null,
          dailyConversions: row['daily_conversion_cap'] ?? null,
          totalConversions: row['total_conversion_cap'] ?? null,
          dailyPayoutMicros: row['daily_payout_cap_micros'] ?? null,
          totalPayoutMicros: row['total_payout_cap_micros'] ?? null,
        },
      },
    ]),
  )
}

async function readApps(trx: Trx, appIds: number[]): Promise<Map<number, AppFacts>> {
  const rows = await trx
    .selectFrom('apps')
    .select(['app_id', 'publisher_id', 'currency', 'rate_micros'])
    .select(['blocked_categories', 'blocked_keywords', 'payment_offers'])
    .where((is) => is('app_id', '=', is.fn.any(is.val(appIds))))
    .execute()
  return new Map(rows.map((row) => [row.app_id, row]))
}

/** All that these commands may speak of. Of what repeats, only what is named or could be adopted. */
async function readConversions(
  trx: Trx,
  subjects: readonly Subject[],
  commands: readonly Command[],
): Promise<KnownConversions> {
  const named = commands.filter((command) => command.kind === 'report' || command.kind === 'confirmation')
  const transactions = named.flatMap((command) => command.transactionId ?? [])
  const confirmations = commands.filter((command) => command.kind === 'confirmation' && command.transactionId !== null)
  const ids = commands.flatMap((command) => ('conversionId' in command ? [command.conversionId] : []))
  const { rows } = await sql<Conversion>`
    SELECT c.* FROM (SELECT DISTINCT * FROM unnest(${subjects.map((one) => one.app_id)}::bigint[],
        ${subjects.map((one) => one.user_id)}::text[], ${subjects.map((one) => one.offer_id)}::bigint[]) AS k (app_id, user_id, offer_id)) k
      JOIN conversions c USING (app_id, user_id, offer_id)
      WHERE NOT c.is_repeatable OR c.status = 'pending'
        OR c.publisher_transaction_id = ANY (${transactions}) OR c.advertiser_transaction_id = ANY (${transactions})
    UNION
    SELECT c.* FROM unnest(${confirmations.map((one) => (one.kind === 'confirmation' ? one.advertiserId : 0))}::bigint[],
        ${confirmations.map((one) => (one.kind === 'confirmation' ? one.transactionId : ''))}::text[]) AS k (advertiser_id, txn)
      JOIN conversions c ON c.advertiser_id = k.advertiser_id AND c.advertiser_transaction_id = k.txn
        AND c.status <> 'rejected' AND c.offer_id = ANY (${[...new Set(subjects.map((one) => one.offer_id))]})
    UNION
    SELECT c.* FROM conversions c WHERE c.conversion_id = ANY (${ids}::uuid[])`.execute(trx)
  return new KnownConversions(rows)
}

/** Each user's latest click on the offer, newest partition first; for the few who have none, a look into each. */
async function readLatestClicks(trx: Trx, reports: readonly Report[], now: Date): Promise<Map<string, ClickFacts>> {
  if (reports.length === 0) return new Map()
  const from = uuid7Floor(now.getTime() - LONGEST_ATTRIBUTION_MS)
  const to = uuid7Floor(now.getTime() + DAY_MS)
  const { rows } = await sql<ClickFacts>`
    SELECT c.*, t.attribution_s, t.goals AS terms
    FROM (SELECT DISTINCT * FROM unnest(${reports.map((one) => one.appId)}::bigint[], ${reports.map((one) => one.isTest)}::boolean[],
      ${reports.map((one) => one.userId)}::text[], ${reports.map((one) => one.offerId)}::bigint[]) AS k (app_id, is_test, user_id, offer_id)) k
    CROSS JOIN LATERAL (
      SELECT ${CLICK_COLUMNS}, terms_id FROM clicks
      WHERE clicks.app_id = k.app_id AND clicks.user_id = k.user_id AND clicks.offer_id = k.offer_id AND clicks.is_test = k.is_test
        AND click_id >= ${from}::uuid AND click_id < ${to}::uuid
      ORDER BY click_id DESC LIMIT 1) c
    JOIN terms t ON t.terms_id = c.terms_id`.execute(trx)
  return new Map(rows.map((row) => [userKey(row), row]))
}

async function readContexts(trx: Trx, reports: readonly Report[]): Promise<Map<string, SubIds>> {
  if (reports.length === 0) return new Map()
  const { rows } = await sql<SubIds & { app_id: number; is_test: boolean; user_id: string }>`
    SELECT u.* FROM (SELECT DISTINCT * FROM unnest(${reports.map((one) => one.appId)}::bigint[], ${reports.map((one) => one.userId)}::text[],
      ${reports.map((one) => one.isTest)}::boolean[]) AS k (app_id, user_id, is_test)) k
    JOIN user_contexts u USING (app_id, user_id, is_test)`.execute(trx)
  return new Map(rows.map((row) => [appUserKey(row), row]))
}

async function readTrusted(trx: Trx, reports: readonly Report[]): Promise<Set<string>> {
  if (reports.length === 0) return new Set()
  const { rows } = await sql<{ app_id: number; offer_id: number }>`
    SELECT t.app_id, t.offer_id FROM (SELECT DISTINCT * FROM unnest(${reports.map((one) => one.appId)}::bigint[],
      ${reports.map((one) => one.offerId)}::bigint[]) AS k (app_id, offer_id)) k
    JOIN trusted_offers t USING (app_id, offer_id)`.execute(trx)
  return new Set(rows.map((row) => `${row.app_id}|${row.offer_id}`))
}

async function readKeys(trx: Trx, reports: readonly Report[], now: Date): Promise<Facts['keys']> {
  const keyed = reports.filter((report) => report.idempotencyKey !== null)
  if (keyed.length === 0) return new Map()
  const { rows } = await sql<{ name: string; request: string; conversion_id: string }>`
    SELECT k.name, i.request, i.conversion_id FROM unnest(${keyed.map((one) => one.appId)}::bigint[], ${keyed.map((one) => one.isTest)}::boolean[],
      ${keyed.map((one) => one.idempotencyKey)}::text[], ${keyed.map(idempotencyKey)}::text[]) AS k (app_id, is_test, key, name)
    JOIN idempotency_keys i USING (app_id, is_test, key)
    WHERE i.created_at > ${new Date(now.getTime() - DAY_MS)}`.execute(trx)
  return new Map(rows.map((row) => [row.name, { request: row.request, conversionId: row.conversion_id }]))
}

const MAX_COUNTED = 2_000 // more than any threshold that makes sense

/** For the signals of fraud: how many conversions a user had within an hour, how many users an address within a day. */
async function readCounts(
  trx: Trx,
  subjects: readonly Subject[],
  clicks: readonly ClickFacts[],
  now: Date,
): Promise<Map<string, number>> {
  const users = subjects.filter((subject) => !subject.is_test)
  const visits = clicks.filter((click) => click.ip !== null && !click.is_test)
  if (users.length === 0) return new Map()
  const anHourAgo = uuid7Floor(now.getTime() - 3_600_000)
  const aDayAgo = new Date(now.getTime() - DAY_MS)
  const { rows } = await sql<{ name: string; count: number }>`
    SELECT k.name, (SELECT count(*) FROM (SELECT FROM conversions c WHERE c.app_id = k.app_id AND c.user_id = k.user_id
        AND c.conversion_id >= ${anHourAgo}::uuid AND NOT c.is_test LIMIT ${MAX_COUNTED}) s) AS count
      FROM unnest(${users.map((one) => one.app_id)}::bigint[], ${users.map((one) => one.user_id)}::text[], ${users.map(userCountKey)}::text[]) AS k (app_id, user_id, name)
    UNION ALL
    SELECT k.name, (SELECT count(DISTINCT (s.app_id, s.user_id)) FROM (SELECT c.app_id, c.user_id FROM conversions c WHERE c.ip = k.ip::inet
        AND c.created_at > ${aDayAgo} AND NOT c.is_test AND (c.app_id, c.user_id) <> (k.app_id, k.user_id) LIMIT ${MAX_COUNTED}) s)
      FROM unnest(${visits.map((one) => one.app_id)}::bigint[], ${visits.map((one) => one.user_id)}::text[], ${visits.map((one) => one.ip)}::text[],
        ${visits.map(addressCountKey)}::text[]) AS k (app_id, user_id, ip, name)`.execute(trx)
  return new Map(rows.map((row) => [row.name, row.count]))
}

export const userCountKey = (of: { app_id: number; is_test: boolean; user_id: string }) => `user ${appUserKey(of)}`
export const addressCountKey = (click: ClickFacts) => `address ${click.ip} ${appUserKey(click)}`

/** Makes the facts true again after a change, for the commands that follow in the same batch. */
export function takeIn({ conversions, usage, counts }: Facts, { before, after }: Change, day: number): void {
  conversions.set(after)
  if (before === null) counts.set(userCountKey(after), (counts.get(userCountKey(after)) ?? 0) + 1)
  const used = usage.get(after.offer_id)
  if (used === undefined || after.is_test) return
  const { conversions: more, payoutMicros } = usageOf({ before, after })
  used.total.conversions += more
  used.total.payoutMicros += payoutMicros
  if (Math.floor(after.created_at.getTime() / DAY_MS) !== day) return
  used.today.conversions += more
  used.today.payoutMicros += payoutMicros
}

/** What a change adds to the usage of its offer's caps: they count what is neither rejected nor reversed. */
export function usageOf({ before, after }: Change): { conversions: number; payoutMicros: number } {
  const counts = (one: Conversion | null) => (one !== null && ['pending', 'approved'].includes(one.status) ? 1 : 0)
  return {
    conversions: counts(after) - counts(before),
    payoutMicros: counts(after) * after.payout_micros - counts(before) * (before?.payout_micros ?? 0),
  }
}
