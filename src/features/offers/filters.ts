import { countryPlace } from '../../lib/countries.ts'
import { mentions } from './offer-text.ts'
import { CATEGORIES, type Category, PLATFORMS, type Platform, type Sort, SORTS } from './schema.ts'
import {
  ANY_COUNTRY,
  ANY_PLATFORM,
  type CatalogueOffer,
  CATEGORY_MASK,
  CATEGORY_SHIFT,
  COUNTRY_WORDS,
  type Slots,
} from './slots.ts'

/** What an app's publisher does not want to show. */
export type ContentRules = {
  /** Another number for other rules, never 0. */
  id: number
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
  /** By the operator: only these offers, or all but these; null: all. */
  listed: { only: boolean; offerIds: number[] } | null
}

/** An absent part does not filter. */
export type Filter = { country?: string; platform?: Platform; category?: Category; rules: ContentRules | null }

/** A filter in the terms of `Slots`: the same three tests for every filter, with nothing to decide between them. */
export type CompiledFilter = {
  platformBits: number
  categoryMask: number
  categoryBits: number
  countryWord: number
  countryBit: number
  rules: { blocked: boolean[]; paymentOffers: boolean; keywords: string[]; listed: ListedOffers | null } | null
}

type ListedOffers = { only: boolean; offerIds: ReadonlySet<number> }

export function compileFilter({ country, platform, category, rules }: Filter): CompiledFilter {
  const place = (country === undefined ? undefined : countryPlace(country)) ?? ANY_COUNTRY
  return {
    platformBits: platform === undefined ? ANY_PLATFORM : 1 << PLATFORMS.indexOf(platform),
    categoryMask: category === undefined ? 0 : CATEGORY_MASK,
    categoryBits: category === undefined ? 0 : CATEGORIES.indexOf(category) << CATEGORY_SHIFT,
    countryWord: place >> 5,
    countryBit: 1 << (place & 31),
    rules: rules && {
      blocked: CATEGORIES.map((name) => rules.blockedCategories.includes(name)),
      paymentOffers: rules.paymentOffers,
      keywords: rules.blockedKeywords
        .filter((keyword) => keyword.trim() !== '')
        .map((keyword) => keyword.toLowerCase()),
      listed: rules.listed && { only: rules.listed.only, offerIds: new Set(rules.listed.offerIds) },
    },
  }
}

/** A number for each filter and order. Rules have numbers already; the rest is counted through. */
export function listKey({ country, platform, category, rules }: Filter, sort: Sort): number {
  const place = country === undefined ? ANY_COUNTRY : (countryPlace(country) ?? ANY_COUNTRY)
  const onPlatform = platform === undefined ? PLATFORMS.length : PLATFORMS.indexOf(platform)
  const inCategory = category === undefined ? CATEGORIES.length : CATEGORIES.indexOf(category)
  return ((((rules?.id ?? 0) * 4 + SORTS.indexOf(sort)) * 4 + onPlatform) * 5 + inCategory) * 256 + place
}

export function matches(filter: CompiledFilter, slots: Slots, slot: number): boolean {
  const its = slots.traits[slot] as number
  return (
    (its & filter.platformBits) !== 0 &&
    (its & filter.categoryMask) === filter.categoryBits &&
    ((slots.countries[slot * COUNTRY_WORDS + filter.countryWord] as number) & filter.countryBit) !== 0 &&
    (filter.rules === null || isAllowed(filter.rules, slots, slot))
  )
}

/** Those of `order` that match. The same test again, with everything it needs taken out of the loop: twice as fast. */
export function selectMatching(filter: CompiledFilter, slots: Slots, order: Uint32Array): Uint32Array {
  const { traits, countries } = slots
  const { platformBits, categoryMask, categoryBits, countryWord, countryBit, rules } = filter
  const selected = new Uint32Array(order.length)
  let length = 0
  for (let place = 0; place < order.length; place++) {
    const slot = order[place] as number
    const its = traits[slot] as number
    if ((its & platformBits) === 0 || (its & categoryMask) !== categoryBits) continue
    if (((countries[slot * COUNTRY_WORDS + countryWord] as number) & countryBit) === 0) continue
    if (rules === null || isAllowed(rules, slots, slot)) selected[length++] = slot
  }
  return selected.subarray(0, length)
}

function isAllowed(rules: NonNullable<CompiledFilter['rules']>, slots: Slots, slot: number): boolean {
  if (rules.blocked[slots.category(slot)] || (!rules.paymentOffers && slots.isPaid(slot))) return false
  const { offerId, template } = slots.offers[slot] as CatalogueOffer
  if (rules.listed !== null && rules.listed.offerIds.has(offerId) !== rules.listed.only) return false
  return !rules.keywords.some((keyword) => mentions(template, keyword))
}

/** The same for an offer that is not at hand as a slot. */
export function isContentAllowed(
  rules: Omit<ContentRules, 'id' | 'listed'>,
  offer: { category: string; payment_required: boolean; name: string; description: string },
): boolean {
  if (rules.blockedCategories.includes(offer.category) || (!rules.paymentOffers && offer.payment_required)) return false
  const text = `${offer.name}\n${offer.description}`.toLowerCase()
  return !rules.blockedKeywords.some((keyword) => keyword.trim() !== '' && text.includes(keyword.toLowerCase()))
}
