// Uploaded images, for the operator and for publishers.
import { Type } from 'typebox'
import { MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS } from '../lib/image-format.ts'
import { shape } from '../http/shape.ts'

export const NewImage = shape('NewImage', {
  content: Type.String({
    minLength: 1,
    maxLength: 2 * MAX_IMAGE_BYTES,
    description: `A PNG, JPEG, WebP or GIF in base64: at most 1 MB, and ${MAX_IMAGE_PIXELS} pixels on each side.`,
  }),
})
export const Image = shape('Image', {
  path: Type.String({ description: 'Path on this server. The image at a path never changes.' }),
  type: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
})
