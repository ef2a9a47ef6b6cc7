// Looking for offers by what they say. For people, who ask now and then: every offer of the list is read.
import { setImmediate as breathe } from 'node:timers/promises'
import type { Catalogue } from './catalogue.ts'
import type { OfferList } from './lists.ts'
import { mentions } from './offer-text.ts'
import type { CatalogueOffer } from './slots.ts'

const BATCH = 500 // between two of them, other requests have their turn

/** Those of a list, in its order and without the hidden ones, that have this in name or description, or as their id. */
export async function searchOffers(
  catalogue: Catalogue,
  list: OfferList,
  hidden: readonly number[],
  text: string,
): Promise<CatalogueOffer[]> {
  const wanted = text.trim().toLowerCase()
  const { offers } = catalogue.sliceWithout(list, hidden, 0, list.total)
  const found: CatalogueOffer[] = []
  for (const [place, offer] of offers.entries()) {
    if (place % BATCH === BATCH - 1) await breathe()
    if (String(offer.offerId) === wanted || mentions(offer.template, wanted)) found.push(offer)
  }
  return found
}
