// What a run begins with: apps, an advertiser and its offers, of its own; and imports that change the offers.
import { createAdvertiser } from '../../src/features/accounts/advertisers.ts'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import type { Db } from '../../src/db/open.ts'
import { describeProblems, readImportRecord } from '../../src/features/offers/import-record.ts'
import { upsertOffers } from '../../src/features/offers/upsert.ts'
import { SECRET_KEY } from '../world.ts'
import { type OfferTerms, PEOPLE, TOLD_APP } from './actions.ts'
import { SALE, SALE_APP } from './sale.ts'
import { TESTER } from '../tester.ts'

export type SystemApp = { appId: number; publisherId: number }

export async function createApps(db: Db, run: string): Promise<SystemApp[]> {
  const count = new Set(PEOPLE.map(({ app }) => app)).size
  const publishers = await Promise.all(
    Array.from({ length: count }, (_, i) => createPublisher(db, TESTER, `Publisher ${i} of ${run}`)),
  )
  // Without credentials: nothing is called by HTTP here.
  const rows = publishers.map(({ publisher_id }, app) => ({
    publisher_id,
    name: 'App',
    currency: 'Coins',
    rate_micros: 100_000_000,
    rate_limit: 1_000,
    blocked_categories: [],
    blocked_keywords: [],
    payment_offers: true,
    keeps_balance: true,
    rounding: app === SALE_APP ? 'nearest1' : null,
    sale_multiplier_ppm: app === SALE_APP ? SALE.multiplierPpm : null,
    sale_starts_at: app === SALE_APP ? SALE.startsAt : null,
    sale_ends_at: app === SALE_APP ? SALE.endsAt : null,
  }))
  const apps = await db.insertInto('apps').values(rows).returning(['app_id', 'publisher_id']).execute()
  const made = publishers.flatMap(
    ({ publisher_id }) =>
    apps.filter((app) => app.publisher_id === publisher_id).map((app) => ({ appId: app.app_id, publisherId: publisher_id })), // prettier-ignore
  )
  const url = 'https://publisher.example.com/'
  const events = ['pending', 'approved', 'rejected', 'reversed']
  await db
    .insertInto('postback_settings')
    .values({ app_id: made[TOLD_APP]?.appId ?? 0, method: 'GET', url, events })
    .execute()
  return made
}

/** The one whose offers they are, and another. */
export async function createAdvertisers(db: Db, run: string): Promise<[number, number]> {
  const make = async (name: string) => (await createAdvertiser(db, TESTER, SECRET_KEY, name)).advertiser_id
  return Promise.all([make(advertiserOf(run)), make(`Not the ${advertiserOf(run)}`)])
}

const advertiserOf = (run: string) => `Advertiser of ${run}`

export type Imported = { offer: number; terms: OfferTerms }
type ImportedGoal = { offer: number; offerId: number; key: string; goalId: number }

/** Imports offers, and returns the ids of their goals: whatever it is called by now, a goal keeps its id. */
export async function importOffers(
  db: Db,
  imported: Imported[],
  { run, hasExternalIds, now }: { run: string; hasExternalIds: boolean; now: Date },
): Promise<ImportedGoal[]> {
  const rows = imported.map(({ offer, terms }) => {
    const read = readImportRecord({ advertiser: advertiserOf(run), ...recordOf(offer, terms, hasExternalIds) })
    if ('problems' in read) throw new Error(describeProblems(read.problems))
    return { line: offer, offer: read.offer }
  })
  const { problems } = await upsertOffers(db, rows, now)
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  const goals = await db
    .selectFrom('goals')
    .innerJoin('offers', 'offers.offer_id', 'goals.offer_id')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
    .select(['goals.offer_id', 'goals.goal_id', 'goals.name', 'goals.external_id as key', 'offers.external_id'])
    .where('advertisers.name', '=', advertiserOf(run))
    .where((is) => (hasExternalIds ? is.lit(true) : is('goals.is_retired', '=', false)))
    .execute()
  return imported.flatMap(({ offer, terms }) =>
    terms.goals.map(({ key, name }) => {
      const isIt = (one: (typeof goals)[number]) => (hasExternalIds ? one.key === key : one.name === name)
      const goal = goals.find((one) => one.external_id === `offer-${offer}` && isIt(one))
      return { offer, key, offerId: goal?.offer_id ?? 0, goalId: goal?.goal_id ?? 0 }
    }),
  )
}

const dollars = (micros: number | null) => (micros === null ? null : micros / 1_000_000)
const percent = (ppm: number | null) => (ppm === null ? null : ppm / 10_000)

const recordOf = (offer: number, { caps, ...terms }: OfferTerms, hasExternalIds: boolean) => ({
  external_id: `offer-${offer}`,
  name: 'An offer',
  category: 'app',
  destination_url: 'https://ads.example.com/?c={click_id}',
  goals: terms.goals.map((goal) => ({
    ...(hasExternalIds ? { external_id: goal.key } : {}),
    name: goal.name,
    payout: dollars(goal.payoutMicros),
    revenue: dollars(goal.revenueMicros),
    is_repeatable: goal.isRepeatable,
    payout_percent: percent(goal.payoutPpm),
    revenue_percent: percent(goal.revenuePpm),
  })),
  status: terms.status,
  attribution_window: `${terms.attributionS}s`,
  hold: `${terms.holdS}s`,
  confirm_within: `${terms.confirmWithinS}s`,
  redo_after_reversal: terms.redo,
  over_cap: terms.overCap,
  daily_click_cap: caps.dailyClicks,
  total_click_cap: caps.totalClicks,
  daily_conversion_cap: caps.dailyConversions,
  total_conversion_cap: caps.totalConversions,
  daily_payout_cap: dollars(caps.dailyPayoutMicros),
  total_payout_cap: dollars(caps.totalPayoutMicros),
  daily_revenue_cap: dollars(caps.dailyRevenueMicros),
  total_revenue_cap: dollars(caps.totalRevenueMicros),
})
