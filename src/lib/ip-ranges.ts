// Sets of IP addresses, as large as a list of a million lines. IPv4 and IPv6 are kept apart: only a range that is
// itself written as IPv4 in IPv6 (::ffff:1.2.3.0/120) holds IPv4 addresses.
import ipaddr from 'ipaddr.js'
import { addressWords, type Words } from './ip-address.ts'

const MAX_QUOTE = 60

/** Reads one address or CIDR a line; `#` begins a comment. A bad line is a problem, and the others are accepted. */
export function parseRanges(text: string): { ranges: IpRanges; problems: string[] } {
  const problems: string[] = []
  const v4 = new RangeList(1)
  const v6 = new RangeList(4)
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const entry = withoutComment(lines[i]!)
    if (entry === '') continue
    const range = parseRange(entry)
    if (range !== null) (range.first.length === 1 ? v4 : v6).add(range)
    else problems.push(`Line ${i + 1}: "${entry.slice(0, MAX_QUOTE)}" is not an address or a CIDR such as 10.0.0.0/8.`)
  }
  return { ranges: new IpRanges(v4.merge(), v6.merge()), problems }
}

export class IpRanges {
  readonly #v4: SortedRanges
  readonly #v6: SortedRanges

  constructor(v4: SortedRanges, v6: SortedRanges) {
    this.#v4 = v4
    this.#v6 = v6
  }

  get isEmpty(): boolean {
    return this.#v4.firsts.length + this.#v6.firsts.length === 0
  }

  /** False also for what is not an address. */
  has(address: string): boolean {
    const words = addressWords(address)
    return words !== null && holds(words.length === 1 ? this.#v4 : this.#v6, words)
  }
}

type Range = { first: Words; last: Words }

/** Ranges that do not overlap, in order, `width` words for each end. */
type SortedRanges = { width: number; firsts: Uint32Array; lasts: Uint32Array }

function withoutComment(line: string): string {
  const comment = line.indexOf('#')
  return (comment === -1 ? line : line.slice(0, comment)).trim() // a byte order mark goes, too
}

function parseRange(text: string): Range | null {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const words = addressWords(address)
  if (words === null || slash === -1) return words && { first: words, last: words }
  const digits = text.slice(slash + 1)
  const isMapped = words.length === 1 && address.includes(':')
  const bits = /^\d{1,3}$/.test(digits) ? Number(digits) - (isMapped ? 96 : 0) : -1
  if (bits < 0 || bits > words.length * 32) return null
  const first = words.map((word, i) => (word & mask(bits - 32 * i)) >>> 0)
  return { first, last: first.map((word, i) => (word | ~mask(bits - 32 * i)) >>> 0) }
}

/** A word whose first `bits` are set: none below 1, all above 31. */
function mask(bits: number): number {
  return bits <= 0 ? 0 : bits >= 32 ? -1 : ~(-1 >>> bits)
}

class RangeList {
  readonly #width: number
  #firsts: Uint32Array<ArrayBuffer>
  #lasts: Uint32Array<ArrayBuffer>
  #count = 0

  constructor(width: number) {
    this.#width = width
    this.#firsts = new Uint32Array(16 * width)
    this.#lasts = new Uint32Array(16 * width)
  }

  add({ first, last }: Range): void {
    if (this.#count * this.#width === this.#firsts.length) {
      this.#firsts = doubled(this.#firsts)
      this.#lasts = doubled(this.#lasts)
    }
    copy(first, 0, this.#firsts, this.#count, this.#width)
    copy(last, 0, this.#lasts, this.#count++, this.#width)
  }

  /** CIDRs that overlap lie one in the other, so what a range shares with the one before it is all of the smaller. */
  merge(): SortedRanges {
    const width = this.#width
    const firsts = new Uint32Array(this.#count * width)
    const lasts = new Uint32Array(this.#count * width)
    const order = sortedOrder(this.#firsts, this.#count, width)
    let count = 0
    for (let i = 0; i < order.length; i++) {
      const row = order[i]!
      if (count > 0 && compare(this.#firsts, row, lasts, count - 1, width) <= 0) {
        if (compare(this.#lasts, row, lasts, count - 1, width) <= 0) continue
        count-- // this one begins where that one does, and is the larger
      }
      copy(this.#firsts, row, firsts, count, width)
      copy(this.#lasts, row, lasts, count++, width)
    }
    return { width, firsts: firsts.slice(0, count * width), lasts: lasts.slice(0, count * width) }
  }
}

function doubled(words: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * words.length)
  larger.set(words)
  return larger
}

/** The first `count` rows of `width` words, in order: sorted by their bytes, last first, which takes no comparing. */
function sortedOrder(words: Uint32Array, count: number, width: number): Uint32Array {
  let order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  let next = new Uint32Array(count)
  const places = new Uint32Array(257)
  for (let byte = 4 * width - 1; byte >= 0; byte--) {
    const word = byte >>> 2
    const shift = 24 - 8 * (byte & 3)
    const byteOf = (row: number) => (words[row * width + word]! >>> shift) & 255
    places.fill(0)
    for (let i = 0; i < count; i++) places[byteOf(i) + 1]!++
    for (let i = 1; i < 256; i++) places[i]! += places[i - 1]!
    for (let i = 0; i < count; i++) next[places[byteOf(order[i]!)]!++] = order[i]!
    ;[order, next] = [next, order]
  }
  return order
}

function holds({ width, firsts, lasts }: SortedRanges, address: Words): boolean {
  let low = 0
  let high = firsts.length / width // all from here on begin after the address
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(firsts, middle, address, 0, width) <= 0) low = middle + 1
    else high = middle
  }
  return low > 0 && compare(address, 0, lasts, low - 1, width) <= 0
}

function compare(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, width: number): number {
  for (let k = 0; k < width; k++) {
    const difference = a[i * width + k]! - b[j * width + k]!
    if (difference !== 0) return difference
  }
  return 0
}

function copy(from: ArrayLike<number>, i: number, to: Uint32Array, j: number, width: number): void {
  for (let k = 0; k < width; k++) to[j * width + k] = from[i * width + k]!
}

/** An address, or a range that does not include all of IPv4, not even as IPv6 addresses. */
export function isNarrowCidr(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)) return true
  if (!ipaddr.isValidCIDR(text)) return false
  const [address, bits] = ipaddr.parseCIDR(text)
  if (address instanceof ipaddr.IPv4) return bits > 0
  return bits > 96 || (bits > 0 && !ipaddr.IPv6.parse('::ffff:0:0').match(address, bits))
}

/** This machine only: one of its addresses or names. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (/^(?:[^.]+\.)*localhost\.?$/.test(name)) return true
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback'
}
