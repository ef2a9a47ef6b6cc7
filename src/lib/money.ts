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

/** What a payout is worth in an app's own currency, at `rate` units a dollar, rounded down to four decimals. */
export function toLocal(micros: number, rateMicros: number): number {
  const exact = (BigInt(micros) * BigInt(rateMicros)) / BigInt(MICROS_PER_USD)
  return microsToUsd(Number(exact))
}

/** All of it, in parts of a million. */
export const WHOLE_PPM = 1_000_000
export const PPM_PER_PERCENT = WHOLE_PPM / 100

/** A share of an amount, in parts of a million, rounded down. */
export function takeShare(micros: number, ppm: number): number {
  return ppm === WHOLE_PPM ? micros : Number((BigInt(micros) * BigInt(ppm)) / BigInt(WHOLE_PPM))
}
