// Reads a query string for the parameters that a route knows; others are ignored. What is wrong stays visible, so that
// it can be answered with a sentence instead of being guessed at: a repeated parameter is an array, broken
// percent-encoding is `MALFORMED`.

/** Stands for a value that is not percent-encoded UTF-8. */
export const MALFORMED = Object.freeze({ malformed: true })

export type QueryValue = string | QueryValue[] | typeof MALFORMED
/** `STRAY` holds the names that look like paging and are not known here, if there are any. */
export type Query = Record<string, QueryValue | undefined> & { [STRAY]?: string[] }

export const STRAY = Symbol('stray')

/**
 * How other APIs call paging parameters. A list that ignored one of them would start over, and its reader would never
 * notice.
 */
const PAGING = [
  'after', 'before', 'cursor', 'ending_before', 'next_cursor', 'nextCursor', 'next_token', 'offset', 'page', 'page_size',
  'page_token', 'pageSize', 'pageToken', 'per_page', 'perPage', 'skip', 'starting_after', 'startingAfter',
] // prettier-ignore

/**
 * A parser for these names. It compares names in place and gives every result the same shape: on the hot path a general
 * parser, which creates an object with arbitrary names, costs as much as the rest of routing.
 */
export function createQueryParser(names: readonly string[]): (text: string) => Query {
  const stray = new Set(names.includes('limit') ? PAGING.filter((name) => !names.includes(name)) : [])
  const sought = [...names, ...stray]
  const byLength = Map.groupBy(sought, (name) => name.length)
  const isKnown = new Set(sought)
  const empty: Query = Object.fromEntries(names.map((name) => [name, undefined]))

  function knownName(text: string, start: number, end: number): string | undefined {
    const candidates = byLength.get(end - start)
    if (candidates !== undefined) {
      for (const candidate of candidates) if (text.startsWith(candidate, start)) return candidate
    }
    // A name may be percent-encoded, too, though this is rare.
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
      if (name !== undefined) {
        if (stray.has(name)) (query[STRAY] ??= []).push(name)
        else add(query, name, decode(text.slice(nameEnd + 1, end)))
      }
      start = end + 1
    }
    return query
  }
}

/** A parser for pages, which check nothing: what was sent twice, or is malformed, was not sent. */
export function createTextParser(names: readonly string[]): (text: string) => Record<string, string | undefined> {
  const parse = createQueryParser(names)
  return (text) => {
    const query = parse(text)
    const texts = names.map((name) => [name, typeof query[name] === 'string' ? query[name] : undefined] as const)
    return Object.fromEntries(texts)
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

/** The plain names of a URL's parameters, for suggesting a misspelled one. */
export function parseNames(url: string): string[] {
  const at = url.indexOf('?')
  if (at === -1) return []
  const names = url.slice(at + 1).split('&').map((pair) => pair.split('=', 1)[0] ?? '') // prettier-ignore
  return names.filter((name) => /^[\w-]{1,20}$/.test(name))
}
