import { hash } from 'node:crypto'

const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA256 of a text, as base64url. Built from two one-shot hashes over prepared buffers: half the cost of
 * `createHmac` (1.6 µs against 3.5 µs with a KeyObject and 27 µs with a Buffer key), and it runs on every request.
 */
export function createMac(key: Buffer): (text: string) => string {
  if (key.length > BLOCK) throw new RangeError(`An HMAC key has at most ${BLOCK} bytes here.`)
  const outer = Buffer.alloc(BLOCK + DIGEST)
  let inner = Buffer.alloc(1024)
  for (let i = 0; i < BLOCK; i++) {
    inner[i] = (key[i] ?? 0) ^ 0x36
    outer[i] = (key[i] ?? 0) ^ 0x5c
  }
  return (text) => {
    const room = BLOCK + text.length * 3
    if (room > inner.length) inner = Buffer.concat([inner.subarray(0, BLOCK)], room)
    const length = inner.write(text, BLOCK, 'utf8')
    outer.write(hash('sha256', inner.subarray(0, BLOCK + length), 'binary'), BLOCK, 'latin1')
    return hash('sha256', outer, 'base64url')
  }
}
