// Files of rates: those of the European Central Bank (eurofxref.csv, eurofxref-hist.csv: a column for each currency, units
// for one euro), and plain ones with the columns currency, day, usd.
import { OperatorError } from '../../errors.ts'
import { readCsvText } from '../../lib/csv-rows.ts'
import type { Rate } from './rates.ts'

const EXPECTED = 'Expected the columns Date, USD, JPY, … (European Central Bank), or currency, day, usd.'
const DECIMALS = 10

export async function readRateFile(text: string): Promise<Rate[]> {
  let names: string[] | null = null
  const rates: Rate[] = []
  for await (const row of readCsvText(text)) {
    if ('problem' in row) throw new OperatorError(`Line ${row.line}: ${row.problem}.`, 'csv')
    const cells = row.cells.map((cell) => cell.trim())
    if (names === null) names = cells.map((cell) => cell.toLowerCase())
    else rates.push(...(names[0] === 'date' ? fromEuros(names, cells, row.line) : [fromPlain(names, cells, row.line)]))
  }
  if (names === null) throw new OperatorError(`The file is empty. ${EXPECTED}`, 'csv')
  if (rates.length === 0) throw new OperatorError(`The file has no rates. ${EXPECTED}`, 'csv')
  return rates
}

function fromPlain(names: readonly string[], cells: readonly string[], line: number): Rate {
  const [currency, day, usd] = ['currency', 'day', 'usd'].map((name) => cells[names.indexOf(name)])
  if (currency === undefined || day === undefined || usd === undefined) throw new OperatorError(`Line ${line} has no currency, day or usd. ${EXPECTED}`, 'csv') // prettier-ignore
  return { currency: currency.toUpperCase(), day, usd }
}

/** Each currency through the euro. N/A and empty cells are left out. */
function fromEuros(names: readonly string[], cells: readonly string[], line: number): Rate[] {
  const day = readDay(cells[0] ?? '')
  const perEuro = new Map(names.slice(1).map((name, i) => [name.toUpperCase(), cells[i + 1] ?? '']))
  const dollars = perEuro.get('USD') ?? ''
  if (day === null) throw new OperatorError(`Line ${line}: "${cells[0]}" is not a day.`, 'csv')
  if (!isNumber(dollars)) throw new OperatorError(`Line ${line} has no rate for USD. ${EXPECTED}`, 'csv')
  const known = [...perEuro].filter(([currency, rate]) => /^[A-Z]{3}$/.test(currency) && currency !== 'USD' && isNumber(rate)) // prettier-ignore
  return [
    { currency: 'EUR', day, usd: dollars },
    ...known.map(([currency, rate]) => ({ currency, day, usd: (Number(dollars) / Number(rate)).toFixed(DECIMALS) })),
  ]
}

const isNumber = (text: string) => /^\d+(\.\d+)?$/.test(text) && Number(text) > 0

/** `2026-11-17`, and `17 November 2026` as the file of one day has it. */
function readDay(text: string): string | null {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return text
  const date = /^\d{1,2} [A-Za-z]+ \d{4}$/.test(text) ? new Date(`${text} UTC`) : null
  return date === null || Number.isNaN(date.getTime()) ? null : date.toISOString().slice(0, 10)
}
