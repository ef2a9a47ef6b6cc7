// Everything secret derives from SECRET_KEY, each use with a key of its own.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type KeyPurpose = 'link tokens' | 'secret hashes' | 'sessions' | 'signing secrets' | 'postback headers'

export function deriveKey(secretKey: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'offerdeck', purpose, 32))
}

/** Encrypts a short text (AES-256-GCM); `context` says whose it is, and must be the same to open it. */
export function seal(key: Buffer, text: string, context: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

export function unseal(key: Buffer, sealed: Buffer, context: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
}
