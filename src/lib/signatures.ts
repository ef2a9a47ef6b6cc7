// Signatures of requests as networks make them: a hash of a text that is put together from the request and a secret.
import { createHash, createHmac } from 'node:crypto'
import { percentEncode } from './percent-encode.ts'

export const ALGORITHMS = ['md5', 'sha1', 'sha256', 'hmac-md5', 'hmac-sha1', 'hmac-sha256'] as const
export const ENCODINGS = ['hex', 'hex_upper', 'base64'] as const

export type HashKind = { algorithm: (typeof ALGORITHMS)[number]; encoding: (typeof ENCODINGS)[number] }

/** The secret is the key of an HMAC; otherwise it is where the text has it. */
export function signText({ algorithm, encoding }: HashKind, secret: string, text: string): string {
  const isKeyed = algorithm.startsWith('hmac-')
  const hash = isKeyed ? createHmac(algorithm.slice('hmac-'.length), secret) : createHash(algorithm)
  const signature = hash.update(text).digest(encoding === 'base64' ? 'base64' : 'hex')
  return encoding === 'hex_upper' ? signature.toUpperCase() : signature
}

/** All parameters, sorted by name; encoded as by PHP, percent-encoded, or not encoded. */
export const SORTED_QUERIES = ['sorted_query', 'sorted_query_rfc3986', 'sorted_query_decoded'] as const

/** By the bytes of the names, as ksort does it. */
export function sortQuery(query: string, how: string): string {
  const pairs = [...new URLSearchParams(query)].toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const encode = how === 'sorted_query' ? encodeForm : how === 'sorted_query_rfc3986' ? percentEncode : String
  return pairs.map((pair) => pair.map((text) => encode(text)).join('=')).join('&')
}

/** As urlencode of PHP. */
const encodeForm = (text: string) => percentEncode(text).replaceAll('%20', '+').replaceAll('~', '%7E')
