// What kind of image some bytes are, and how large it is, by the bytes alone: a name or a header can say anything.

/** Of what is uploaded. */
export const MAX_IMAGE_BYTES = 1_048_576
export const MAX_IMAGE_PIXELS = 4_096 // on a side

export type ImageFormat = { extension: 'png' | 'jpg' | 'webp' | 'gif'; width: number; height: number }

/** Null: neither PNG, JPEG, WebP nor GIF. */
export function readImageFormat(bytes: Buffer): ImageFormat | null {
  if (bytes.length < 32) return null
  if (bytes.subarray(0, 8).equals(PNG)) return readPng(bytes)
  if (/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6)))
    return { extension: 'gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP') return readWebp(bytes)
  return bytes.readUIntBE(0, 3) === 0xffd8ff ? readJpeg(bytes) : null
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function readPng(bytes: Buffer): ImageFormat | null {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return null
  return { extension: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** Its first chunk is lossy, lossless, or the size of what follows. */
function readWebp(bytes: Buffer): ImageFormat | null {
  const chunk = bytes.toString('latin1', 12, 16)
  if (chunk === 'VP8X')
    return { extension: 'webp', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (chunk === 'VP8L' && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21)
    return { extension: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (chunk !== 'VP8 ' || bytes.readUIntBE(23, 3) !== 0x9d012a) return null
  return { extension: 'webp', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}

/** Segment after segment, until the one that starts a frame: it has the size. */
function readJpeg(bytes: Buffer): ImageFormat | null {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) at += 1 // filled up
    else if (isFrame(marker))
      return { extension: 'jpg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    else if (marker === 0xda || marker === 0xd9) return null // the picture itself, or its end
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
