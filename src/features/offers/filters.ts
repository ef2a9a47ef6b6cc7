import { countryPlace } from '../../lib/countries.ts'
import { searchableText } from './offer-text.ts'
import { CATEGORIES, type Category, PLATFORMS, type Platform } from './schema.ts'
import type { CatalogueOffer, Slots } from './slots.ts'

/** What an app's publisher does not want to show. */
export type ContentRules = { key: string; blockedCategories: string[]; blockedKeywords: string[]; paymentOffers: boolean }

/** An absent part does not filter. */
export type Filter = { country?: string; platform?: Platform; category?: Category; rules: ContentRules | null }

export type Matcher = (slots: Slots, slot: number) => boolean

export function compileFilter({ country, platform, category, rules }: Filter): Matcher {
  const place = country === undefined ? undefined : countryPlace(country)
  const platformBit = platform === undefined ? 0 : 1 << PLATFORMS.indexOf(platform)
  const wanted = category === undefined ? -1 : CATEGORIES.indexOf(category)
  const blocked = CATEGORIES.map((name) => rules?.blockedCategories.includes(name) ?? false)
  const keywords = rules?.blockedKeywords.map((keyword) => keyword.toLowerCase()) ?? []
  return (slots, slot) => {
    if (platformBit !== 0 && !slots.isOn(slot, platformBit)) return false
    if (wanted !== -1 && slots.category(slot) !== wanted) return false
    if (place !== undefined && !slots.isFor(slot, place)) return false
    if (rules === null) return true
    if (blocked[slots.category(slot)] || (!rules.paymentOffers && slots.isPaid(slot))) return false
    if (keywords.length === 0) return true
    const text = searchableText((slots.offers[slot] as CatalogueOffer).template)
    return !keywords.some((keyword) => text.includes(keyword))
  }
}
