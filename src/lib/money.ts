// Money is integer micro-USD (a millionth of a dollar) inside; JSON shows dollars with at most four decimals.

export const MICROS_PER_USD = 1_000_000
const MICROS_PER_STEP = 100 // four decimals
const DECIMAL = /^\d{1,9}(\.\d{1,4})?$/

/** Dollars as people write them ("1.5", 2) into micros, or null when it is not an amount with at most four decimals. */
export function parseUsd(value: string | number): number | null {
  const text = String(value).trim()
  return DECIMAL.test(text) ? Math.round(Number(text) * MICROS_PER_USD) : null
}

/** Units of an app's currency into ten thousandths, by the same rules. */
export function parseSteps(value: string | number): number | null {
  const micros = parseUsd(value)
  return micros === null ? null : micros / MICROS_PER_STEP
}

/** Dollars with a sign in front: a credit, or a debit. */
export function parseSignedUsd(value: string | number): number | null {
  const [, sign, text = ''] = /^([+-]?)(.*)$/.exec(String(value).trim()) ?? []
  const micros = parseUsd(text)
  return micros !== null && sign === '-' ? 0 - micros : micros
}

/** Truncated towards zero, so that a reversal shows the same amount as the credit. */
export function microsToUsd(micros: number): number {
  return (Math.trunc(micros / MICROS_PER_STEP) || 0) / 10_000 // without a minus before zero
}

/** Dollars with as many decimals as it takes, two at least. */
export function exactUsd(micros: number): string {
  const whole = Math.floor(Math.abs(micros) / MICROS_PER_USD)
  const decimals = String(Math.abs(micros) % MICROS_PER_USD)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${micros < 0 ? '-' : ''}${whole}.${decimals}`
}

export const ROUNDINGS = ['down', 'nearest', 'up'] as const
export const MOST_DECIMALS = 4
/** How rewards are rounded, and to how many decimals: `nearest0`, say. Null: down to four. */
export type Rounding = `${(typeof ROUNDINGS)[number]}${0 | 1 | 2 | 3 | 4}`

const PARTS_PER_STEP = 100_000_000n // of the product of a payout and a rate, both in millionths

/**
 * What a payout is worth in an app's own currency, at `rate` units a dollar, in ten thousandths of a unit. The function
 * reward_steps does the same in the database.
 */
export function rewardSteps(micros: number, rateMicros: number, rounding: string | null): number {
  const exact = BigInt(micros) * BigInt(rateMicros)
  if (rounding === null) return Number(exact / PARTS_PER_STEP)
  const unit = 10n ** BigInt(MOST_DECIMALS - Number(rounding.at(-1))) // in ten thousandths
  const size = unit * PARTS_PER_STEP
  const mode = rounding.slice(0, -1)
  const more = mode === 'up' ? size - 1n : mode === 'nearest' ? size / 2n : 0n
  return Number(((exact + more) / size) * unit)
}

export const stepsToUnits = (steps: number) => steps / 10_000

/** The same in units. */
export const toLocal = (micros: number, rateMicros: number, rounding: string | null): number =>
  stepsToUnits(rewardSteps(micros, rateMicros, rounding))

/** The rate while rewards are multiplied; null: they are not. */
export const multipliedRate = (rateMicros: number, multiplierPpm: number | null): number =>
  multiplierPpm === null ? rateMicros : takeShare(rateMicros, multiplierPpm)

/** As a factor. */
export const multiplierOf = (multiplierPpm: number | null): number => (multiplierPpm ?? WHOLE_PPM) / WHOLE_PPM

/** All of it, in parts of a million. */
export const WHOLE_PPM = 1_000_000
export const PPM_PER_PERCENT = WHOLE_PPM / 100

/** A share of an amount, in parts of a million, rounded down. */
export function takeShare(micros: number, ppm: number): number {
  return ppm === WHOLE_PPM ? micros : Number((BigInt(micros) * BigInt(ppm)) / BigInt(WHOLE_PPM))
}
