// Sorted slots: taking some out, and putting some in.

/** Those that are not marked. A plain loop: `filter` with a function takes six times as long. */
export function withoutDirty(list: Uint32Array, dirty: Uint8Array): Uint32Array {
  const kept = new Uint32Array(list.length)
  let length = 0
  for (let place = 0; place < list.length; place++) {
    const slot = list[place] as number
    if (dirty[slot] !== 1) kept[length++] = slot
  }
  return kept.subarray(0, length)
}

/** Two sorted lists without a common slot, as one. `added` is the short one: each finds its place by halving. */
export function mergeSlots(
  list: Uint32Array,
  added: readonly number[],
  compare: (a: number, b: number) => number,
): Uint32Array {
  if (added.length === 0) return list
  const merged = new Uint32Array(list.length + added.length)
  let taken = 0
  for (let next = 0; next < added.length; next++) {
    const slot = added[next] as number
    let low = taken
    let high = list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(list[middle] as number, slot) < 0) low = middle + 1
      else high = middle
    }
    merged.set(list.subarray(taken, low), taken + next)
    merged[low + next] = slot
    taken = low
  }
  merged.set(list.subarray(taken), taken + added.length)
  return merged
}
