// Everything secret derives from SECRET_KEY, each use with a key of its own.
//
// While SECRET_KEY is replaced there are two: the first writes, all read. They travel as one text, a line each, so that
// whatever takes the secret key takes both.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type KeyPurpose =
  | 'link tokens'
  | 'secret hashes'
  | 'sessions'
  | 'signing secrets'
  | 'postback headers'
  | 'receiver secrets'
  | 'locker visitors'
  | 'feed credentials'
  | 'callback signatures'
  | 'erased users'
  | 'key id'

export const joinKeys = (current: string, older: readonly string[]): string => [current, ...older].join('\n')

/** The one that writes, then those that only read. */
export const splitKeys = (secretKey: string): string[] => secretKey.split('\n')

/** What to write with. */
export function deriveKey(secretKey: string, purpose: KeyPurpose): Buffer {
  return derive(splitKeys(secretKey)[0] as string, purpose)
}

/** What to read with. */
export function deriveKeys(secretKey: string, purpose: KeyPurpose): Buffer[] {
  return splitKeys(secretKey).map((key) => derive(key, purpose))
}

/** Identifies a key without revealing it: the check value in the database, and the end of a stored hash. */
export function keyId(secretKey: string): string {
  return deriveKey(secretKey, 'key id').toString('base64url').slice(0, 8)
}

function derive(key: string, purpose: KeyPurpose): Buffer {
  return Buffer.from(hkdfSync('sha256', key, 'offerdeck', purpose, 32))
}

/** Encrypts a short text (AES-256-GCM); `context` names its owner, and must be the same to decrypt it. */
export function seal(key: Buffer, text: string, context: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Throws when none of the keys opens it. */
export function unseal(keys: readonly Buffer[], sealed: Buffer, context: string): string {
  for (const key of keys.slice(0, -1)) {
    try {
      return unsealWith(key, sealed, context)
    } catch {} // the next one may
  }
  return unsealWith(keys.at(-1) as Buffer, sealed, context)
}

function unsealWith(key: Buffer, sealed: Buffer, context: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8')
}

export type Resealed = { resealed: number; unreadable: number }

/** The same text sealed with the key that writes, where it is not so already. */
export function reseal(
  secretKey: string,
  purpose: KeyPurpose,
  sealed: Buffer,
  context: string,
): Buffer | 'current' | 'unreadable' {
  const [current, ...older] = deriveKeys(secretKey, purpose) as [Buffer, ...Buffer[]]
  try {
    unsealWith(current, sealed, context)
    return 'current'
  } catch {
    try {
      return older.length === 0 ? 'unreadable' : seal(current, unseal(older, sealed, context), context)
    } catch {
      return 'unreadable'
    }
  }
}
