// Many rows as one array of them: for PostgreSQL by far the cheapest way to take them in. An array a column costs twice as
// much, JSON three times.

type Value = string | number | boolean | Date | readonly string[] | null

type Row<Column extends string> = { readonly [Name in Column]?: Value }

/** Rows as PostgreSQL writes an array of a composite type, of which `columns` are the attributes, all of them and in order. */
export function rowsLiteral<Column extends string>(columns: readonly Column[], rows: readonly Row<Column>[]): string {
  let text = '{'
  for (let i = 0; i < rows.length; i++) text += `${i === 0 ? '' : ','}"(${rowText(columns, rows[i] as Row<Column>)})"`
  return `${text}}`
}

/** Nothing between two commas is null. Nearly no text has to be quoted, so all of them are looked at together. */
function rowText<Column extends string>(columns: readonly Column[], row: Row<Column>): string {
  let text = ''
  let texts = ''
  for (let c = 0; c < columns.length; c++) {
    const value = row[columns[c] as Column] ?? null
    if (c > 0) text += ','
    if (typeof value === 'string') texts += value === '' ? QUOTE : value
    if (value !== null) text += typeof value === 'object' ? attribute(value) : value
  }
  return SPECIAL.test(texts) ? columns.map((column) => attribute(row[column] ?? null)).join(',') : text
}

/** What is quoted is quoted twice: in its row, and the row in the array. */
function attribute(value: Value): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') return attribute(arrayLiteral(value))
  const text = String(value)
  return text === '' || SPECIAL.test(text) ? escape(`"${escape(text)}"`) : text
}

const QUOTE = '"'
const SPECIAL = /[(),"\\]/
const escape = (text: string) => text.replaceAll(/["\\]/g, '\\$&')

/** A list of values as PostgreSQL writes an array. */
export function arrayLiteral(values: readonly Value[]): string {
  let text = '{'
  for (let i = 0; i < values.length; i++) text += (i === 0 ? '' : ',') + element(values[i] as Value)
  return `${text}}`
}

const MARK = '\u001e'

/**
 * Long texts, for `string_to_array(…, E'\\x1e')`: they need no escaping, which is half the cost of an array. Characters
 * that would be ambiguous, or cannot be stored, are dropped.
 */
export const markedTexts = (texts: readonly string[]) =>
  texts.map((text) => (UNFIT.test(text) ? text.replaceAll(ALL_UNFIT, '') : text)).join(MARK)

// oxlint-disable-next-line no-control-regex
const UNFIT = /[\0\u001e]/
// oxlint-disable-next-line no-control-regex
const ALL_UNFIT = /[\0\u001e]/g

function element(value: Value): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return `"${escape(value)}"`
  if (value instanceof Date) return `"${value.toISOString()}"`
  if (typeof value === 'object') return element(arrayLiteral(value)) // to be cast where it is used
  return String(value)
}
