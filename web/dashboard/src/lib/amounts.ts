// Amounts as people type them. What could be read in two ways is refused: 1,50 is not 150.
const PLAIN = /^\d+(\.\d+)?$/
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d+)?$/

/** Null: it is no amount. */
export function readAmount(text: string): number | null {
  const typed = text.trim().replace(/^\$\s*/, '')
  return PLAIN.test(typed) || GROUPED.test(typed) ? Number(typed.replaceAll(',', '')) : null
}

/** For the `validate` of a form. */
export const checkAmount = (text: string): string | null =>
  readAmount(text) === null ? 'Enter an amount such as 1234.56.' : null

/** The same, for what must be more than nothing. */
export const checkPositive = (text: string): string | null =>
  checkAmount(text) ?? (readAmount(text) === 0 ? 'Enter an amount above 0.' : null)
