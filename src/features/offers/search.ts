// Looking for offers by what they say. For people, who ask now and then: every offer of the list is read. One search at a
// time, so that however many ask, other requests wait for one batch at most.
import { setImmediate as breathe } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { CATEGORIES, type Category } from './choices.ts'
import type { Shelf } from './shelf.ts'
import { MICROS_PER_STEP, type Slots } from './slots.ts'
import { CATEGORY_MASK, CATEGORY_SHIFT } from './traits.ts'

const BATCH = 500 // between two of them, other requests have their turn

const MAX_WAITING = 100

export class SearchQueue {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  async run<T>(search: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many people are searching right now. Try again shortly.')
    this.#waiting++
    const done = this.#last.then(search).finally(() => this.#waiting--)
    this.#last = done.catch(() => {}) // its caller gets the error
    return done
  }
}

/** Those of these slots that have all of these words in their name, or in name and description (`words`), or this as their id. */
export async function searchSlots(
  shelf: Shelf,
  among: Uint32Array,
  text: string,
  within: 'name' | 'words',
): Promise<number[]> {
  const wanted = text.trim().toLowerCase()
  const words = wanted.split(/\s+/)
  const found: number[] = []
  for (const [place, slot] of among.entries()) {
    if (place % BATCH === BATCH - 1) await breathe()
    const { slots } = shelf // others, when everything was reloaded meanwhile
    const said = slots[within](slot).toLowerCase()
    if (String(slots.ids[slot]) === wanted || words.every((word) => said.includes(word))) found.push(slot)
  }
  return found
}

/** By category (none: any) and payout. */
export type Picked = { categories: readonly Category[]; isPaid: (payoutMicros: number) => boolean }

/** The first so many of these slots that are wanted. */
export function pickSlots(
  { traits, payout }: Slots,
  among: Uint32Array,
  { categories, isPaid }: Picked,
  limit: number,
): number[] {
  const bits = categories.map((category) => CATEGORIES.indexOf(category) << CATEGORY_SHIFT)
  const found: number[] = []
  for (let place = 0; place < among.length && found.length < limit; place++) {
    const slot = among[place] as number
    const isOfCategory = bits.length === 0 || bits.includes((traits[slot] as number) & CATEGORY_MASK)
    if (isOfCategory && isPaid((payout[slot] as number) * MICROS_PER_STEP)) found.push(slot)
  }
  return found
}
