// Reads a query string for the parameters that a route knows; others are ignored. What is wrong stays visible, so that
// it can be answered with a sentence instead of being guessed at: a repeated parameter is an array, broken
// percent-encoding is `MALFORMED`.

/** Stands for a value that is not percent-encoded UTF-8. */
export const MALFORMED = Object.freeze({ malformed: true })

export type QueryValue = string | QueryValue[] | typeof MALFORMED
export type Query = Record<string, QueryValue | undefined>

/**
 * A parser for these names. It compares names in place and gives every result the same shape: on the hot path a general
 * parser, which makes an object with whatever names come, costs as much as all the rest of routing.
 */
export function createQueryParser(names: readonly string[]): (text: string) => Query {
  const byLength = new Map(names.map((name) => [name.length, names.filter((other) => other.length === name.length)]))
  const isKnown = new Set(names)
  const empty: Query = Object.fromEntries(names.map((name) => [name, undefined]))

  function knownName(text: string, start: number, end: number): string | undefined {
    const candidates = byLength.get(end - start)
    if (candidates !== undefined) {
      for (const candidate of candidates) if (text.startsWith(candidate, start)) return candidate
    }
    // A name may be percent-encoded, too, though nobody does.
    const name = text.slice(start, end)
    if (!name.includes('%')) return undefined
    const decoded = decode(name)
    return typeof decoded === 'string' && isKnown.has(decoded) ? decoded : undefined
  }

  return (text) => {
    const query = { ...empty }
    let equals = -1
    for (let start = 0; start < text.length;) {
      let end = text.indexOf('&', start)
      if (end === -1) end = text.length
      // Searched for again only when it was passed: a text of nothing but "&" must not be read a thousand times.
      if (equals < start) equals = text.indexOf('=', start)
      if (equals === -1) equals = text.length
      const nameEnd = Math.min(equals, end)
      const name = knownName(text, start, nameEnd)
      if (name !== undefined) add(query, name, decode(text.slice(nameEnd + 1, end)))
      start = end + 1
    }
    return query
  }
}

function add(query: Query, name: string, value: string | typeof MALFORMED): void {
  const before = query[name]
  if (before === undefined) query[name] = value
  else if (Array.isArray(before)) before.push(value)
  else query[name] = [before, value]
}

const ENCODED = /[^!-$&-*,-~]/ // "%", "+", and what should have been encoded
const BEYOND_ASCII = /[\u0080-\uffff]/

function decode(text: string): string | typeof MALFORMED {
  if (!ENCODED.test(text)) return text
  if (BEYOND_ASCII.test(text)) return MALFORMED
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return MALFORMED
  }
}
