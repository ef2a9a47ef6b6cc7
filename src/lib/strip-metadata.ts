// Takes out of an image what a person would not know they send along: where and by which camera it was taken, comments,
// previews. Its pixels stay as they are, and so does the way up.
import { crc32 } from 'node:zlib'
import type { ImageFormat } from './image-format.ts'

/** The same image without it. What is not built as its format says stays as it is: programs cannot read it either. */
export function stripMetadata(bytes: Buffer, { extension }: Pick<ImageFormat, 'extension'>): Buffer {
  if (extension === 'jpg') return stripJpeg(bytes)
  if (extension === 'png') return stripPng(bytes)
  return extension === 'webp' ? stripWebp(bytes) : bytes // a GIF has nothing but comments
}

const [EOI, SOS, APP0, APP1, APP2, APP14, APP15, COM] = [0xd9, 0xda, 0xe0, 0xe1, 0xe2, 0xee, 0xef, 0xfe] as const
const OF_PIXELS: readonly number[] = [APP0, APP2, APP14] // JFIF, the colour profile, Adobe's colour transform

/** Segment by segment to the end of the picture: phones put others, and videos, behind it. */
function stripJpeg(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  let orientation = 1
  let at = 2
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] as number
    if (marker === EOI) break
    if (marker === 0xff) {
      at += 1 // filled up
      continue
    }
    const next = at + 2 + bytes.readUInt16BE(at + 2)
    const end = marker === SOS ? endOfScan(bytes, next) : next
    if (marker === APP1) orientation = readOrientation(bytes.subarray(at + 4, end)) ?? orientation
    const isNote = marker === COM || (marker >= APP0 && marker <= APP15 && !OF_PIXELS.includes(marker))
    if (!isNote) kept.push(bytes.subarray(at, end))
    at = end
  }
  const way = orientation === 1 ? [] : [orientationSegment(orientation)]
  return Buffer.concat([bytes.subarray(0, 2), ...way, ...kept, Buffer.from([0xff, EOI])])
}

/** Where the next segment begins: within a scan, 0xff is followed by 0, or by a mark to restart at. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at + 1)) {
    const code = bytes[at + 1] as number
    if (code !== 0 && code !== 0xff && (code < 0xd0 || code > 0xd7)) return at
  }
  return bytes.length
}

const EXIF = Buffer.from('Exif\0\0', 'latin1')
const ORIENTATION = 0x0112

/** Of the first directory of an Exif segment. */
function readOrientation(segment: Buffer): number | null {
  if (!segment.subarray(0, EXIF.length).equals(EXIF)) return null
  const tiff = segment.subarray(EXIF.length)
  if (tiff.length < 14) return null
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (start + 2 > tiff.length) return null
  for (let entry = start + 2; entry + 12 <= Math.min(tiff.length, start + 2 + short(start) * 12); entry += 12)
    if (short(entry) === ORIENTATION) return short(entry + 8) >= 1 && short(entry + 8) <= 8 ? short(entry + 8) : null
  return null
}

/** An Exif segment with nothing else in it. */
function orientationSegment(orientation: number): Buffer {
  const tiff = Buffer.from('MM\0*\0\0\0\b\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0', 'latin1')
  tiff.writeUInt16BE(orientation, 18)
  const body = Buffer.concat([EXIF, tiff])
  const head = Buffer.from([0xff, APP1, 0, 0])
  head.writeUInt16BE(body.length + 2, 2)
  return Buffer.concat([head, body])
}

const PNG_HEAD = 8
const PNG_TEXTS = ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'tIME']

function stripPng(bytes: Buffer): Buffer {
  const kept = [bytes.subarray(0, PNG_HEAD)]
  let at = PNG_HEAD
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    if (name === 'eXIf') kept.push(...orientationChunk(bytes.subarray(at + 8, end - 4)))
    if (!PNG_TEXTS.includes(name)) kept.push(bytes.subarray(at, end))
    at = end
    if (name === 'IEND') break // what is behind it is no picture
  }
  return Buffer.concat(kept)
}

function orientationChunk(exif: Buffer): Buffer[] {
  const orientation = readOrientation(Buffer.concat([EXIF, exif])) ?? 1
  if (orientation === 1) return []
  const data = Buffer.concat([Buffer.from('eXIf', 'latin1'), orientationSegment(orientation).subarray(4 + EXIF.length)])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length - 4)
  sum.writeUInt32BE(crc32(data))
  return [Buffer.concat([length, data, sum])]
}

const WEBP_HEAD = 12
/** In the flags of VP8X: that there is Exif, and XMP. */
const WEBP_NOTES = 0b1100

/** Browsers turn no WebP by its Exif, so all of it goes. */
function stripWebp(bytes: Buffer): Buffer {
  const kept = [Buffer.from(bytes.subarray(0, WEBP_HEAD))]
  let at = WEBP_HEAD
  while (at + 8 <= bytes.length) {
    const size = bytes.readUInt32LE(at + 4)
    const end = Math.min(bytes.length, at + 8 + size + (size % 2))
    const name = bytes.toString('latin1', at, at + 4)
    const chunk = Buffer.from(bytes.subarray(at, end))
    if (name === 'VP8X' && chunk.length > 8) chunk[8] = (chunk[8] as number) & ~WEBP_NOTES
    if (name !== 'EXIF' && name !== 'XMP ') kept.push(chunk)
    at = end
  }
  const stripped = Buffer.concat(kept)
  stripped.writeUInt32LE(stripped.length - 8, 4)
  return stripped
}
