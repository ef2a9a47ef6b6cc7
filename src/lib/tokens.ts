// What keys, secrets and tokens of this program have in common: their format and how they are stored. A checksum at the
// end lets secret scanners recognise a real one without a request.
import { crc32 } from 'node:zlib'
import { createMac } from './hmac.ts'
import { deriveKey, keyId, splitKeys } from './keys.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6

/** How many characters of a stored hash are the hash itself; behind it stand a dot and the id of its key. */
export const HASH_LENGTH = 43 // of a base64url SHA-256

/** How a secret is stored: keyed, so that a stolen table alone does not even allow a guess to be checked. */
export function createSecretHash(secretKey: string): (secret: string) => string {
  const mac = createMac(deriveKey(secretKey, 'secret hashes'))
  const ending = `.${keyId(secretKey)}`
  return (secret) => mac(secret) + ending
}

/** All that may be stored of a secret, the present form first: with the id of its key, or without one, as it once was. */
export function createSecretHashes(secretKey: string): (secret: string) => string[] {
  const hashes = splitKeys(secretKey).map(createSecretHash)
  return (secret) =>
    hashes.flatMap((hash) => {
      const stored = hash(secret)
      return [stored, stored.slice(0, HASH_LENGTH)]
    })
}

export function hasValidChecksum(text: string): boolean {
  return text === withChecksum(text.slice(0, -CHECKSUM_LENGTH))
}

export function withChecksum(text: string): string {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(text))
  return text + base62(checksum, CHECKSUM_LENGTH)
}

export function base62(bytes: Buffer, length: number): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(number % 62n)] + text
    number /= 62n
  }
  return text
}
