// Writes CSV (RFC 4180) that no spreadsheet executes.
//
// Excel, LibreOffice and Sheets treat a cell as a formula if it begins with = + - @, or their full-width forms, after
// any white space. Where cells begin depends on the reader's separator: where that is a semicolon or a tab, quotes in
// the middle of a line mean nothing, so that a cell may begin after any semicolon, tab or line break within one of
// ours. An apostrophe in front of the sign makes it text everywhere.

/** `exact`: a number that is passed as text to keep its decimals. */
export type CsvValue = string | number | boolean | null | { exact: string }

const SIGN = /[=+\-@＝＋－＠﹢﹣﹦﹫−]/
const SEPARATOR = /[;\t\n\v\f\r\u0085\u2028\u2029]/
/** What a spreadsheet looks past at the beginning of a cell. */
const PASSED_OVER = /[\s\p{Cc}\p{Cf}"]/u
const QUOTED = /[",;\t\r\n]/

export const csvLine = (cells: readonly CsvValue[]) => `${cells.map(csvCell).join(',')}\r\n`

function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.exact
  if (typeof value !== 'string') return String(value)
  const safe = SIGN.test(value) ? disarm(value) : value
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function disarm(text: string): string {
  let safe = ''
  let isAtStart = true
  for (const c of text) {
    if (isAtStart && SIGN.test(c)) safe += "'"
    safe += c
    isAtStart = SEPARATOR.test(c) || (isAtStart && PASSED_OVER.test(c))
  }
  return safe
}
