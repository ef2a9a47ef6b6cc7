// Where a link leads: the offer's destination with its macros filled in.
import { percentEncode } from '../../lib/percent-encode.ts'

/** What the macros stand for; what is not known is empty. */
export type MacroValues = Readonly<Record<string, string | number | null>>

const MACRO = /\{(\w+)\}/g
const FITS_A_HEADER = /^[!-~]*$/
const HAS_DOTS = /[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i
const DOTS = /^(?:\.|%2e){1,2}$/i

export function fillDestination(template: string, values: MacroValues): string {
  const plain = fill(template, values)
  const filled = HAS_DOTS.test(plain) ? fillInPlace(template, values) : plain
  // Advertisers write URLs with letters beyond ASCII; a header needs the encoded form.
  return FITS_A_HEADER.test(filled) ? filled : new URL(filled).href
}

const fill = (template: string, values: MacroValues) =>
  template.replace(MACRO, (_macro, name: string) =>
    Object.hasOwn(values, name) ? percentEncode(String(values[name] ?? '')) : '',
  )

/**
 * Every browser climbs at a folder named "..", however the dots are encoded: those that come from a value are encoded
 * twice, as in postbacks (template.ts). What the advertiser wrote stays.
 */
function fillInPlace(template: string, values: MacroValues): string {
  const end = template.search(/[?#]/)
  const path = end === -1 ? template : template.slice(0, end)
  const inPlace = path.split(/([/\\])/).map((part) => {
    const filled = fill(part, values)
    return filled !== part && DOTS.test(filled) ? filled.replaceAll(/\.|%2e/gi, '%252E') : filled
  })
  return inPlace.join('') + (end === -1 ? '' : fill(template.slice(end), values))
}
