import { foldText, Keywords } from '../offers/keywords.ts'
import type { NewOffer } from '../offers/fields.ts'
import type { FeedSettings, Filters } from './feed-settings.ts'

const known = new WeakMap<Filters, Keywords>()

/** Why the operator does not want it; null: it is wanted. */
export function filterOffer(offer: NewOffer, { filters }: FeedSettings): string | null {
  const { minPayoutMicros, countries, platforms, categories, blockedWords } = filters
  if (minPayoutMicros !== null && offer.payout_micros < minPayoutMicros)
    return 'its payout is below the minimum of this feed'
  if (countries.length > 0 && offer.countries.length > 0 && !offer.countries.some((code) => countries.includes(code)))
    return 'it runs in none of this feed’s countries'
  if (platforms.length > 0 && !offer.platforms.some((one) => platforms.includes(one)))
    return 'it runs on none of this feed’s platforms'
  if (categories.length > 0 && !categories.includes(offer.category)) return `this feed does not accept the category ${offer.category}` // prettier-ignore
  const words = known.get(filters) ?? new Keywords(blockedWords)
  known.set(filters, words)
  return words.appearIn(foldText(`${offer.name}\n${offer.description}`))
    ? 'it contains a word that this feed blocks'
    : null
}
