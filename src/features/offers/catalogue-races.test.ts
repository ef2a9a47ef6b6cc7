// Changes, passing time and readers, all at once in one catalogue: every list is what a naive model says.
import assert from 'node:assert/strict'
import { setImmediate as breathe } from 'node:timers/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { Catalogue } from './catalogue.ts'
import type { Filter } from './filters.ts'
import { HISTORIES } from '../../../test/tier.ts'
import { type OfferRecord, rowOf } from '../../../test/offer-record.ts'
import type { OfferList } from './lists.ts'
import type { AllOffers } from './offer-rows.ts'
import type { ContentRules } from './rule-sets.ts'
import { CATEGORIES, PLATFORMS, type Sort, WALL_SORTS, type WallSort } from './choices.ts'
import { arrange, VARIANTS } from './ranking/arrange.ts'
import { isPinned, NO_RANKING, pinOf, Ranking, scoreWithin, segmentKey } from './ranking/ranking.ts'
import { NO_ESTIMATES } from './ranking/model.ts'
import { mix } from './traits.ts'

const OFFERS = 1_500
const COUNTRIES = ['US', 'DE', 'JP']
const WORDS = ['Casino', 'Bingo', 'Überweisung', '賭博', 'Puzzle', 'Quiz']
const RULES: (ContentRules | null)[] = [
  null,
  { id: 1, fingerprint: '1', blockedCategories: ['game'], blockedKeywords: ['bingo', '賭博'], paymentOffers: true, listed: null, minReward: null },
  { id: 2, fingerprint: '2', blockedCategories: [], blockedKeywords: ['überweisung'], paymentOffers: false, listed: { only: false, offerIds: [3, 1, 2] }, minReward: { steps: 10_000, rateMicros: 1_000_000, sharePpm: 1_000_000, rounding: null } },
  { id: 3, fingerprint: '3', blockedCategories: [], blockedKeywords: ['quiz'], paymentOffers: true, listed: { only: true, offerIds: Array.from({ length: OFFERS }, (_, i) => i * 2) }, minReward: null },
] // prettier-ignore
const LISTED = new Map(RULES.map((rules) => [rules, new Set(rules?.listed?.offerIds)]))
const FILTERS: { filter: Filter; sort: WallSort }[] = RULES.flatMap((rules) =>
  COUNTRIES.flatMap((country) =>
    PLATFORMS.flatMap((platform) =>
      CATEGORIES.flatMap((category) =>
        WALL_SORTS.map((sort) => ({ filter: { country, platform, category, rules }, sort })),
      ),
    ),
  ),
)

type State = { offers: Map<number, OfferRecord>; xid: number; seed: number; nowMs: number; ranking: Ranking }
const SEED = 5 // of the user who looks at recommended lists

/** Small, quick and the same for the same seed. */
function next(state: State, below: number): number {
  state.seed = (Math.imul(state.seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state.seed / 2 ** 32) * below)
}

function createOffer(state: State, offerId: number): OfferRecord {
  const some = <T>(values: readonly T[]) => values.filter(() => next(state, 2) === 0)
  const at = (within: number) => (next(state, 4) > 0 ? null : new Date(state.nowMs + next(state, within) - within / 4))
  const platforms = some(PLATFORMS)
  const offer: OfferRecord = {
    offerId,
    name: `Offer ${offerId} ${WORDS[next(state, WORDS.length)]}`,
    description: 'What is to be done',
    category: CATEGORIES[next(state, CATEGORIES.length)] ?? 'app',
    payoutMicros: next(state, 20) * 100_000,
    countries: some(COUNTRIES),
    platforms: platforms.length === 0 ? ['web'] : platforms,
    paymentRequired: next(state, 5) === 0,
    status: next(state, 3) === 0 ? 'paused' : 'active',
    startsAt: at(2_000),
    endsAt: at(4_000),
    fullUntilMs: at(1_000)?.getTime() ?? null,
    popularity: next(state, 10),
    boostPercent: [0, 50, 100, 100, 300][next(state, 5)] ?? 100,
    pin: next(state, 200) === 0 ? 1 + next(state, 30) : 0,
    createdAt: new Date(1_700_000_000_000 + next(state, 50) * 1_000),
    changedXid: ++state.xid,
  }
  state.offers.set(offerId, offer)
  return offer
}

/** Of some of the offers, and of some of them otherwise in two places. */
function createRanking(state: State, rankingId: number): Ranking {
  const offers = Array.from({ length: OFFERS / 3 }, (_, i) => ({ offerId: i * 3, clicks: next(state, 200), seen: next(state, 9), expected: next(state, 9) })) // prettier-ignore
  const within = (country: string) => {
    const offerIds = Float64Array.from({ length: OFFERS / 5 }, (_, i) => i * 5)
    const segment = { offerIds, clicks: offerIds, factors: offerIds.map(() => 0.5 + next(state, 20) / 10) }
    return [segmentKey(country, 'ios') ?? 0, segment] as const
  }
  const segments = new Map([within('US'), within('DE')])
  return new Ranking({
    ...NO_ESTIMATES,
    rankingId,
    effectiveAtMs: 1_700_000_020_000 + 14 * 86_400_000,
    offers,
    segments,
  })
}

function recommend(offers: OfferRecord[], { country, platform }: Filter, ranking: Ranking): number[] {
  const segment = ranking.segment(segmentKey(country, platform))
  const candidates = offers.map(({ offerId, boostPercent = 100, pin: wanted = 0, ...offer }) => {
    const place = segment?.offerIds.indexOf(offerId) ?? -1
    const score = scoreWithin(ranking.score({ ...offer, createdMs: 0, offerId, boostPercent, pin: wanted }), segment?.factors[place] ?? 1) // prettier-ignore
    const pin = isPinned(score) ? pinOf(score) : 0
    return { slot: offerId, offerId, score, weight: ranking.weight(offerId), isNew: ranking.isNew(offerId, offer.createdAt.getTime()), pin, createdAt: offer.createdAt.getTime() } // prettier-ignore
  })
  const sorted = candidates.toSorted((a, b) => b.score - a.score || b.createdAt - a.createdAt || a.offerId - b.offerId)
  return [...arrange(sorted.slice(0, 500), mix(ranking.id, SEED % VARIANTS)), ...sorted.slice(500).map(({ slot }) => slot)] // prettier-ignore
}

const wantedOf = (sort: WallSort, nowMs: number) =>
  sort === 'recommended' ? { rankingId: undefined, seed: SEED, nowMs } : sort

function naive({ offers, nowMs, ranking }: State, filter: Filter, sort: WallSort): number[] {
  const { country, platform, category, rules } = filter
  const isBlocked = ({ name, offerId, category: its, paymentRequired, payoutMicros }: OfferRecord) =>
    rules !== null &&
    (rules.blockedCategories.includes(its) ||
      (!rules.paymentOffers && paymentRequired) ||
      (rules.minReward !== null && payoutMicros < 1_000_000) ||
      rules.blockedKeywords.some((keyword) => name.toLowerCase().split(' ').includes(keyword)) ||
      (rules.listed !== null && LISTED.get(rules)?.has(offerId) !== rules.listed.only))
  const orders: Record<Sort, (a: OfferRecord, b: OfferRecord) => number> = {
    payout_desc: (a, b) => b.payoutMicros - a.payoutMicros,
    payout_asc: (a, b) => a.payoutMicros - b.payoutMicros,
    newest: (a, b) => b.createdAt.getTime() - a.createdAt.getTime(),
    popular: (a, b) => b.popularity - a.popularity || b.createdAt.getTime() - a.createdAt.getTime(),
  }
  const shown = [...offers.values()]
    .filter((offer) => offer.status === 'active' && (offer.fullUntilMs ?? 0) <= nowMs)
    .filter((offer) => (offer.startsAt?.getTime() ?? 0) <= nowMs && nowMs < (offer.endsAt?.getTime() ?? Infinity))
    .filter((offer) => offer.countries.length === 0 || offer.countries.includes(country ?? ''))
    .filter((offer) => offer.category === category && offer.platforms.some((its) => its === platform))
    .filter((offer) => !isBlocked(offer))
  if (sort === 'recommended') return recommend(shown, filter, ranking)
  return shown.toSorted((a, b) => orders[sort](a, b) || a.offerId - b.offerId).map(({ offerId }) => offerId)
}

/** How many lists are not what they should be. */
async function countWrong(catalogue: Catalogue, state: State): Promise<number> {
  let wrong = 0
  for (const { filter, sort } of FILTERS) {
    const list = await catalogue.list(filter, wantedOf(sort, state.nowMs))
    const { offers, total } = await catalogue.slice(list, [], { offset: 0, limit: OFFERS * 2 })
    const ids = offers.map(({ offerId }) => offerId)
    const expected = naive(state, filter, sort)
    if (total !== expected.length || ids.join() !== expected.join()) wrong++
  }
  return wrong
}

test('every list is right after changes, new offers and passing time came at once, in any order, while lists were read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const state: State = { offers: new Map(), xid: 0, seed, nowMs: 1_800_000_000_000, ranking: NO_RANKING }
      const catalogue = new Catalogue('https://offers.test')
      const all = Array.from({ length: OFFERS }, (_, i) => createOffer(state, i + 1))
      await catalogue.load(allOf(all), state.nowMs)
      assert.equal(await countWrong(catalogue, state), 0)
      for (let round = 0; round < 2; round++) {
        const under: unknown[] = []
        for (let step = 0; step < 12; step++) {
          state.nowMs += next(state, 100)
          if (next(state, 2) === 0) under.push(catalogue.passTime(state.nowMs))
          const ids = new Set(Array.from({ length: next(state, 500) }, () => 1 + next(state, OFFERS + 500)))
          under.push(
            catalogue.apply(
              [...ids].map((id) => rowOf(createOffer(state, id))),
              state.nowMs,
            ),
          )
          for (let reads = next(state, 40); reads > 0; reads--) {
            const { filter, sort } = FILTERS[next(state, FILTERS.length)] as (typeof FILTERS)[number]
            under.push(catalogue.list(filter, wantedOf(sort, state.nowMs)))
          }
          if (next(state, 6) === 0) {
            state.ranking = createRanking(state, round * 100 + step + 1)
            under.push(catalogue.takeRanking(state.ranking, state.nowMs))
          }
          if (next(state, 2) === 0) await breathe()
        }
        await Promise.all(under)
        await catalogue.passTime(state.nowMs)
        assert.equal(await countWrong(catalogue, state), 0)
      }
    }),
    { numRuns: HISTORIES },
  )
})

test('while everything is reloaded, a page shows the offers of before or of after, and never some of both', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const state: State = { offers: new Map(), xid: 0, seed, nowMs: 1_800_000_000_000, ranking: NO_RANKING }
      const catalogue = new Catalogue('https://offers.test')
      for (let id = 500; id < OFFERS; id++) createOffer(state, id)
      await catalogue.load(allOf([...state.offers.values()]), state.nowMs)
      state.ranking = createRanking(state, 1)
      await catalogue.takeRanking(state.ranking, state.nowMs)
      const before: State = { ...state, offers: new Map(state.offers) }
      const held: OfferList[] = []
      for (const { filter, sort } of FILTERS.slice(0, 20))
        held.push(await catalogue.list(filter, wantedOf(sort, state.nowMs)))
      for (let id = 1; id < OFFERS + 300; id++) {
        if (next(state, 4) === 0) state.offers.delete(id)
        else if (next(state, 2) === 0) createOffer(state, id)
      }
      const isReading = Promise.withResolvers<void>()
      const reading = { isDone: false }
      const loading = catalogue
        .load(
          allOf(
            [...state.offers.values()].toSorted((a, b) => a.offerId - b.offerId),
            isReading.resolve,
          ),
          state.nowMs,
        )
        .then(() => (reading.isDone = true))
      await isReading.promise
      for (let read = 0; read < 300 || !reading.isDone; read++) {
        const { filter, sort } = FILTERS[next(state, FILTERS.length)] as (typeof FILTERS)[number]
        const list = await catalogue.list(filter, wantedOf(sort, state.nowMs))
        const { offers } = await catalogue.slice(list, [], { offset: 0, limit: OFFERS * 2 })
        const ids = offers.map(({ offerId }) => offerId).join()
        const isOfOne = [before, state].some((one) => naive(one, filter, sort).join() === ids)
        assert.ok(isOfOne, `a list of some of both: ${JSON.stringify(filter)} ${sort}`)
        await breathe()
      }
      await loading
      for (const [i, list] of held.entries()) {
        // A reader that was at work with it all the time.
        const { offers } = await catalogue.slice(list, [], { offset: 0, limit: list.total })
        const { filter, sort } = FILTERS[i] as (typeof FILTERS)[number]
        assert.deepEqual(
          offers.map(({ offerId }) => offerId),
          naive(before, filter, sort),
        )
      }
      assert.equal(await countWrong(catalogue, state), 0)
    }),
    { numRuns: HISTORIES },
  )
})

/** Read in some pieces, with room for others in between. */
const allOf = (offers: OfferRecord[], onStart?: () => void): AllOffers => ({
  count: async () => 0,
  async read(take) {
    onStart?.()
    for (const [i, offer] of offers.entries()) {
      take(rowOf(offer))
      if (i % 200 === 0) await breathe()
    }
  },
})
