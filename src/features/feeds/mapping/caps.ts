import { MAX_COUNT_CAP } from '../../offers/caps.ts'
import { parseAmount } from './amounts.ts'
import type { Cap } from './mapping.ts'
import { readAll, scalarText } from './paths.ts'
import { holds, readText } from './texts.ts'

const FIELDS = {
  day: { clicks: 'daily_click_cap', conversions: 'daily_conversion_cap', revenue: 'daily_revenue_cap', payout: 'daily_payout_cap' },
  total: { clicks: 'total_click_cap', conversions: 'total_conversion_cap', revenue: 'total_revenue_cap', payout: 'total_payout_cap' },
} // prettier-ignore

/** In the currency of the cap, or where it says none, of the offer: empty. */
export type MoneyCap = { field: string; micros: number; currency: string }
/** `ignored`: what stands in place of an amount, such as "unlimited" or -1. */
export type Caps = { counts: Record<string, number>; money: MoneyCap[]; ignored: string[] }

/** Of several for the same, the lowest counts. 0, what is negative, too large or no number is none. */
export function readCaps(caps: readonly Cap[], item: unknown): Caps {
  const read: Caps = { counts: {}, money: [], ignored: [] }
  for (const { value, where = [], period, of, currency } of caps) {
    if (!where.every((condition) => holds(condition, item))) continue
    const field = FIELDS[period][of]
    const values = readAll(value, item)
    if (of === 'clicks' || of === 'conversions') {
      const numbers = values.map((one) => Math.floor(Number(scalarText(one))))
      const lowest = Math.min(
        ...numbers.filter((number) => number > 0 && number <= MAX_COUNT_CAP),
        read.counts[field] ?? Infinity,
      )
      if (lowest < Infinity) read.counts[field] = lowest
      continue
    }
    for (const amount of values.map((one) => parseAmount(one, false, 'cap'))) {
      if (amount === null) continue
      if ('problem' in amount) read.ignored.push(amount.problem)
      else if (amount.micros > 0) read.money.push({ field, micros: amount.micros, currency: amount.currency || readText(currency, item).toUpperCase() }) // prettier-ignore
    }
  }
  return read
}
