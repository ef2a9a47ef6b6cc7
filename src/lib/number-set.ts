/** A set of whole numbers from 1 to 2^53, in 8 to 16 bytes each: a `Set` takes three times as much. Only grows. */
export class NumberSet {
  #slots = new Float64Array(1024)
  #size = 0

  get size(): number {
    return this.#size
  }

  has(number: number): boolean {
    return this.#slots[this.#placeOf(number)] === number
  }

  add(number: number): void {
    const place = this.#placeOf(number)
    if (this.#slots[place] === number) return
    this.#slots[place] = number
    if (++this.#size * 2 > this.#slots.length) this.#grow()
  }

  /** Where it is, or where it would go: 0 stands for an empty place. */
  #placeOf(number: number): number {
    const mask = this.#slots.length - 1
    let place = (number ^ (number / 0x1_0000_0000)) & mask
    while (this.#slots[place] !== 0 && this.#slots[place] !== number) place = (place + 1) & mask
    return place
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Float64Array(before.length * 2)
    for (const number of before) if (number !== 0) this.#slots[this.#placeOf(number)] = number
  }
}
