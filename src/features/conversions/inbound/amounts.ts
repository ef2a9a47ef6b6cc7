// Amounts as advertisers write them: 12.5, $1,234.56, 1.234,56, (5.00), -5, 1e3. An amount that is ambiguous, or not in
// dollars, is unclear: guessing could be wrong by a factor of a thousand.

/** How an advertiser writes amounts: its decimal separator, and what a negative amount means. */
export type AmountStyle = {
  decimalMark: 'detect' | 'point' | 'comma'
  negativeAmount: 'refuse' | 'reversal' | 'ignore'
}

export type Amount = { micros: number; isNegative: boolean }

const CURRENCY = String.raw`(?:US\$|USD|\$)?`
const AMOUNT = new RegExp(
  String.raw`^(\()? ?([-+]?) ?${CURRENCY} ?([-+]?)(\d[\d.,' ]*|[.,]\d+)(?:e([-+]?\d{1,3}))? ?${CURRENCY} ?(-?)(\))?$`,
  'i',
)
const MICRO_DIGITS = 6
const MAX_MICROS = BigInt(Number.MAX_SAFE_INTEGER)

/** One amount, however often it is given; 'unclear' when it is no amount, or ambiguous. */
export function readAmount(texts: readonly string[], mark: AmountStyle['decimalMark']): Amount | 'unclear' | null {
  const [first, ...others] = texts.map((text) => parseAmount(text, mark))
  if (first === undefined) return null
  const isSame = (other: Amount | null) =>
    other !== null && other.micros === first?.micros && other.isNegative === first.isNegative
  return first === null || !others.every(isSame) ? 'unclear' : first
}

function parseAmount(text: string, mark: AmountStyle['decimalMark']): Amount | null {
  // Wide digits, narrow blanks and typographic signs are normalized.
  const plain = text.normalize('NFKC').replaceAll(/\s/g, ' ').replaceAll(/[\u2010-\u2015\u2212]/g, '-').replaceAll('\u2019', "'") // prettier-ignore
  const match = AMOUNT.exec(plain)
  if (match === null) return null
  const [, open = '', before = '', inside = '', number = '', exponent = '', behind = '', close = ''] = match
  const signs = `${before}${inside}${behind}`
  if ((open === '') !== (close === '') || signs.length > 1 || (open !== '' && signs !== '')) return null
  const parts = splitNumber(number.trim(), mark)
  if (parts === null || (exponent !== '' && /[,' ]/.test(number))) return null
  const micros = toMicros(parts.whole, parts.decimals, Number(exponent))
  return { micros, isNegative: micros > 0 && (open !== '' || signs === '-') }
}

function splitNumber(number: string, mark: AmountStyle['decimalMark']): { whole: string; decimals: string } | null {
  const decimal = findDecimalMark(number, mark)
  if (decimal === null) return null
  const at = decimal === '' ? number.length : number.lastIndexOf(decimal)
  const [whole, decimals] = [number.slice(0, at), number.slice(at + 1)]
  const isGrouped = /^\d{1,3}(?:([.,' ])\d{3})(?:\1\d{3})*$/.test(whole)
  return /^\d*$/.test(decimals) && (/^\d*$/.test(whole) || isGrouped)
    ? { whole: whole.replaceAll(/\D/g, ''), decimals }
    : null
}

/** '' without decimals, null when ambiguous: 1,234 is a thousand for some and a little more than one for others. */
function findDecimalMark(number: string, mark: AmountStyle['decimalMark']): '.' | ',' | '' | null {
  const [points, commas] = [number.split('.').length - 1, number.split(',').length - 1]
  if (points > 0 && commas > 0) return number.lastIndexOf('.') > number.lastIndexOf(',') ? '.' : ','
  if (points + commas !== 1) return '' // none, or thousands
  const looksGrouped = /^[1-9]\d{0,2}[.,]\d{3}$/.test(number)
  if (points === 1) return looksGrouped && mark === 'comma' ? '' : '.'
  if (!looksGrouped) return ','
  return mark === 'comma' ? ',' : mark === 'point' ? '' : null
}

/** Rounded to the nearest micro; an amount too large for a number stays too large. */
function toMicros(whole: string, decimals: string, exponent: number): number {
  const digits = BigInt(`${whole}${decimals}` || '0')
  const shift = MICRO_DIGITS + exponent - decimals.length
  if (digits === 0n) return 0
  if (shift > 40) return Number(MAX_MICROS)
  if (shift < -300) return 0
  const micros = shift >= 0 ? digits * 10n ** BigInt(shift) : (digits * 2n + 10n ** BigInt(-shift)) / (2n * 10n ** BigInt(-shift)) // prettier-ignore
  return Number(micros > MAX_MICROS ? MAX_MICROS : micros)
}
