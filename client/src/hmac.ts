// HMAC-SHA256 by a signing secret, with Web Crypto: every runtime has it, and its `verify` takes the same time whatever
// the signature is.
const HMAC = { name: 'HMAC', hash: 'SHA-256' }
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/
const MIN_KEY_BYTES = 24

/** `secret` is `whsec_` and base64. It is never repeated in an error. */
function importKey(secret: string, usage: 'sign' | 'verify') {
  const bytes = decodeBase64(SECRET.exec(secret)?.[1] ?? '')
  // Without a key anyone could sign.
  if (bytes.length < MIN_KEY_BYTES) throw new TypeError('A signing secret is whsec_ and base64, as your app shows it.')
  return crypto.subtle.importKey('raw', bytes, HMAC, false, [usage])
}

export async function signHex(secret: string, text: string): Promise<string> {
  const key = await importKey(secret, 'sign')
  const signature = new Uint8Array(await crypto.subtle.sign(HMAC, key, new TextEncoder().encode(text)))
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Whether one of the secrets made one of the signatures. */
export async function isSigned(
  secrets: readonly string[],
  signatures: readonly Uint8Array<ArrayBuffer>[],
  content: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const keys = await Promise.all(secrets.map((secret) => importKey(secret, 'verify')))
  for (const key of keys)
    for (const signature of signatures) if (await crypto.subtle.verify(HMAC, key, signature, content)) return true
  return false
}

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

export function decodeHex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}
