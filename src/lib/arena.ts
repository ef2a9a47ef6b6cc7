// Many small pieces of bytes in few large blocks of memory: an object for each would take more than the bytes do, and
// the garbage collector would visit all of them again and again.

const UNIT = 8 // a piece begins at a multiple of this, so that 32 bits reach over 32 GB
const UNITS = 2 ** 17
const BLOCK = UNIT * UNITS

export class Arena {
  #blocks: Buffer[] = []
  #used = BLOCK
  #added = 0
  #removed = 0

  /** Keeps a copy; returns its place. */
  add(bytes: Uint8Array): number {
    const size = Math.ceil((bytes.length + 4) / UNIT) * UNIT
    if (this.#used + size > BLOCK) {
      this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(size, BLOCK)))
      this.#used = 0
    }
    const last = this.#blocks.length - 1
    const block = this.#blocks[last] as Buffer
    const place = last * UNITS + this.#used / UNIT
    block.writeUInt32LE(bytes.length, this.#used)
    block.set(bytes, this.#used + 4)
    this.#used += size
    this.#added += size
    return place
  }

  at(place: number): Buffer {
    const block = this.#blocks[Math.floor(place / UNITS)] as Buffer
    const start = (place % UNITS) * UNIT
    return block.subarray(start + 4, start + 4 + block.readUInt32LE(start))
  }

  /** Notes that a piece is not needed any more. */
  remove(place: number): void {
    this.#removed += Math.ceil((this.at(place).length + 4) / UNIT) * UNIT
  }

  /** Whether copying what is needed into a new one would free much. */
  get isWasteful(): boolean {
    return this.#removed > 4 * BLOCK && this.#removed * 2 > this.#added
  }
}
