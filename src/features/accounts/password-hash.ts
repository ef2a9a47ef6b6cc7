// Hashes of passwords: scrypt. A hash may name its cost (`scrypt:N:r:p:salt:key`), so that the cost can be raised later;
// one that does not has the cost that better-auth uses. New ones do not name it yet: the version before cannot read it.
import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto'

export type ScryptCost = { N: number; r: number; p: number }

const KEY_BYTES = 64
const SALT_BYTES = 16
/** Loaded for a password, not for every command about people. */
const betterAuth = () => import('better-auth/crypto')

/** The cost of new hashes: null is that of better-auth. Tests of other things choose less. */
export const newHashes: { cost: ScryptCost | null } = { cost: null }

export async function hashPassword(password: string, cost = newHashes.cost): Promise<string> {
  if (cost === null) return (await betterAuth()).hashPassword(password)
  const salt = randomBytes(SALT_BYTES).toString('hex')
  const key = await deriveKey(password, salt, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt, key.toString('hex')].join(':')
}

export async function verifyPassword({ hash, password }: { hash: string; password: string }): Promise<boolean> {
  const [scheme, N, r, p, salt = '', key = ''] = hash.split(':')
  if (scheme !== 'scrypt') return (await betterAuth()).verifyPassword({ hash, password })
  const derived = await deriveKey(password, salt, { N: Number(N), r: Number(r), p: Number(p) })
  const expected = Buffer.from(key, 'hex')
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

function deriveKey(password: string, salt: string, { N, r, p }: ScryptCost): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * r * (N + p + 2) }
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
