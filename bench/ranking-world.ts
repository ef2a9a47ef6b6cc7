// The world of the simulation of rankings: offers with rates that only the world knows, some new ones every day, and users
// who look at a list from the top and click now and then.
//
// Whether a user clicks an offer and completes it follows from the seed, the user, the offer and its place alone, so two
// orders that show a user the same offer at the same place have the same outcome.
import { CATEGORIES, type Category, PLATFORMS, type Platform } from '../src/features/offers/choices.ts'

export type WorldPlan = { days: number; viewsADay: number; offers: number; newADay: number }

const COUNTRIES = ['US', 'GB', 'DE', 'FR', 'BR', 'IN']
const MICROS = 1_000_000

export type SimulatedOffer = {
  offerId: number
  category: Category
  payoutMicros: number
  bornDay: number
  /** What a click earns on average, by segment. */
  epcMicros: number[]
}
export type SimulatedSegment = { country: string; platform: Platform; share: number }
export type World = { seed: number; segments: SimulatedSegment[]; offers: SimulatedOffer[] }

/** A number from 0 to 1, always the same for the same numbers. */
export function even(...parts: readonly number[]): number {
  let hash = 0x9e37_79b9
  for (const part of parts) {
    hash = Math.imul(hash ^ part ^ (hash >>> 15), 0x85eb_ca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  }
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

const normal = (...parts: number[]) => Math.sqrt(-2 * Math.log(even(1, ...parts) + 1e-12)) * Math.cos(2 * Math.PI * even(2, ...parts)) // prettier-ignore

/**
 * Payouts from five cents to $50, most of them around a dollar. What pays more converts less often; besides, rates differ
 * by the offer (a factor of e up or down is common), by its category, by the segment, and by the offer in a segment.
 */
export function createWorld(seed: number, { offers, days, newADay }: WorldPlan): World {
  const segments = COUNTRIES.flatMap((country, place) =>
    PLATFORMS.map((platform, i) => ({ country, platform, share: (COUNTRIES.length - place) * (i + 1) })),
  )
  const worth = segments.map((_, s) => Math.exp(0.2 * normal(seed, 7, s) - 0.35 * Math.floor(s / PLATFORMS.length)))
  const create = (offerId: number, bornDay: number): SimulatedOffer => {
    const kind = Math.floor(even(seed, offerId, 3) * CATEGORIES.length)
    const payout = Math.min(Math.max(Math.exp(0.3 + 1.2 * normal(seed, offerId, 4)), 0.05), 50)
    const rate = 0.08 * payout ** -0.7 * Math.exp(normal(seed, offerId, 5)) * (1.4 - 0.25 * kind)
    const rateIn = (its: number, s: number) => Math.min(rate * its * Math.exp(0.5 * normal(seed, offerId, 6, s)), 0.9)
    return {
      offerId,
      category: CATEGORIES[kind] ?? 'app',
      payoutMicros: Math.round(payout * 10_000) * 100,
      bornDay,
      epcMicros: worth.map((its, s) => rateIn(its, s) * payout * MICROS),
    }
  }
  const first = Array.from({ length: offers }, (_, i) => create(i + 1, 0))
  const later = Array.from({ length: (days - 1) * newADay }, (_, i) => create(offers + i + 1, 1 + Math.floor(i / newADay))) // prettier-ignore
  return { seed, segments, offers: [...first, ...later] }
}

/** By the numbers of their segments: where the user with this number is. */
export function segmentOfUser({ seed, segments }: World, user: number): number {
  const total = segments.reduce((sum, { share }) => sum + share, 0)
  let left = even(seed, user, 11) * total
  return segments.findIndex(({ share }) => (left -= share) < 0)
}

/** Users look at a list from the top, and fewer of them at each further place; a high reward attracts. */
export function isClicked({ seed }: World, user: number, { offerId, payoutMicros }: SimulatedOffer, place: number) {
  const attraction = Math.min((payoutMicros / MICROS) ** 0.25, 2)
  return even(seed, user, offerId, 12) < 0.08 * attraction * 0.92 ** place
}

export const isCompleted = ({ seed }: World, user: number, { offerId, payoutMicros, epcMicros }: SimulatedOffer, s: number) => even(seed, user, offerId, 13) * payoutMicros < (epcMicros[s] ?? 0) // prettier-ignore

/** The offers of a day by what a click on them earns in a segment: what only the simulation can know. */
export const bestIn = ({ offers }: World, day: number, s: number): SimulatedOffer[] =>
  offers.filter(({ bornDay }) => bornDay <= day).toSorted((a, b) => (b.epcMicros[s] ?? 0) - (a.epcMicros[s] ?? 0))

/** New offers that belong among the first so many of a segment on the day they come: each as its ID and segment. */
export function findGood(world: World, top: number, days: readonly [number, number]) {
  return world.segments.flatMap((_, s) =>
    world.offers
      .filter(({ bornDay }) => bornDay >= days[0] && bornDay < days[1])
      .filter((offer) => bestIn(world, offer.bornDay, s).indexOf(offer) < top)
      .map(({ offerId, bornDay }) => ({ offerId, s, bornDay })),
  )
}
