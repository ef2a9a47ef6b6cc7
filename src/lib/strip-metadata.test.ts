import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { GIF, JPEG, PIXEL, WEBP_LOSSY } from '../../test/images.ts'
import { readImageFormat } from './image-format.ts'
import { stripMetadata } from './strip-metadata.ts'

const SECRET = 'taken at 52.5163 N 13.3777 E'
const segment = (marker: number, data: Buffer) => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}
/** A directory with a way up and a text, in either order of bytes. */
function tiffOf(orientation: number, isLittle: boolean): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 24 + 4)
  const short = (value: number, at: number) =>
    isLittle ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at)
  const long = (value: number, at: number) => (isLittle ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at))
  tiff.write(isLittle ? 'II' : 'MM', 'latin1')
  short(42, 2)
  long(8, 4)
  short(2, 8)
  const entry = (at: number, tag: number, type: number, count: number) => {
    short(tag, at)
    short(type, at + 2)
    long(count, at + 4)
  }
  entry(10, 0x010e, 2, SECRET.length)
  long(tiff.length, 18)
  entry(22, 0x0112, 3, 1)
  short(orientation, 30)
  return Buffer.concat([tiff, Buffer.from(SECRET)])
}
const exif = (tiff: Buffer) => Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff])
const after = (bytes: Buffer, at: number, ...more: Buffer[]) => Buffer.concat([bytes.subarray(0, at), ...more, bytes.subarray(at)]) // prettier-ignore
const strip = (bytes: Buffer) => stripMetadata(bytes, readImageFormat(bytes)!)

test('a photo loses where it was taken, its comments, and what is behind it, and keeps its pixels and its way up', () => {
  assert.deepEqual(strip(JPEG), JPEG)
  for (const isLittle of [true, false]) {
    const notes = [segment(0xe1, exif(tiffOf(6, isLittle))), segment(0xfe, Buffer.from(SECRET)), segment(0xed, Buffer.from(SECRET))] // prettier-ignore
    const photo = Buffer.concat([after(JPEG, 2, ...notes), JPEG, Buffer.from(SECRET)])
    const stripped = strip(photo)
    assert.ok(!stripped.includes(SECRET))
    assert.ok(stripped.subarray(-(JPEG.length - 2)).equals(JPEG.subarray(2)))
    assert.deepEqual(strip(stripped), stripped, 'its way up is read again')
    assert.equal(stripped.length, JPEG.length + 36)
  }
})

test('a photo whose segments are filled up loses the same', () => {
  const filled = Buffer.concat([Buffer.from([0xff, 0xff]), segment(0xe1, exif(tiffOf(1, true)))])
  assert.deepEqual(strip(after(JPEG, 2, filled)), JPEG)
})

test('a PNG loses texts and times, and keeps its way up', () => {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const noted = after(PIXEL, 33, chunk('tEXt', Buffer.from(`Comment\0${SECRET}`)), chunk('eXIf', tiffOf(3, true)))
  const stripped = strip(Buffer.concat([noted, Buffer.from(SECRET)]))
  assert.ok(!stripped.includes(SECRET))
  assert.deepEqual(strip(stripped), stripped)
  assert.ok(stripped.includes('eXIf'))
  assert.deepEqual(strip(after(PIXEL, 33, chunk('eXIf', tiffOf(1, false)))), PIXEL)
})

test('a WebP loses Exif and XMP, and says so; a GIF stays', () => {
  const chunk = (name: string, data: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(data.length)
    return Buffer.concat([Buffer.from(name, 'latin1'), size, data, Buffer.alloc(data.length % 2)])
  }
  const extended = (flags: number) => chunk('VP8X', Buffer.from([flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
  const webp = (...chunks: Buffer[]) => {
    const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks])
    return Buffer.concat([chunk('RIFF', body)])
  }
  const picture = WEBP_LOSSY.subarray(12)
  const noted = webp(extended(0b11100), picture, chunk('EXIF', Buffer.from(`${SECRET}!`)), chunk('XMP ', Buffer.from(SECRET))) // prettier-ignore
  assert.deepEqual(strip(noted), webp(extended(0b10000), picture))
  assert.deepEqual(strip(GIF), GIF)
})

test('whatever bytes claim to be an image, stripping ends, and they do not grow by more than a way up', () => {
  const heads = [JPEG.subarray(0, 40), PIXEL.subarray(0, 33), WEBP_LOSSY.subarray(0, 30)]
  fc.assert(
    fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 400 }), (head, more) => {
      const bytes = Buffer.concat([head, more])
      const format = readImageFormat(bytes) ?? { extension: 'jpg' as const }
      assert.ok(stripMetadata(bytes, format).length <= bytes.length + 60)
    }),
  )
})
