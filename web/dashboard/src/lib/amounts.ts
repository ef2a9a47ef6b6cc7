import { formatCount, hasDecimalComma } from './format.ts'
// Amounts and numbers as people type them. What could be read in two ways is refused: 1,50 is not 150.

const PLAIN = /^\d+(\.\d+)?$/
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d+)?$/

const GROUPED_BY_DOTS = /^[1-9]\d{0,2}(\.\d{3})+$/

const isAmbiguous = (typed: string) => hasDecimalComma() && GROUPED_BY_DOTS.test(typed)

/** Null: it is no amount. */
export function readAmount(text: string): number | null {
  const typed = text.trim().replace(/^\$\s*/, '')
  if (isAmbiguous(typed)) return null
  return PLAIN.test(typed) || GROUPED.test(typed) ? Number(typed.replaceAll(',', '')) : null
}

/** The amount of an input that was checked; what is none is refused by the server. */
export const amountOf = (text: string): number => readAmount(text) ?? Number.NaN

/** For the `validate` of a form. */
export const checkAmount = (text: string): string | null => {
  if (isAmbiguous(text.trim())) return `Enter ${text.trim().replaceAll('.', '')}, or ${text.trim()}0 for a fraction.`
  return readAmount(text) === null ? 'Enter an amount such as 1234.56.' : null
}

/** The same, for what must be more than nothing. */
export const checkPositive = (text: string): string | null =>
  checkAmount(text) ?? (readAmount(text) === 0 ? 'Enter an amount above 0.' : null)

const WHOLE = /^(\d{1,15}|\d{1,3}(,\d{3}){1,4})$/

/** Null: it is no whole number. */
export const readWhole = (text: string): number | null =>
  WHOLE.test(text.trim()) ? Number(text.trim().replaceAll(',', '')) : null

/** The number of an input that was checked; what is none is refused by the server. */
export const wholeOf = (text: string): number => readWhole(text) ?? Number.NaN

/** For a filter that may be empty. */
export const checkId = (text: string): string | null =>
  text.trim() === '' || readWhole(text) !== null ? null : 'An ID is a number.'

/** For the `validate` of a form. */
export const checkWhole =
  (min: number, max: number) =>
  (text: string): string | null => {
    const number = readWhole(text)
    return number === null || number < min || number > max
      ? `Enter a whole number from ${formatCount(min)} to ${formatCount(max)}.`
      : null
  }
