import type { NumberStyle } from '../../src/features/wall/texts/numbers.ts'

const DECIMALS = 4

/** As the language writes it, with four decimals at most. */
export function writeNumber(value: number, { group, decimal, from }: NumberStyle): string {
  const [whole = '', fraction = ''] = value.toFixed(DECIMALS).split('.')
  const digits = whole.replace('-', '')
  const grouped = digits.length < from ? whole : whole.replaceAll(/\B(?=(\d{3})+$)/g, group)
  const shown = fraction.replace(/0+$/, '')
  return shown === '' ? grouped : grouped + decimal + shown
}
