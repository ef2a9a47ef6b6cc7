// Looking for offers by what they say. For people, who ask now and then: every offer of the list is read.
import { setImmediate as breathe } from 'node:timers/promises'
import type { Shelf } from './shelf.ts'

const BATCH = 500 // between two of them, other requests have their turn

/** Those of these slots that have this in their name, or in name and description (`words`), or as their id. */
export async function searchSlots(
  shelf: Shelf,
  among: Uint32Array,
  text: string,
  within: 'name' | 'words',
): Promise<number[]> {
  const wanted = text.trim().toLowerCase()
  const found: number[] = []
  for (const [place, slot] of among.entries()) {
    if (place % BATCH === BATCH - 1) await breathe()
    const { slots } = shelf // others, when everything was reloaded meanwhile
    if (String(slots.ids[slot]) === wanted || slots[within](slot).toLowerCase().includes(wanted)) found.push(slot)
  }
  return found
}
