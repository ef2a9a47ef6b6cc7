// Reads a query string. Unlike the usual parsers it keeps what is wrong visible, so that it can be answered with a
// sentence instead of being guessed at: a repeated parameter is an array, broken percent-encoding is `MALFORMED`.

/** Stands for a value that is not percent-encoded UTF-8. */
export const MALFORMED = Object.freeze({ malformed: true })

export type QueryValue = string | QueryValue[] | typeof MALFORMED
export type Query = Record<string, QueryValue | undefined>

// An object without a prototype, so that "__proto__" is a name like any other; made this way it is also fast.
const Empty = function () {} as unknown as { new (): Query }
Empty.prototype = Object.create(null)

export function parseQuery(text: string): Query {
  const query = new Empty()
  let start = 0
  while (start < text.length) {
    let end = text.indexOf('&', start)
    if (end === -1) end = text.length
    if (end > start) {
      let equals = text.indexOf('=', start)
      if (equals === -1 || equals > end) equals = end
      const name = decode(text.slice(start, equals))
      if (typeof name === 'string') add(query, name, equals === end ? '' : decode(text.slice(equals + 1, end)))
    }
    start = end + 1
  }
  return query
}

function add(query: Query, name: string, value: string | typeof MALFORMED): void {
  const before = query[name]
  if (before === undefined) query[name] = value
  else if (Array.isArray(before)) before.push(value)
  else query[name] = [before, value]
}

const PLAIN = /^[!-$&-*,-~]*$/ // ASCII without "%" and "+": nothing to decode
const BEYOND_ASCII = /[\u0080-\uffff]/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(text: string): string | typeof MALFORMED {
  if (PLAIN.test(text)) return text
  try {
    const spaced = text.replaceAll('+', ' ')
    // Bytes that came unencoded are in the URL as latin1 characters; they too must be UTF-8.
    const raw = BEYOND_ASCII.test(spaced) ? utf8.decode(Buffer.from(spaced, 'latin1')) : spaced
    return raw.includes('%') ? decodeURIComponent(raw) : raw
  } catch {
    return MALFORMED
  }
}
