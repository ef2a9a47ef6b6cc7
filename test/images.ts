// Small real images of every kind that can be uploaded, and what they claim to be.
const fromBase64 = (text: string) => Buffer.from(text, 'base64')

/** A PNG of one pixel. */
export const PIXEL = fromBase64(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
)

/** The same with another size in its head. */
export function pngOf(width: number, height: number): Buffer {
  const png = Buffer.from(PIXEL)
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  return png
}

export const GIF = fromBase64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7')
export const WEBP_LOSSY = fromBase64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA')
export const WEBP_LOSSLESS = fromBase64('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==')
