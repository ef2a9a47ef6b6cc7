// What publishers are paid of what an upstream pays: the operator keeps the rest.
import { exactUsd, takeShare } from '../../lib/money.ts'
import { MAX_PAYOUT_MICROS, parsePayoutCap } from '../offers/caps.ts'
import { type DollarRate, toDollars } from '../rates/rates.ts'
import type { MoneyCap } from './mapping/caps.ts'
import type { MappedGoal } from './mapping/goals.ts'
import type { MappedOffer } from './mapping/map-offer.ts'

const STEP_MICROS = 100 // amounts have four decimals

/** Undefined where none is known. */
export type Rates = (currency: string) => DollarRate | undefined

export type Pricing = {
  /** For offers that name none. */
  currency: string
  /** Of the revenue, in millionths. */
  sharePpm: number
  /** The least and the most that the operator keeps of a goal; null: no bound. */
  minMarginMicros: number | null
  maxMarginMicros: number | null
}

export type PricedGoal = Omit<MappedGoal, 'micros'> & { payout: string; revenue: string }
/** `caps`: the fields of caps that are amounts. */
export type Priced = { goals: PricedGoal[]; caps: Record<string, string> } | { problem: string }

/** In dollars as imports take them, rounded down. */
export function priceOffer({ currency, goals, caps }: MappedOffer, pricing: Pricing, rates: Rates): Priced {
  const own = currency || pricing.currency
  const rate = rates(own)
  if (rate === undefined) return { problem: `it pays in ${own}, and there is no exchange rate for ${own}` }
  const priced = goals.map(({ micros, ...goal }) => {
    const revenue = floorTo(STEP_MICROS, toDollars(micros, rate))
    const payout = floorTo(STEP_MICROS, payoutOf(revenue, pricing))
    return { ...goal, micros: revenue, payout: exactUsd(payout), revenue: exactUsd(revenue), isPaid: payout > 0 }
  })
  if (priced.reduce((sum, { micros }) => sum + micros, 0) > MAX_PAYOUT_MICROS)
    return { problem: 'it pays more than 100,000 dollars' } // coins, cents, or a mistake
  if (!priced.some(({ isPaid }) => isPaid)) return { problem: 'nothing would be left for publishers' }
  const capped = priceCaps(caps, own, rates)
  if ('problem' in capped) return capped
  return { goals: priced.map(({ isPaid: _isPaid, micros: _micros, ...goal }) => goal), caps: capped.caps }
}

/** Of several for the same, the lowest counts. */
function priceCaps(
  caps: readonly MoneyCap[],
  own: string,
  rates: Rates,
): { caps: Record<string, string> } | { problem: string } {
  // prettier-ignore
  const lowest = new Map<string, number>()
  for (const { field, micros, currency } of caps) {
    const rate = rates(currency || own)
    if (rate === undefined)
      return { problem: `it has a cap in ${currency}, and there is no exchange rate for ${currency}` }
    const dollars = Math.max(STEP_MICROS, floorTo(STEP_MICROS, toDollars(micros, rate)))
    if (parsePayoutCap(exactUsd(dollars)) === null) continue // a billion dollars or more is no cap
    lowest.set(field, Math.min(dollars, lowest.get(field) ?? Infinity))
  }
  return { caps: Object.fromEntries([...lowest].map(([field, micros]) => [field, exactUsd(micros)])) }
}

/** A goal that does not pay for itself is still a step of its offer. */
function payoutOf(revenue: number, { sharePpm, minMarginMicros, maxMarginMicros }: Pricing): number {
  const margin = Math.max(revenue - takeShare(revenue, sharePpm), minMarginMicros ?? 0)
  return Math.max(0, revenue - Math.min(margin, maxMarginMicros ?? Infinity))
}

const floorTo = (step: number, micros: number) => Math.floor(micros / step) * step
