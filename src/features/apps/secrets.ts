// What API keys and secrets look like: pk_live_…, pk_test_…, sk_live_…, sk_test_…, whsec_….
// A checksum at the end lets scanners of source code tell a real one from a random text without asking anybody.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createMac } from '../../lib/hmac.ts'
import { deriveKey } from '../../lib/keys.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6

export type Mode = 'live' | 'test'

export const modeOf = (isTest: boolean): Mode => (isTest ? 'test' : 'live')

/** Public: 128 random bits. */
export const makeApiKey = (mode: Mode): string => withChecksum(`pk_${mode}_${base62(randomBytes(16), 22)}`)

/** Private: 256 random bits. */
export const makeApiSecret = (mode: Mode): string => withChecksum(`sk_${mode}_${base62(randomBytes(32), 43)}`)

/** In the form the Standard Webhooks libraries take. */
export const makeSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** How a secret is stored: keyed, so that a stolen table alone does not even allow a guess to be checked. */
export function createSecretHash(secretKey: string): (secret: string) => string {
  return createMac(deriveKey(secretKey, 'secret hashes'))
}

export function hasValidChecksum(text: string): boolean {
  return text === withChecksum(text.slice(0, -CHECKSUM_LENGTH))
}

function withChecksum(text: string): string {
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(text))
  return text + base62(checksum, CHECKSUM_LENGTH)
}

function base62(bytes: Buffer, length: number): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(number % 62n)] + text
    number /= 62n
  }
  return text
}
