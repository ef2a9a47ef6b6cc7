// Amounts as upstreams write them, exactly: as text, never by way of a float that was computed.
import { readPaths } from './texts.ts'
import { scalarText } from './paths.ts'
import type { Money } from './mapping.ts'

const MICROS = 1_000_000
/** What no offer pays: it is coins, or cents, or a mistake. */
const MOST_MICROS = 100_000 * MICROS

/** In micros of the upstream's currency; or why there is none. Null: nothing stands there. */
export type Amount = { micros: number } | { problem: string } | null

/** `1.25`, `"1,050.00"`, `"$2"`. A percentage, a word and a negative amount are none. */
export function parseAmount(value: unknown, isCents = false): Amount {
  const text = scalarText(value).trim()
  if (text === '') return null
  if (text.includes('%')) return { problem: `the payout "${shown(text)}" is a percentage` }
  const plain = text.replace(/^(?:US\$|\$|€|£|USD|EUR|GBP)\s*/i, '').replace(/\s*(?:USD|EUR|GBP|\$|€|£)$/i, '')
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d{1,3}(?:,\d{3})+|\d+|(?=\.\d))(?:\.(\d+))?$/.exec(plain) ?? []
  if (sign === undefined) return { problem: `the payout "${shown(text)}" is not an amount` }
  if (sign === '-') return { problem: `the payout "${shown(text)}" is negative` }
  const digits = `${whole.replaceAll(',', '')}${fraction.padEnd(6, '0').slice(0, 6)}`
  const micros = Math.floor(Number(digits) / (isCents ? 100 : 1))
  return micros > MOST_MICROS ? { problem: `the payout "${shown(text)}" is more than 100,000` } : { micros }
}

export function readMoney(money: Money | undefined, item: unknown): Amount {
  if (money === undefined) return null
  const { path, cents = false, take = 'first' } = typeof money === 'string' ? { path: money } : money
  const amounts = readPaths(path, item).map((value) => parseAmount(value, cents)) // prettier-ignore
  const problem = amounts.find((amount) => amount !== null && 'problem' in amount)
  if (problem) return problem
  const micros = amounts.flatMap((amount) => (amount !== null && 'micros' in amount ? amount.micros : []))
  if (micros.length === 0) return null
  if (take === 'first') return { micros: micros[0] as number }
  return { micros: take === 'sum' ? micros.reduce((sum, one) => sum + one, 0) : Math.max(...micros) }
}

const shown = (text: string) => (text.length > 30 ? `${text.slice(0, 30)}…` : text)
