// Custom headers of postbacks: which can be set.
const MAX_HEADERS = 20
const MAX_HEADER_LENGTH = 1_000
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e]*$/
// Set by the connection or the signature.
const FORBIDDEN_HEADERS = [
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
  'accept-encoding',
]

/** What is wrong, each a sentence. */
export function checkHeaders(headers: Readonly<Record<string, string>>): string[] {
  const entries = Object.entries(headers)
  const errors = entries.length > MAX_HEADERS ? [`There can be at most ${MAX_HEADERS} headers.`] : []
  for (const [name, value] of entries) {
    errors.push(...checkHeaderName(name))
    if (!HEADER_VALUE.test(value) || value.length > MAX_HEADER_LENGTH)
      errors.push(`The value of the header ${name} must be at most ${MAX_HEADER_LENGTH} printable ASCII characters.`)
  }
  const names = entries.map(([name]) => name.toLowerCase())
  if (new Set(names).size < names.length) errors.push('Each header can be set only once.')
  return errors
}

export function checkHeaderName(name: string): string[] {
  const lower = name.toLowerCase()
  if (!HEADER_NAME.test(name) || name.length > 100) return [`"${name}" is not a valid header name.`]
  if (FORBIDDEN_HEADERS.includes(lower) || lower.startsWith('webhook-'))
    return [`The header ${name} cannot be set: it is reserved.`]
  return []
}
