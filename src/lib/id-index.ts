// Finds the place of an id in a column of ids. One typed array: a Map of a million numbers takes eight times the memory,
// and everything waits while it grows.

const FEWEST = 1_024

export class IdIndex {
  /** Places plus one, at the hash of their id or behind it. */
  #table: Uint32Array
  #count = 0

  /** With room for so many. */
  constructor(expected: number) {
    this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(expected, FEWEST) * 2)))
  }

  get bytes(): number {
    return this.#table.byteLength
  }

  find(id: number, ids: Float64Array): number | undefined {
    const table = this.#table
    for (let at = this.#start(id); ; at = (at + 1) & (table.length - 1)) {
      const entry = table[at] as number
      if (entry === 0) return undefined
      if (ids[entry - 1] === id) return entry - 1
    }
  }

  /** `ids` has this id, which is new, at this place. */
  add(place: number, ids: Float64Array): void {
    if (++this.#count * 2 > this.#table.length) this.#grow(ids)
    this.#put(place + 1, ids[place] as number)
  }

  #grow(ids: Float64Array): void {
    const entries = this.#table
    this.#table = new Uint32Array(entries.length * 2)
    for (let at = 0; at < entries.length; at++) {
      const entry = entries[at] as number
      if (entry !== 0) this.#put(entry, ids[entry - 1] as number)
    }
  }

  #put(entry: number, id: number): void {
    let at = this.#start(id)
    while (this.#table[at] !== 0) at = (at + 1) & (this.#table.length - 1)
    this.#table[at] = entry
  }

  #start(id: number): number {
    const hash = Math.imul(id ^ (id / 2 ** 32), 0x9e37_79b1)
    return (hash ^ (hash >>> 15)) & (this.#table.length - 1)
  }
}
