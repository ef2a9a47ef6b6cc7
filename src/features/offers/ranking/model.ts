// What a click on an offer is expected to earn, from what clicks of the last weeks earned.
//
// Conversions of a click are rare, so a few clicks say little. Every level is therefore compared with the one above it: how
// many conversions were seen, and how many would be expected if it were like the others there. The ratio of both is a
// Gamma-Poisson estimate: conversions are Poisson, the unknown ratio has a Gamma prior with mean 1 and shape PRIOR, and its
// posterior mean is (seen + PRIOR) / (expected + PRIOR). So the prior weighs as much as PRIOR conversions, whether these take
// ten clicks or a thousand: an offer that pays much and converts rarely is not carried up by its first conversion.
//
//   network -> segment (country and platform) -> category -> offer -> offer in a segment
//
// Conversions are counted by what they earned, in units of what a conversion of the offer is worth on average: goals that pay
// little count little. Nothing here knows the time: what comes in is weighted by its age (see reports/rankings.ts).
import { CATEGORIES, type Category } from '../choices.ts'

/** Conversions that a prior weighs as much as: an offer's rate differs from its category's by about 1/√3, or 58 %. */
export const PRIOR = 3
/** Before there is any data: one click in twenty converts, for a dollar. */
const FIRST_VALUE_MICROS = 1_000_000
const FIRST_EPC_MICROS = FIRST_VALUE_MICROS / 20
/** With fewer clicks, little is known of an offer. */
export const FEW_CLICKS = 100
/** For so long, an offer of which little is known is tried out. */
export const NEW_DAYS = 14
/** Cells that say less about an offer are left out. */
const LEAST_DIFFERENCE = 0.02
const MAX_IN_SEGMENT = 5_000

/** What clicks of an offer in one country on one platform earned, weighted by age. Empty texts: not known. */
export type Cell = {
  offerId: number
  country: string
  platform: string
  clicks: number
  approved: number
  earnedMicros: number
  /** All of the last weeks, including those that cannot be approved yet. */
  allClicks: number
}
export type RankedOffer = { offerId: number; category: Category; payoutMicros: number }

/** `valueMicros`: of one conversion. */
export type Means = {
  epcMicros: number
  categories: Record<Category, { factor: number; valueMicros: number }>
  /** By `segmentOf`. */
  segments: Record<string, number>
}
/** `clicks`: of the last weeks. The ratio of `seen` and `expected`, with the prior, is how much better the offer is. */
export type OfferEstimate = { offerId: number; clicks: number; seen: number; expected: number }
export type CellEstimate = { offerId: number; clicks: number; factor: number }
export type Estimates = {
  means: Means
  /** Ascending by offer. */
  offers: OfferEstimate[]
  segments: { country: string; platform: string; cells: CellEstimate[] }[]
}

export const shrink = (seen: number, expected: number) => (seen + PRIOR) / (expected + PRIOR)
export const segmentOf = (country: string, platform: string) => `${country}/${platform}`

type Sum = { clicks: number; approved: number; earned: number }
const NOTHING: Means = {
  epcMicros: FIRST_EPC_MICROS,
  categories: Object.fromEntries(
    CATEGORIES.map((category) => [category, { factor: 1, valueMicros: FIRST_VALUE_MICROS }]),
  ) as Means['categories'],
  segments: {},
}
/** Without any clicks. */
export const NO_ESTIMATES: Estimates = { means: NOTHING, offers: [], segments: [] }

/** What a click on an offer of this category and payout earns on average, before anything is known of the offer itself. */
export function priorEpcMicros(means: Means, category: Category, payoutMicros: number): number {
  const { factor, valueMicros } = means.categories[category]
  if (payoutMicros === 0) return means.epcMicros * factor // it pays a percentage, of which nothing is known
  // The mean where it pays as much as a conversion of the category, less below, and more above, as what pays more converts
  // less often. Never twice as much: else every new offer with a high payout would stand before all that are proven.
  const byPayout = (2 * payoutMicros) / (payoutMicros + valueMicros)
  return Math.min(means.epcMicros * factor * byPayout, payoutMicros)
}

export function estimate(cells: readonly Cell[], offers: readonly RankedOffer[]): Estimates {
  const known = new Map(offers.map((offer) => [offer.offerId, offer]))
  const counted = cells.filter((cell) => known.has(cell.offerId))
  const network = sum(counted)
  const valueMicros = valueOf(network, FIRST_VALUE_MICROS)
  const epcMicros =
    FIRST_EPC_MICROS * shrink(network.earned / valueMicros, (network.clicks * FIRST_EPC_MICROS) / valueMicros)

  const segments = new Map(
    [...Map.groupBy(counted, ({ country, platform }) => segmentOf(country, platform))].map(([name, its]) => {
      const { clicks, earned } = sum(its)
      return [name, shrink(earned / valueMicros, (clicks * epcMicros) / valueMicros)]
    }),
  )
  /** Clicks as if all of them came from an average segment. */
  const evenClicks = (its: readonly Cell[]) =>
    its.reduce(
      (all, { clicks, country, platform }) => all + clicks * (segments.get(segmentOf(country, platform)) ?? 1),
      0,
    )

  const byCategory = Map.groupBy(counted, ({ offerId }) => (known.get(offerId) as RankedOffer).category)
  const categories = Object.fromEntries(
    CATEGORIES.map((category) => {
      const its = byCategory.get(category) ?? []
      const total = sum(its)
      const value = valueOf(total, valueMicros)
      return [
        category,
        { factor: shrink(total.earned / value, (evenClicks(its) * epcMicros) / value), valueMicros: value },
      ]
    }),
  ) as Means['categories']
  const means: Means = { epcMicros, categories, segments: Object.fromEntries(segments) }

  const estimates: OfferEstimate[] = []
  const inSegments = new Map<string, CellEstimate[]>()
  for (const [offerId, its] of Map.groupBy(counted, (cell) => cell.offerId)) {
    const { category, payoutMicros } = known.get(offerId) as RankedOffer
    const total = sum(its)
    const value = valueOf(total, payoutMicros || means.categories[category].valueMicros)
    const prior = priorEpcMicros(means, category, payoutMicros)
    const [seen, expected] = [total.earned / value, (evenClicks(its) * prior) / value]
    estimates.push({ offerId, clicks: its.reduce((all, { allClicks }) => all + allClicks, 0), seen, expected })
    const epc = prior * shrink(seen, expected)
    for (const cell of its) {
      if (cell.country === '' || cell.platform === '') continue
      const factor = shrink(Math.max(cell.earnedMicros, 0) / value, (evenClicks([cell]) * epc) / value)
      if (Math.abs(factor - 1) < LEAST_DIFFERENCE) continue
      const name = segmentOf(cell.country, cell.platform)
      const kept = inSegments.get(name) ?? []
      inSegments.set(name, kept)
      kept.push({ offerId, clicks: cell.allClicks, factor })
    }
  }
  return {
    means,
    offers: estimates.toSorted(byOffer),
    segments: [...inSegments].map(([name, its]) => {
      const [country = '', platform = ''] = name.split('/')
      const most = its.toSorted((a, b) => b.clicks - a.clicks || byOffer(a, b)).slice(0, MAX_IN_SEGMENT)
      return { country, platform, cells: most.toSorted(byOffer) }
    }),
  }
}

const byOffer = (a: { offerId: number }, b: { offerId: number }) => a.offerId - b.offerId

/** What a conversion is worth, as if one of `otherwise` had been seen before. */
const valueOf = ({ earned, approved }: Sum, otherwise: number) => (earned + otherwise) / (approved + 1)

function sum(cells: readonly Cell[]): Sum {
  const total: Sum = { clicks: 0, approved: 0, earned: 0 }
  for (const { clicks, approved, earnedMicros } of cells) {
    total.clicks += clicks
    total.approved += approved
    total.earned += earnedMicros
  }
  // A reversal may be counted elsewhere than what it takes back, when the click is gone.
  return { clicks: total.clicks, approved: Math.max(total.approved, 0), earned: Math.max(total.earned, 0) }
}
