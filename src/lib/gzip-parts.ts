// A gzip stream of parts that are compressed once and sent many times, with a few that differ in every answer between
// them. Compressing a whole page for every request would cost far more than the rest of the answer.
//
// Each compressed part ends with a full flush: it refers to nothing before it and ends on a whole byte, so that parts may
// follow each other in any order (RFC 1951). What differs goes in uncompressed. The checksum of the whole is computed
// from those of the parts: for a part of a given length, what the bytes before it contribute to the checksum changes by a
// linear map, which is kept with the part.
import { constants, crc32, deflateRawSync } from 'node:zlib'

const HEADER = '\x1f\x8b\b\0\0\0\0\0\0\x03'
const LAST_BLOCK = '\x03\0'
const MAX_STORED = 65_535
const POLYNOMIAL = 0xedb88320

/** Bit i of a checksum becomes `map[i]` behind this many bytes. */
type LinearMap = Uint32Array

/**
 * `blocks` are bytes as latin1 characters: Node writes headers and body in one piece where the body is such a text, which
 * is cheaper than a piece for each.
 */
export type Part = { text: Buffer; blocks: string; crc: number; shift: LinearMap | null }

/** For what is sent often: compressed as well as can be. */
export function compressPart(content: string): Part {
  const text = Buffer.from(content)
  const blocks = deflateRawSync(text, { level: constants.Z_BEST_COMPRESSION, finishFlush: constants.Z_FULL_FLUSH })
  return { text, blocks: blocks.toString('latin1'), crc: crc32(text), shift: shiftBy(text.length) }
}

/** For what is sent once. */
export function storePart(content: string): Part {
  const text = Buffer.from(content)
  let blocks = ''
  for (let at = 0; at < text.length; at += MAX_STORED) {
    const end = Math.min(at + MAX_STORED, text.length)
    const length = end - at
    blocks += `\0${littleEndian(length, 2)}${littleEndian(~length, 2)}${text.toString('latin1', at, end)}`
  }
  return { text, blocks, crc: 0, shift: null }
}

export const joinPlain = (parts: readonly Part[]): Buffer => Buffer.concat(parts.map(({ text }) => text))

/** As latin1 characters. */
export function joinGzip(parts: readonly Part[]): string {
  let crc = 0
  let length = 0
  let body = HEADER
  for (const part of parts) {
    crc = part.shift === null ? crc32(part.text, crc) : (apply(part.shift, crc) ^ part.crc) >>> 0
    length += part.text.length
    body += part.blocks
  }
  return `${body}${LAST_BLOCK}${littleEndian(crc, 4)}${littleEndian(length, 4)}`
}

function littleEndian(number: number, bytes: 2 | 4): string {
  const low = String.fromCharCode(number & 0xff, (number >>> 8) & 0xff)
  return bytes === 2 ? low : low + String.fromCharCode((number >>> 16) & 0xff, number >>> 24)
}

function apply(map: LinearMap, value: number): number {
  let result = 0
  for (let bits = value, i = 0; bits !== 0; bits >>>= 1, i++) if (bits & 1) result ^= map[i] as number
  return result
}

/** The map of one zero bit, squared and multiplied up to `bytes` zero bytes, as zlib's crc32_combine does. */
function shiftBy(bytes: number): LinearMap {
  let result = Uint32Array.from({ length: 32 }, (_, i) => (1 << i) >>> 0)
  let power = Uint32Array.from({ length: 32 }, (_, i) => (i === 0 ? POLYNOMIAL : 1 << (i - 1)))
  for (let bits = bytes * 8; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) result = compose(power, result)
    power = compose(power, power)
  }
  return result
}

const compose = (outer: LinearMap, inner: LinearMap): Uint32Array<ArrayBuffer> =>
  Uint32Array.from(inner, (column) => apply(outer, column) >>> 0)
