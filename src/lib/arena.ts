// Many small pieces of bytes in few large blocks of memory: an object for each would take more than the bytes do, and
// the garbage collector would visit all of them again and again. Each piece belongs to an owner, a number, who knows its
// place; blocks of which much is not needed any more are given back one by one, what is left in them moves.

const UNIT = 8 // a piece begins at a multiple of this, so that 32 bits reach over 32 GB
const UNITS = 2 ** 17
const BLOCK = UNIT * UNITS
const HEADER = 8 // length and owner
const WASTEFUL = BLOCK / 4
const FREED = Buffer.alloc(0)

export class Arena {
  readonly #blocks: Buffer[] = []
  /** Of each block: bytes in use or removed, and those of them that are removed. */
  readonly #used: number[] = []
  readonly #removed: number[] = []
  #last = -1
  readonly #free: number[] = []

  /** Of all blocks. */
  get bytes(): number {
    return this.#blocks.reduce((sum, block) => sum + block.length, 0)
  }

  /** Keeps a copy; returns its place. */
  add(bytes: Uint8Array, owner: number): number {
    const size = sizeOf(bytes.length)
    const block = this.#blockFor(size)
    const start = this.#used[this.#last] as number
    block.writeUInt32LE(bytes.length, start)
    block.writeUInt32LE(owner, start + 4)
    block.set(bytes, start + HEADER)
    this.#used[this.#last] = start + size
    return this.#last * UNITS + start / UNIT
  }

  #blockFor(size: number): Buffer {
    if (this.#last === -1 || (this.#used[this.#last] as number) + size > BLOCK) {
      this.#last = this.#free.pop() ?? this.#blocks.length
      // Not shared: V8 does not count shared memory, and so would not collect garbage every few blocks.
      this.#blocks[this.#last] = Buffer.from(new SharedArrayBuffer(Math.max(size, BLOCK)))
      this.#used[this.#last] = 0
      this.#removed[this.#last] = 0
    }
    return this.#blocks[this.#last] as Buffer
  }

  at(place: number): Buffer {
    const block = this.#blocks[Math.floor(place / UNITS)] as Buffer
    const start = (place % UNITS) * UNIT + HEADER
    return block.subarray(start, start + block.readUInt32LE(start - HEADER))
  }

  /** Notes that a piece is not needed any more. */
  remove(place: number): void {
    this.#removed[Math.floor(place / UNITS)]! += sizeOf(this.at(place).length)
  }

  /** Gives back blocks of which much was removed. `places` says where the piece of each owner is, plus one. */
  *compact(places: Uint32Array): Generator<void, void> {
    for (let index = 0; index < this.#blocks.length; index++) {
      if (index === this.#last || (this.#removed[index] as number) < WASTEFUL) continue
      this.#moveOut(index, places)
      yield
    }
  }

  #moveOut(index: number, places: Uint32Array): void {
    const block = this.#blocks[index] as Buffer
    for (let start = 0; start < (this.#used[index] as number);) {
      const length = block.readUInt32LE(start)
      const owner = block.readUInt32LE(start + 4)
      if (places[owner] === index * UNITS + start / UNIT + 1)
        places[owner] = this.add(block.subarray(start + HEADER, start + HEADER + length), owner) + 1
      start += sizeOf(length)
    }
    this.#blocks[index] = FREED
    this.#used[index] = 0
    this.#removed[index] = 0
    this.#free.push(index)
  }
}

const sizeOf = (length: number) => Math.ceil((length + HEADER) / UNIT) * UNIT
