// What filters look at of an offer, packed: its bits, and how to read them.
import { COUNTRIES } from '../../lib/countries.ts'
import { CATEGORIES, PLATFORMS } from './choices.ts'

/** What filters look at, by slot or by place in a change. */
export type Traits = {
  readonly traits: Uint8Array
  readonly countries: Uint32Array
  readonly stampA: Uint32Array
  readonly stampB: Uint32Array
}

// A bit for each country, and one that every offer has, for requests without a country.
export const COUNTRY_WORDS = Math.ceil((COUNTRIES.length + 1) / 32)
export const ANY_COUNTRY = COUNTRY_WORDS * 32 - 1
// The bits of `traits`: one for each platform, of which every offer has one, those of the category's number, then these.
export const ANY_PLATFORM = 2 ** PLATFORMS.length - 1
export const CATEGORY_SHIFT = PLATFORMS.length
const CATEGORY_BITS = Math.ceil(Math.log2(CATEGORIES.length))
export const CATEGORY_MASK = (2 ** CATEGORY_BITS - 1) << CATEGORY_SHIFT
export const PAID = 2 ** (CATEGORY_SHIFT + CATEGORY_BITS)
export const LISTABLE = PAID * 2
/** A word of `countries` of an offer that runs in all of them. */
export const EVERY_COUNTRY = 0xffff_ffff

export const isListable = ({ traits }: Traits, slot: number) => ((traits[slot] as number) & LISTABLE) !== 0

/** Spreads two numbers over 32 bits, for a stamp. */
export function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(b ^ (b / 2 ** 32), 0xc2b2_ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b_3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a_2d39)
  return (h ^ (h >>> 15)) >>> 0
}
