import { foldText, Keywords } from '../offers/keywords.ts'
import type { NewOffer } from '../offers/fields.ts'
import type { FeedSettings, Filters } from './feed-settings.ts'

const known = new WeakMap<Filters, Keywords>()

/** Why the operator does not want it; null: it is wanted. */
export function filterOffer(offer: NewOffer, { filters }: FeedSettings): string | null {
  const { minPayoutMicros, countries, platforms, categories, blockedWords } = filters
  if (minPayoutMicros !== null && offer.payout_micros < minPayoutMicros) return 'it pays less than this feed takes'
  if (countries.length > 0 && offer.countries.length > 0 && !offer.countries.some((code) => countries.includes(code)))
    return 'it runs in none of the countries of this feed'
  if (platforms.length > 0 && !offer.platforms.some((one) => platforms.includes(one)))
    return 'it runs on none of the platforms of this feed'
  if (categories.length > 0 && !categories.includes(offer.category)) return `this feed takes no offers of category ${offer.category}` // prettier-ignore
  const words = known.get(filters) ?? new Keywords(blockedWords)
  known.set(filters, words)
  return words.appearIn(foldText(`${offer.name}\n${offer.description}`)) ? 'it has a word that this feed blocks' : null
}
