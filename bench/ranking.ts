// npm run bench -- --only ranking: what recommended lists earn, and how soon they find new offers that are good, beside the
// other orders. The lists come from the real catalogue and the rankings from the real model; the rest is ranking-world.ts.
import { Catalogue, type Wanted } from '../src/features/offers/catalogue.ts'
import { estimate } from '../src/features/offers/ranking/model.ts'
import { Ranking, type Segment, segmentKey } from '../src/features/offers/ranking/ranking.ts'
import { rowOf } from '../test/offer-record.ts'
import { bestIn, createWorld, even, findGood, isClicked, isCompleted, segmentOfUser, type SimulatedOffer, type World, type WorldPlan } from './ranking-world.ts' // prettier-ignore

/** One without the places for new offers: what these cost and bring. */
const UNTRIED = 'recommended, without places for new offers'
const ORDERS = ['recommended', UNTRIED, 'popular', 'payout_desc', 'random', 'best possible'] as const
type Order = (typeof ORDERS)[number]
export type RankingPlan = WorldPlan & { seeds: readonly number[] }

/** As the worker does it: six rankings a day, four weeks, half as much after a week. */
const [STEPS, WINDOW_DAYS, HALF_LIFE_DAYS] = [6, 28, 7]
const POPULAR_DAYS = 30
const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)
const SHOWN = 20
const TOP = 10
const WITHIN_DAYS = [1, 3, 7, 14] as const
const MAX_DAYS = 14

type Sums = { clicks: number; completed: number; earnedMicros: number }
/** Of each day, by offer and segment. */
type Traffic = Map<number, Sums>[]
type Run = { earnedUsd: number; views: number; foundAfter: (number | null)[] }

export type RankingFindings = { order: Order; perThousandViews: number; share: number; found: number[] } // prettier-ignore

export async function simulateRanking(plan: RankingPlan, say: (text: string) => void): Promise<RankingFindings[]> {
  const runs = new Map<Order, Run[]>(ORDERS.map((order) => [order, []]))
  for (const seed of plan.seeds) {
    const world = createWorld(seed, plan)
    for (const order of ORDERS) {
      say(`World ${seed}, ${order}`)
      runs.get(order)?.push(await new Simulation(order, world, plan).run())
    }
  }
  const earned = (order: Order) => {
    const its = runs.get(order) ?? []
    return (1_000 * sum(its.map((one) => one.earnedUsd))) / sum(its.map((one) => one.views))
  }
  return ORDERS.map((order) => {
    const after = (runs.get(order) ?? []).flatMap(({ foundAfter }) => foundAfter)
    return {
      order,
      perThousandViews: earned(order),
      share: earned(order) / earned('best possible'),
      found: WITHIN_DAYS.map((most) => after.filter((days) => days !== null && days <= most).length / after.length),
    }
  })
}

class Simulation {
  readonly #catalogue = new Catalogue('https://offers.test')
  readonly #traffic: Traffic = []
  readonly #order: Order
  readonly #world: World
  readonly #plan: WorldPlan
  readonly #byId: Map<number, SimulatedOffer>
  #xid = 0

  constructor(order: Order, world: World, plan: WorldPlan) {
    this.#order = order
    this.#world = world
    this.#plan = plan
    this.#byId = new Map(world.offers.map((offer) => [offer.offerId, offer]))
  }

  async run(): Promise<Run> {
    const { days, viewsADay } = this.#plan
    const good = findGood(this.#world, TOP, [days / 4, days - MAX_DAYS])
    const found = new Map<string, number>()
    let [earnedUsd, views] = [0, 0]
    /** How many lists of each segment there were today, and how many had an offer at their top. */
    let [lists, atTop] = [[] as number[], new Map<string, number>()]
    for (let step = 0; step < days * STEPS; step++) {
      const day = Math.floor(step / STEPS)
      await this.#prepare(step, day)
      if (step % STEPS === 0) [lists, atTop] = [this.#world.segments.map(() => 0), new Map<string, number>()]
      for (let view = 0; view < viewsADay / STEPS; view++) {
        const user = step * 100_003 + view
        const s = segmentOfUser(this.#world, user)
        const shown = await this.#list(s, user, day, START_MS + (step * DAY_MS) / STEPS)
        const earned = this.#visit(shown, s, user, day)
        lists[s]!++
        for (const { offerId } of shown.slice(0, TOP)) atTop.set(`${offerId}/${s}`, (atTop.get(`${offerId}/${s}`) ?? 0) + 1) // prettier-ignore
        if (day < days / 4) continue // until there is something to learn from
        earnedUsd += earned / 1e6
        views++
      }
      if (step % STEPS !== STEPS - 1) continue
      for (const [key, times] of atTop)
        if (!found.has(key) && times * 2 >= (lists[Number(key.split('/')[1])] ?? 0)) found.set(key, day + 1)
    }
    const foundAfter = good.map(({ offerId, s, bornDay }) => {
      const at = found.get(`${offerId}/${s}`)
      return at === undefined ? null : at - bornDay
    })
    return { earnedUsd, views, foundAfter }
  }

  /** New offers, and what orders are made of. */
  async #prepare(step: number, day: number): Promise<void> {
    const nowMs = START_MS + (step * DAY_MS) / STEPS
    this.#traffic[day] ??= new Map()
    const isNewDay = step % STEPS === 0
    const popularity = this.#order === 'popular' ? this.#completions() : new Map<number, number>()
    const changed = this.#world.offers.filter(({ offerId, bornDay }) => (isNewDay && bornDay === day) || (bornDay <= day && popularity.has(offerId))) // prettier-ignore
    const rows = changed.map((offer) =>
      rowOf({
        ...offer,
        name: `Offer ${offer.offerId}`,
        description: '',
        countries: [],
        platforms: ['web', 'android', 'ios'],
        paymentRequired: false,
        status: 'active',
        startsAt: null,
        endsAt: null,
        fullUntilMs: null,
        popularity: popularity.get(offer.offerId) ?? 0,
        createdAt: new Date(START_MS + offer.bornDay * DAY_MS),
        changedXid: ++this.#xid,
      }),
    )
    await this.#catalogue.apply(rows, nowMs)
    if (this.#order === 'recommended' || this.#order === UNTRIED)
      await this.#catalogue.takeRanking(this.#rank(step, day), nowMs)
  }

  #completions(): Map<number, number> {
    const counts = new Map<number, number>()
    for (const one of this.#traffic.slice(-POPULAR_DAYS))
      for (const [key, { completed }] of one) {
        const offerId = Math.floor(key / this.#world.segments.length)
        counts.set(offerId, (counts.get(offerId) ?? 0) + completed)
      }
    return counts
  }

  #rank(step: number, day: number): Ranking {
    const { segments, offers } = this.#world
    const cells = new Map<number, Sums>()
    for (const [of, traffic] of this.#traffic.entries()) {
      if (day - of >= WINDOW_DAYS) continue
      const weight = 0.5 ** ((day - of) / HALF_LIFE_DAYS)
      for (const [key, sums] of traffic) {
        const cell = cells.get(key) ?? { clicks: 0, completed: 0, earnedMicros: 0 }
        cells.set(key, cell)
        for (const name of ['clicks', 'completed', 'earnedMicros'] as const) cell[name] += weight * sums[name]
      }
    }
    const { means, offers: estimates, segments: inSegments } = estimate(
      [...cells].map(([key, { clicks, completed, earnedMicros }]) => {
        const { country, platform } = segments[key % segments.length] as (typeof segments)[number]
        const offerId = Math.floor(key / segments.length)
        return { offerId, country, platform, clicks, allClicks: clicks, approved: completed, earnedMicros }
      }),
      offers,
    ) // prettier-ignore
    const bySegment = inSegments.map(({ country, platform, cells: its }): [number, Segment] => [
      segmentKey(country, segments.find((one) => one.platform === platform)?.platform) ?? 0,
      {
        offerIds: Float64Array.from(its, ({ offerId }) => offerId),
        factors: Float64Array.from(its, ({ factor }) => factor),
        clicks: Float64Array.from(its, ({ clicks }) => clicks),
      },
    ])
    return new Ranking({
      rankingId: step + 1,
      effectiveAtMs: START_MS + (step * DAY_MS) / STEPS,
      means,
      offers: estimates,
      segments: new Map(bySegment),
    })
  }

  async #list(s: number, user: number, day: number, nowMs: number): Promise<SimulatedOffer[]> {
    if (this.#order === 'best possible') return this.#best(day, s)
    if (this.#order === 'random') return this.#random(user, day)
    const { country, platform } = this.#world.segments[s] as World['segments'][number]
    const order = this.#order
    const isRanked = order === 'recommended' || order === UNTRIED
    const wanted: Wanted = isRanked ? { rankingId: undefined, seed: Math.floor(even(user, 5) * 1e6), nowMs } : order
    const shown = await this.#catalogue.list({ country, platform, rules: null }, wanted)
    const list = order === UNTRIED ? (shown.variantOf?.list ?? shown) : shown
    const { offers } = await this.#catalogue.slice(list, [], { offset: 0, limit: SHOWN })
    return offers.map(({ offerId }) => this.#byId.get(offerId) as SimulatedOffer)
  }

  #kept: { day: number; best: SimulatedOffer[][]; live: SimulatedOffer[] } = { day: -1, best: [], live: [] }

  #of(day: number) {
    if (this.#kept.day !== day)
      this.#kept = { day, best: [], live: this.#world.offers.filter(({ bornDay }) => bornDay <= day) }
    return this.#kept
  }

  #best(day: number, s: number): SimulatedOffer[] {
    return (this.#of(day).best[s] ??= bestIn(this.#world, day, s).slice(0, SHOWN))
  }

  #random(user: number, day: number): SimulatedOffer[] {
    const { live } = this.#of(day)
    const places = new Set(Array.from({ length: SHOWN * 2 }, (_, i) => Math.floor(even(user, i, 17) * live.length)))
    return [...places].slice(0, SHOWN).map((place) => live[place] as SimulatedOffer)
  }

  /** What the user's clicks earn. */
  #visit(shown: readonly SimulatedOffer[], s: number, user: number, day: number): number {
    let earned = 0
    for (const [place, offer] of shown.entries()) {
      if (!isClicked(this.#world, user, offer, place)) continue
      const key = offer.offerId * this.#world.segments.length + s
      const today = this.#traffic[day] as Map<number, Sums>
      const sums = today.get(key) ?? { clicks: 0, completed: 0, earnedMicros: 0 }
      today.set(key, sums)
      sums.clicks++
      if (!isCompleted(this.#world, user, offer, s)) continue
      sums.completed++
      sums.earnedMicros += offer.payoutMicros
      earned += offer.payoutMicros
    }
    return earned
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

export function describeRanking(findings: readonly RankingFindings[]): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`
  const rows = findings.map(({ order, perThousandViews, share, found }) =>
    `| ${[order, `$${perThousandViews.toFixed(2)}`, percent(share), ...found.map(percent)].join(' | ')} |`,
  ) // prettier-ignore
  const days = WITHIN_DAYS.map((most) => `found within ${most === 1 ? 'a day' : `${most} days`}`)
  const names = ['order', 'earned per 1,000 views', 'of the best possible', ...days]
  return [`| ${names.join(' | ')} |`, `|${names.map(() => '---|').join('')}`, ...rows].join('\n')
}
