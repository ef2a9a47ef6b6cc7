// Where a link leads: the offer's destination with its macros filled in.

/** What the macros stand for; what is not known is empty. */
export type MacroValues = Readonly<Record<string, string | number | null>>

const MACRO = /\{(\w+)\}/g
const PLAIN = /^[\w.~-]*$/
const FITS_A_HEADER = /^[!-~]*$/

export function fillDestination(template: string, values: MacroValues): string {
  const filled = template.replace(MACRO, (_macro, name: string) =>
    Object.hasOwn(values, name) ? encode(String(values[name] ?? '')) : '',
  )
  // Advertisers write addresses as people do, with letters beyond ASCII in them; a header takes the form of browsers.
  return FITS_A_HEADER.test(filled) ? filled : new URL(filled).href
}

/** As RFC 3986 has it, so that a value can never end where it stands and begin something else. */
function encode(text: string): string {
  if (PLAIN.test(text)) return text
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
