// IDs that sort by their creation time (UUIDv7): 48 bits of milliseconds, then a count within the millisecond, then 62
// random bits.
import { randomFillSync } from 'node:crypto'

const POOL = Buffer.alloc(8 * 512)
let poolAt = POOL.length
let lastMs = -1
let count = 0
/** How far others got among the recent milliseconds: a batch goes on with its own while newer ones are counted. */
const counts = new Map<number, number>()
const MAX_COUNTS = 1_000

/** A new ID for this time. Those of one process ascend while its clock does, and those of one time always do. */
export function uuid7(nowMs: number): string {
  if (nowMs !== lastMs) switchTo(nowMs)
  count++
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

function switchTo(nowMs: number): void {
  counts.set(lastMs, count)
  lastMs = nowMs
  count = counts.get(nowMs) ?? -1
  counts.delete(nowMs)
  if (counts.size <= MAX_COUNTS) return
  const [oldest = 0] = counts.keys()
  counts.delete(oldest)
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
