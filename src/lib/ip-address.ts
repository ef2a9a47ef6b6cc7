// One IP address: its numbers, and its canonical form. Parsed by hand, because a list has a million of them and a
// server sees one with every request.
//
// An IPv4 address written as IPv6 (::ffff:1.2.3.4) is that IPv4 address everywhere.
import { isIPv6 } from 'node:net'

const DOT = 46
const COLON = 58

/** An address in words of 32 bits: one for IPv4, four for IPv6. */
export type Words = readonly number[]

/** Null for what is not an address. */
export function addressWords(text: string): Words | null {
  const number = ipv4Number(text)
  if (number !== null) return [number]
  const words = ipv6Words(text)
  const isMapped = words !== null && words[0] === 0 && words[1] === 0 && words[2] === 0xffff
  return isMapped ? words.slice(3) : words
}

/** IPv4 with dots, IPv6 as RFC 5952 has it and without a zone. Null for what is not an address. */
export function plainAddress(text: string): string | null {
  if (ipv4Number(text) !== null) return text
  const words = addressWords(text)
  if (words === null) return null
  const [number = 0] = words
  if (words.length === 1) return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`
  return ipv6Text(words)
}

/** An IPv4 address, or the first half of an IPv6 address, which is what one customer of a provider has; or less of it. */
export function networkOf(text: string, bits: 48 | 64 = 64): string {
  const words = addressWords(text)
  if (words === null) return 'unknown'
  const [first, second = 0] = words
  return words.length === 1 ? String(first) : `${first}:${bits === 64 ? second : `${second >>> 16}/48`}`
}

/** The network that it is in, as an address: IPv4 to /24, IPv6 to /48. Null for what is not an address. */
export function truncateAddress(text: string): string | null {
  const words = addressWords(text)
  if (words === null) return null
  const [first = 0, second = 0] = words
  if (words.length === 1) return `${first >>> 24}.${(first >>> 16) & 255}.${(first >>> 8) & 255}.0`
  return ipv6Text([first, (second & 0xffff_0000) >>> 0, 0, 0])
}

/** Refuses what some would read as octal, such as 010.0.0.1. */
function ipv4Number(text: string): number | null {
  let number = 0
  let octet = -1 // no digit yet
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (octet === -1 || ++dots > 3) return null
      number = number * 256 + octet
      octet = -1
    } else {
      if (code < 48 || code > 57 || octet === 0) return null
      octet = (octet === -1 ? 0 : octet * 10) + code - 48
      if (octet > 255) return null
    }
  }
  return dots === 3 && octet !== -1 ? number * 256 + octet : null
}

// ipaddr.js would read ::1.2.3.4 as if it were ::ffff:1.2.3.4.
function ipv6Words(text: string): Words | null {
  const zone = text.indexOf('%')
  if (zone !== -1 && !isIPv6(text)) return null
  const parts = ipv6Groups(zone === -1 ? text : text.slice(0, zone))
  if (parts === null) return null
  const { groups, gapAt } = parts
  const missing = 8 - groups.length
  const all = [0, 0, 0, 0, 0, 0, 0, 0]
  for (let i = 0; i < groups.length; i++) all[i < gapAt ? i : i + missing] = groups[i]!
  return [pair(all, 0), pair(all, 2), pair(all, 4), pair(all, 6)]
}

function pair(groups: readonly number[], i: number): number {
  return groups[i]! * 0x10000 + groups[i + 1]!
}

/** Its groups in hexadecimal, the longest run of two or more zeros, or the first of equals, as `::`. */
function ipv6Text(words: Words): string {
  const groupAt = (i: number) => (i % 2 === 0 ? words[i >> 1]! >>> 16 : words[i >> 1]! & 0xffff)
  let gapAt = 8
  let gapLength = 1
  for (let i = 0, zeros = 0; i < 8; i++) {
    zeros = groupAt(i) === 0 ? zeros + 1 : 0
    if (zeros <= gapLength) continue
    gapLength = zeros
    gapAt = i + 1 - zeros
  }
  let text = ''
  for (let i = 0; i < 8; i++) {
    if (i >= gapAt && i < gapAt + gapLength) text += i === gapAt ? '::' : ''
    else text += `${i === 0 || i === gapAt + gapLength ? '' : ':'}${groupAt(i).toString(16)}`
  }
  return text
}

/** The groups of 16 bits that are written out, and before which of them `::` stands (8: nowhere). */
function ipv6Groups(text: string): { groups: number[]; gapAt: number } | null {
  const groups: number[] = []
  let gapAt = text.startsWith('::') ? 0 : 8
  let i = gapAt === 0 ? 2 : 0
  while (i < text.length) {
    const start = i
    let group = 0
    for (let digit; i - start < 5 && (digit = hexDigit(text.charCodeAt(i))) !== -1; i++) group = group * 16 + digit
    if (text.charCodeAt(i) === DOT) {
      const number = ipv4Number(text.slice(start))
      if (number === null) return null
      groups.push(number >>> 16, number & 0xffff)
      break
    }
    if (i === start || i - start > 4) return null
    groups.push(group)
    if (i === text.length) break
    if (text.charCodeAt(i++) !== COLON || i === text.length) return null
    if (text.charCodeAt(i) === COLON) {
      if (gapAt !== 8) return null
      gapAt = groups.length
      i++
    }
  }
  const isWhole = gapAt === 8 ? groups.length === 8 : groups.length < 8
  return isWhole ? { groups, gapAt } : null
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}
