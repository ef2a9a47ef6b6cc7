// Signs postbacks.
//
// The headers are those of Standard Webhooks: webhook-id, webhook-timestamp, and webhook-signature with the HMAC-SHA256
// of "id.timestamp.content". The content of a POST is its body, byte for byte; a GET has none, and its content is the
// whole URL. {signature} is for receivers that see no headers: it is the last thing in the URL, and signs everything
// before it.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Cache } from '../../lib/cache.ts'

const PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64
const TOLERANCE_S = 300
const TIMESTAMP = /^\d{1,12}$/
const SIGNED_URL = /^(.*=)([0-9a-f]{64})$/s

export type Verdict = 'ok' | 'missing_headers' | 'stale' | 'wrong_signature'

/**
 * The value of webhook-signature: `v1,` and base64; several, separated by spaces, while a secret is being replaced. A
 * secret is `whsec_` and base64.
 */
export function signMessage(secrets: readonly string[], id: string, timestampS: number, content: string): string {
  return secrets.map((secret) => `v1,${mac(secret, `${id}.${timestampS}.`, content, 'base64')}`).join(' ')
}

/** The value of {signature}: HMAC-SHA256 of the URL in lower-case hex, keyed with the bytes of the secret. */
export function signUrl(secret: string, url: string): string {
  return signText(secret, url)
}

/** The same of any text. */
export function signText(secret: string, text: string): string {
  return mac(secret, '', text, 'hex')
}

/** `content` is the body of a POST as it was received, or the URL of a GET as it was sent. */
export function verifyMessage(
  secrets: readonly string[],
  headers: Readonly<Record<string, string | string[] | undefined>>,
  content: string | Uint8Array,
  nowS: number,
  toleranceS: number = TOLERANCE_S,
): Verdict {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'missing_headers'
  if (id === '' || signatures === '' || !TIMESTAMP.test(timestamp)) return 'missing_headers'
  // Without a limit, anyone who once saw a postback could replay it at any time.
  if (Math.abs(nowS - Number(timestamp)) > toleranceS) return 'stale'
  const given = signatures.split(' ').filter((one) => one.startsWith('v1,'))
  const expected = secrets.map((secret) => mac(secret, `${id}.${timestamp}.`, content, 'base64'))
  return given.some((one) => expected.some((right) => isSameText(one.slice('v1,'.length), right)))
    ? 'ok'
    : 'wrong_signature'
}

/** Takes the URL as it was received, with the signature at its end. */
export function verifyUrl(secrets: readonly string[], url: string): boolean {
  const [, signed, signature] = SIGNED_URL.exec(url) ?? []
  if (signed === undefined || signature === undefined) return false
  return secrets.some((secret) => isSameText(signature, signUrl(secret, signed)))
}

export function isSigningSecret(text: string): boolean {
  const encoded = text.slice(PREFIX.length)
  if (!text.startsWith(PREFIX) || !BASE64.test(encoded)) return false
  const { length } = Buffer.from(encoded, 'base64')
  return length >= MIN_KEY_BYTES && length <= MAX_KEY_BYTES
}

// Decoding a secret and importing the key costs more than signing with it.
const keys = new Cache<string, KeyObject>(1_000)

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret)
  if (known !== undefined) return known
  if (!isSigningSecret(secret))
    throw new RangeError(`A signing secret is ${PREFIX} and ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes in base64.`)
  const key = createSecretKey(secret.slice(PREFIX.length), 'base64')
  keys.set(secret, key)
  return key
}

/** A Buffer is signed byte for byte: as text, all bytes that are not UTF-8 would look the same. */
function mac(secret: string, before: string, content: string | Uint8Array, as: 'base64' | 'hex'): string {
  const hmac = createHmac('sha256', keyOf(secret))
  if (typeof content === 'string') return hmac.update(before + content).digest(as)
  return hmac.update(before).update(content).digest(as)
}

/** In constant time. */
export function isSameText(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
