// Where a link leads: the offer's destination with its macros filled in.

/** What the macros stand for; what is not known is empty. */
export type MacroValues = Readonly<Record<string, string | number | null>>

const MACRO = /\{(\w+)\}/g

export function fillDestination(template: string, values: MacroValues): string {
  return template.replace(MACRO, (_macro, name: string) => encode(String(values[name] ?? '')))
}

/** As RFC 3986 has it, so that a value can never end where it stands and begin something else. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
