// How a language writes numbers. Pages get it from here: `Intl` takes a slow phone a fifth of a second before its first
// number (web/wall/numbers.ts).
import type { Language } from '../../../lib/languages.ts'

export type NumberStyle = {
  group: string
  decimal: string
  /** Groups begin at so many digits: Spanish writes 1234, but 12.345. */
  from: number
}

const styles = new Map<Language, NumberStyle>()

export function numberStyleOf(language: Language): NumberStyle {
  const known = styles.get(language) ?? readStyle(language)
  styles.set(language, known)
  return known
}

function readStyle(language: Language): NumberStyle {
  const format = new Intl.NumberFormat(language)
  const parts = format.formatToParts(12_345.5)
  const valueOf = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  return { group: valueOf('group'), decimal: valueOf('decimal'), from: format.format(1_234).length > 4 ? 4 : 5 }
}
