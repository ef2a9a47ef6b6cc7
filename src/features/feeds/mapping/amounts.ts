// Amounts as upstreams write them, exactly: as text, never by way of a float that was computed.
import { cutText, readPaths } from './texts.ts'
import { scalarText } from './paths.ts'
import type { Money } from './mapping.ts'

const MICROS = 1_000_000
/** In micros of the upstream's currency, which it may say itself; or why there is none. Null: nothing stands there. */
export type Amount = { micros: number; currency: string } | { problem: string } | null

/** What is written before or behind an amount. A "$" alone can be of any dollar. */
const SIGNS: Record<string, string> = { US$: 'USD', USD: 'USD', '€': 'EUR', EUR: 'EUR', '£': 'GBP', GBP: 'GBP', $: '' }
const SIGN = String.raw`(US\$|USD|EUR|GBP|\$|€|£)?`
const AMOUNT = new RegExp(String.raw`^${SIGN}\s*(-?)(\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.(\d+))?\s*${SIGN}$`, 'i')

/** `1.25`, `"1,050.00"`, `"$2"`. A percentage, a word and a negative amount are none. */
export function parseAmount(value: unknown, isCents = false, what = 'payout'): Amount {
  const text = scalarText(value).trim()
  if (text === '') return null
  if (text.includes('%')) return { problem: `the ${what} "${shown(text)}" is a percentage` }
  const [, before = '', sign, whole = '', fraction = '', behind = ''] = AMOUNT.exec(text) ?? []
  if (sign === undefined) return { problem: `the ${what} "${shown(text)}" is not an amount` }
  if (sign === '-') return { problem: `the ${what} "${shown(text)}" is negative` }
  const currency = SIGNS[before.toUpperCase()] || SIGNS[behind.toUpperCase()] || ''
  const digits = `${whole.replaceAll(',', '')}${fraction.padEnd(6, '0').slice(0, 6)}`
  const micros = Math.floor(Number(digits) / (isCents ? 100 : 1))
  return Number.isSafeInteger(micros) ? { micros, currency } : { problem: `the ${what} "${shown(text)}" is too large` }
}

export function readMoney(money: Money | undefined, item: unknown): Amount {
  if (money === undefined) return null
  const { path = [], cents = false, take = 'first', default: otherwise } = typeof money === 'string' ? { path: money } : money // prettier-ignore
  const amounts = readPaths(path, item).map((value) => parseAmount(value, cents))
  const problem = amounts.find((amount) => amount !== null && 'problem' in amount)
  if (problem) return problem
  const found = amounts.filter((amount) => amount !== null && 'micros' in amount)
  const [first] = found
  if (first === undefined) return otherwise === undefined ? null : parseAmount(otherwise, cents)
  if (take === 'first') return first
  if (found.some(({ currency }) => currency !== first.currency))
    return { problem: 'its payouts are in several currencies' }
  if (take === 'only' && found.some(({ micros }) => micros !== first.micros)) return { problem: `it has conflicting payouts: ${[...new Set(found.map(({ micros }) => micros / MICROS))].join(' and ')}` } // prettier-ignore
  const sum = () => found.reduce((total, { micros }) => total + micros, 0)
  const highest = () => found.reduce((most, { micros }) => Math.max(most, micros), 0)
  return { ...first, micros: take === 'sum' ? sum() : highest() } // of those that must be alike, any
}

const shown = (text: string) => (text.length > 30 ? `${cutText(text, 30)}…` : text)
