const PLAIN = /^[\w.~-]*$/

/** As RFC 3986 has it, so that a value can never end where it stands in a URL and begin something else. */
export function percentEncode(text: string): string {
  if (PLAIN.test(text)) return text
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
