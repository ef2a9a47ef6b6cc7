// Who stands where at the beginning of a recommended list: pinned offers where the operator wants them, and at a few places
// new offers, so that good ones are found.
//
// Every list comes in a few variants, each of which tries out others of the new offers; a user is shown one and the same as
// long as the ranking is the same. Which new offers a variant tries is drawn from what is known of each (Thompson sampling):
// all have a chance, those that did well so far a better one. The draw follows from the ranking, the variant and the offer,
// so that every process arrives at the same list.
import { mix } from '../traits.ts'

export const VARIANTS = 8
/** One place in eight, and not the first three. */
const EVERY = 8
const FIRST = 3
const TRIED = 5
/** Every process has at least so many of a list at hand, whatever happened to the list before. */
export const ARRANGED = 500

/** An offer of a list. `weight`: how many conversions its score rests on. `pin`: 0 where it has none. */
export type Candidate = { slot: number; offerId: number; score: number; weight: number; isNew: boolean; pin: number }

/** The slots in the order in which they are shown. `seed`: another one for each ranking and variant. */
export function arrange(candidates: readonly Candidate[], seed: number): number[] {
  const pins = candidates.filter(({ pin }) => pin > 0).toSorted((a, b) => a.pin - b.pin || a.offerId - b.offerId)
  const others = candidates.filter(({ pin }) => pin === 0)
  const tried = chooseNew(others, seed)
  const isTried = new Set(tried.values())
  const rest = others.filter((one) => !isTried.has(one)).values()
  const arranged: number[] = []
  // Pinned ones are put in last: they push back what comes behind them, and nothing else.
  for (let place = 0; place < others.length; place++) {
    const next = tried.get(place) ?? rest.next().value ?? null
    if (next !== null) arranged.push(next.slot)
  }
  let free = 0
  for (const { pin, slot } of pins) {
    const at = Math.min(Math.max(pin - 1, free), arranged.length)
    arranged.splice(at, 0, slot)
    free = at + 1
  }
  return arranged
}

/** The new offers that come further up than they would by their score, by their place. */
function chooseNew(others: readonly Candidate[], seed: number): Map<number, Candidate> {
  const drawn: { candidate: Candidate; place: number; luck: number }[] = []
  for (const [place, candidate] of others.entries())
    if (candidate.isNew && candidate.score > 0 && place > FIRST)
      drawn.push({ candidate, place, luck: candidate.score * drawRatio(candidate, seed) })
  const chosen = new Map<number, Candidate>()
  for (let to = FIRST; chosen.size < TRIED; to += EVERY) {
    let [best, most] = [-1, 0]
    for (const [i, { place, luck }] of drawn.entries()) if (place > to && luck > most) [best, most] = [i, luck] // those before stand there anyway
    const [tried] = best === -1 ? [] : drawn.splice(best, 1)
    if (tried === undefined) break
    chosen.set(to, tried.candidate)
  }
  return chosen
}

/** A draw from the posterior, as a multiple of its mean: a Gamma distribution of mean 1, by Wilson and Hilferty. */
export function drawRatio({ offerId, weight }: Pick<Candidate, 'offerId' | 'weight'>, seed: number): number {
  const [a, b] = [mix(offerId, seed), mix(seed, offerId)]
  // Box and Muller: from two even draws to a normal one.
  const normal = Math.sqrt(-2 * Math.log((a + 1) / (2 ** 32 + 1))) * Math.cos((2 * Math.PI * b) / 2 ** 32)
  const spread = 1 / (9 * weight)
  return Math.max(1 - spread + normal * Math.sqrt(spread), 0) ** 3
}
