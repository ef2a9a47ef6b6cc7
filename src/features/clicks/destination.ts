// Where a link leads: the offer's destination with its macros filled in.
import { percentEncode } from '../../lib/percent-encode.ts'

/** What the macros stand for; what is not known is empty. */
export type MacroValues = Readonly<Record<string, string | number | null>>

const MACRO = /\{(\w+)\}/g
const FITS_A_HEADER = /^[!-~]*$/

export function fillDestination(template: string, values: MacroValues): string {
  const filled = template.replace(MACRO, (_macro, name: string) =>
    Object.hasOwn(values, name) ? percentEncode(String(values[name] ?? '')) : '',
  )
  // Advertisers write addresses as people do, with letters beyond ASCII in them; a header takes the form of browsers.
  return FITS_A_HEADER.test(filled) ? filled : new URL(filled).href
}
