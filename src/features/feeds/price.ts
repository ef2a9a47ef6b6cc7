// What publishers are paid of what an upstream pays: the operator keeps the rest.
import { exactUsd, takeShare } from '../../lib/money.ts'
import { type DollarRate, toDollars } from '../rates/rates.ts'
import type { MappedGoal, MappedOffer } from './mapping/map-offer.ts'

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
export type Priced = { goals: PricedGoal[] } | { problem: string }

/** In dollars as imports take them, rounded down. */
export function priceOffer({ currency, goals }: MappedOffer, pricing: Pricing, rates: Rates): Priced {
  const own = currency || pricing.currency
  const rate = rates(own)
  if (rate === undefined) return { problem: `it is paid in ${own}, and there is no rate for that` }
  const priced = goals.map(({ micros, ...goal }) => {
    const revenue = floorTo(STEP_MICROS, toDollars(micros, rate))
    const payout = floorTo(STEP_MICROS, payoutOf(revenue, pricing))
    return { ...goal, payout: exactUsd(payout), revenue: exactUsd(revenue), isPaid: payout > 0 }
  })
  if (!priced.some(({ isPaid }) => isPaid)) return { problem: 'nothing of its payout is left for publishers' }
  return { goals: priced.map(({ isPaid: _isPaid, ...goal }) => goal) }
}

/** A goal that does not pay for itself is still a step of its offer. */
function payoutOf(revenue: number, { sharePpm, minMarginMicros, maxMarginMicros }: Pricing): number {
  const margin = Math.max(revenue - takeShare(revenue, sharePpm), minMarginMicros ?? 0)
  return Math.max(0, revenue - Math.min(margin, maxMarginMicros ?? Infinity))
}

const floorTo = (step: number, micros: number) => Math.floor(micros / step) * step
