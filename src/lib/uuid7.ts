// IDs that sort by their creation time (UUIDv7): 48 bits of milliseconds, then a count within the millisecond, then 62
// random bits.
import { randomFillSync } from 'node:crypto'

const POOL = Buffer.alloc(8 * 512)
let poolAt = POOL.length
let lastMs = 0
let count = 0

/** A new id for this time. Those of one process ascend while its clock does, and those of one time always do. */
export function uuid7(nowMs: number): string {
  count = nowMs > lastMs ? 0 : count + 1
  lastMs = Math.max(lastMs, nowMs)
  if (poolAt === POOL.length) {
    randomFillSync(POOL)
    poolAt = 0
  }
  const random = POOL.toString('hex', poolAt, poolAt + 8)
  poolAt += 8
  const time = nowMs.toString(16).padStart(12, '0')
  const within = (0x7000 | (count & 0xfff)).toString(16)
  const variant = '89ab'[parseInt(random[0] as string, 16) & 3]
  return `${time.slice(0, 8)}-${time.slice(8)}-${within}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}

/** Below every ID created at this time or later, and above every one created before. */
export function uuid7Floor(nowMs: number): string {
  const time = Math.max(0, Math.floor(nowMs)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

export const isUuid = (text: string): boolean => UUID.test(text)

/** When an ID was created, in milliseconds. */
export function uuid7Time(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
