// Writes CSV (RFC 4180).

/** `exact`: a number that is told as text, for the sake of its decimals. */
export type CsvValue = string | number | boolean | null | { exact: string }

export const csvLine = (cells: readonly CsvValue[]) => `${cells.map(csvCell).join(',')}\r\n`

/** An apostrophe keeps a spreadsheet from taking text that others wrote for a formula. */
function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.exact
  if (typeof value !== 'string') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
