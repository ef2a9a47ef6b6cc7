import { randomBytes } from 'node:crypto'

const LENGTH = 16
let pool = Buffer.alloc(0)
let at = 0

/** For a content security policy: 128 random bits. Drawn by the page, because a draw for each costs as much as its headers. */
export function createNonce(): string {
  if (at === pool.length) {
    pool = randomBytes(256 * LENGTH)
    at = 0
  }
  return pool.toString('base64', at, (at += LENGTH))
}
