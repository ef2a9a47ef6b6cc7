// One ranking as processes hold it: what is expected of an offer, and what differs in a country on a platform.
import { countryPlace } from '../../../lib/countries.ts'
import { type Category, type Platform, PLATFORMS } from '../choices.ts'
import { FEW_CLICKS, type Means, NEW_DAYS, NO_ESTIMATES, type OfferEstimate, PRIOR, priorEpcMicros, segmentOf, shrink } from './model.ts' // prettier-ignore

/** A pinned offer comes before all others, by its position; arranging a list then puts it there. */
const PINNED = 0xffff_ffff
const MOST_PINNED = 100
const MOST = PINNED - MOST_PINNED - 1
const FULL_PERCENT = 100
const DAY_MS = 86_400_000

/** Offers ascending, and what belongs to each of them. */
export type Segment = { offerIds: Float64Array; factors: Float64Array; clicks: Float64Array }

export type RankingData = {
  rankingId: number
  effectiveAtMs: number
  means: Means
  offers: OfferEstimate[]
  /** By `segmentKey`. */
  segments: Map<number, Segment>
}

/** What of an offer decides its place. `boostPercent` 0: excluded. `pin` 0: not pinned. */
export type Placed = {
  offerId: number
  category: Category
  payoutMicros: number
  createdMs: number
  boostPercent: number
  pin: number
}

const UNKNOWN: OfferEstimate = { offerId: 0, clicks: 0, seen: 0, expected: 0 }

/** A number for a country on a platform; null where one of them is not known. */
export function segmentKey(country: string | undefined, platform: Platform | undefined): number | null {
  const place = country === undefined ? undefined : countryPlace(country)
  return place === undefined || platform === undefined ? null : place * PLATFORMS.length + PLATFORMS.indexOf(platform)
}

export class Ranking {
  readonly id: number
  readonly effectiveAtMs: number
  readonly #means: Means
  readonly #offers: Map<number, OfferEstimate>
  readonly #segments: Map<number, Segment>

  constructor({ rankingId, effectiveAtMs, means, offers, segments }: RankingData) {
    this.id = rankingId
    this.effectiveAtMs = effectiveAtMs
    this.#means = means
    this.#offers = new Map(offers.map((offer) => [offer.offerId, offer]))
    this.#segments = segments
  }

  of(offerId: number): OfferEstimate {
    return this.#offers.get(offerId) ?? UNKNOWN
  }

  hasFewClicks(offerId: number): boolean {
    return this.of(offerId).clicks < FEW_CLICKS
  }

  /** To be tried out. By the time of the ranking, so that it stays the same as long as the ranking. */
  isNew(offerId: number, createdMs: number): boolean {
    return createdMs > this.effectiveAtMs - NEW_DAYS * DAY_MS && this.hasFewClicks(offerId)
  }

  /** In an average segment. */
  epcMicros({ offerId, category, payoutMicros }: Pick<Placed, 'offerId' | 'category' | 'payoutMicros'>): number {
    const { seen, expected } = this.of(offerId)
    return priorEpcMicros(this.#means, category, payoutMicros) * shrink(seen, expected)
  }

  /** What offers are sorted by: a whole number of 32 bits, and more is better. */
  score(offer: Placed): number {
    if (offer.boostPercent === 0) return 0
    if (offer.pin > 0) return PINNED - offer.pin
    return boundedScore((this.epcMicros(offer) * offer.boostPercent) / FULL_PERCENT)
  }

  segment(key: number | null): Segment | null {
    return key === null ? null : (this.#segments.get(key) ?? null)
  }

  /** How much a click is worth there, compared with the average. */
  segmentFactor(country: string, platform: string): number {
    return this.#means.segments[segmentOf(country, platform)] ?? 1
  }

  /** How many conversions an estimate rests on, with the prior. */
  weight(offerId: number): number {
    return this.of(offerId).seen + PRIOR
  }
}

/** That of an offer in a segment, from its own. What is pinned or excluded stays so. */
export function scoreWithin(score: number, factor: number): number {
  return isPinned(score) || score === 0 ? score : boundedScore(score * factor)
}

export const isPinned = (score: number) => score > MOST
export const pinOf = (score: number) => PINNED - score

const boundedScore = (score: number) => Math.min(Math.max(Math.round(score), 1), MOST)

/** The place of an offer in a segment, or -1. */
export function placeIn({ offerIds }: Segment, offerId: number): number {
  let [low, high] = [0, offerIds.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((offerIds[middle] as number) < offerId) low = middle + 1
    else high = middle
  }
  return offerIds[low] === offerId ? low : -1
}

/** Of the time before the first. */
export const NO_RANKING = new Ranking({ ...NO_ESTIMATES, rankingId: 0, effectiveAtMs: -Infinity, segments: new Map() })
