import { countryPlace } from '../../lib/countries.ts'
import { CATEGORIES, type Category, PLATFORMS, type Platform, type Order, ORDERS } from './choices.ts'
import type { ContentRules, RuleSet } from './rule-sets.ts'
import type { Slots } from './slots.ts'
import { ANY_COUNTRY, ANY_PLATFORM, CATEGORY_MASK, CATEGORY_SHIFT, COUNTRY_WORDS, type Traits } from './traits.ts'

/** An absent part does not filter. */
export type Filter = { country?: string; platform?: Platform; category?: Category; rules: ContentRules | null }

/** A filter in the terms of `Slots`: the same three tests for every filter, with nothing to decide between them. */
export type CompiledFilter = {
  platformBits: number
  categoryMask: number
  categoryBits: number
  countryWord: number
  countryBit: number
}

export function compileFilter({ country, platform, category }: Omit<Filter, 'rules'>): CompiledFilter {
  const place = (country === undefined ? undefined : countryPlace(country)) ?? ANY_COUNTRY
  return {
    platformBits: platform === undefined ? ANY_PLATFORM : 1 << PLATFORMS.indexOf(platform),
    categoryMask: category === undefined ? 0 : CATEGORY_MASK,
    categoryBits: category === undefined ? 0 : CATEGORIES.indexOf(category) << CATEGORY_SHIFT,
    countryWord: place >> 5,
    countryBit: 1 << (place & 31),
  }
}

/** A number for each filter and order. Rules have numbers already; the rest is counted through. */
export function listKey({ country, platform, category, rules }: Filter, order: Order): number {
  const place = country === undefined ? ANY_COUNTRY : (countryPlace(country) ?? ANY_COUNTRY)
  const onPlatform = platform === undefined ? PLATFORMS.length : PLATFORMS.indexOf(platform)
  const inCategory = category === undefined ? CATEGORIES.length : CATEGORIES.indexOf(category)
  const inOrder = (rules?.id ?? 0) * ORDERS.length + ORDERS.indexOf(order)
  return (
    ((inOrder * (PLATFORMS.length + 1) + onPlatform) * (CATEGORIES.length + 1) + inCategory) * (ANY_COUNTRY + 1) + place
  )
}

export function matches(filter: CompiledFilter, { traits, countries }: Traits, slot: number): boolean {
  const its = traits[slot] as number
  return (
    (its & filter.platformBits) !== 0 &&
    (its & filter.categoryMask) === filter.categoryBits &&
    ((countries[slot * COUNTRY_WORDS + filter.countryWord] as number) & filter.countryBit) !== 0
  )
}

const CHUNK = 16_384

/**
 * Those of `order` that match, some at a time. The same test again, with everything it needs taken out of the loop:
 * twice as fast. What it gives is good until it is asked for more.
 */
export function* selectMatching(
  filter: CompiledFilter,
  rules: RuleSet | null,
  slots: Slots,
  order: Uint32Array,
): Generator<Uint32Array> {
  const selected = new Uint32Array(Math.min(CHUNK, order.length))
  for (let start = 0; start < order.length; start += CHUNK) {
    yield selected.subarray(0, selectInto(selected, filter, rules, slots, order.subarray(start, start + CHUNK)))
  }
}

function selectInto(
  selected: Uint32Array,
  { platformBits, categoryMask, categoryBits, countryWord, countryBit }: CompiledFilter,
  rules: RuleSet | null,
  { traits, countries }: Slots,
  order: Uint32Array,
): number {
  let length = 0
  for (let place = 0; place < order.length; place++) {
    const slot = order[place] as number
    const its = traits[slot] as number
    if ((its & platformBits) === 0 || (its & categoryMask) !== categoryBits) continue
    if (((countries[slot * COUNTRY_WORDS + countryWord] as number) & countryBit) === 0) continue
    if (rules === null || rules.allows(slot)) selected[length++] = slot
  }
  return length
}
