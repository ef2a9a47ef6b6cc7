/** What a lane can send now, and what limits its publisher. */
export type Room = {
  appId: number
  publisherId: number
  room: number
  /** What the publisher has in flight, and the most it may have. */
  held: number
  mostHeld: number
  /** Free capacity of this worker. */
  free: number
}

/**
 * How many each lane gets: one each, then one more each, until nothing is left or no lane has room. A publisher that
 * holds as much capacity as is free gets no more: however many are slow, there is room for the next.
 */
export function shareOut(lanes: readonly Room[], limit: number): Map<number, number> {
  const shares = new Map<number, number>()
  const held = new Map(lanes.map((lane) => [lane.publisherId, lane.held]))
  let free = lanes[0]?.free ?? 0
  for (let left = limit, before = 0; left > 0 && left !== before;) {
    before = left
    for (const { appId, publisherId, room, mostHeld } of lanes) {
      const share = shares.get(appId) ?? 0
      const holds = held.get(publisherId) ?? 0
      if (left === 0 || share >= room || holds >= Math.min(mostHeld, free)) continue
      shares.set(appId, share + 1)
      held.set(publisherId, holds + 1)
      left--
      free--
    }
  }
  return shares
}
