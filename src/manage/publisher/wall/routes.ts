// How the wall of an app looks, and which pages may show it.
import { AppError } from '../../../errors.ts'
import { MAX_IMAGE_BYTES, storeImage } from '../../../features/offers/images.ts'
import { WallSettings } from '../../../features/wall/settings-schema.ts'
import { readWallSettings, setWallSettings } from '../../../features/wall/settings.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { Image, NewImage } from '../../image-shapes.ts'
import { AppParams } from '../../shapes.ts'

const TAG = 'Wall of an app'
const UPLOADS_A_MINUTE = 10

export function wallSettingsRoutes(routes: ManageRoutes, { db, limiter }: ManageContext): void {
  routes.get('/apps/:app_id/wall', {
    id: 'getWallSettings',
    summary: 'Get the wall settings of an app',
    about: 'Colors, texts and pictures of the wall, and which pages may show it.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: WallSettings,
    run: ({ app }) => readWallSettings(db, app.appId),
  })

  routes.put('/apps/:app_id/wall', {
    id: 'setWallSettings',
    summary: 'Set the wall settings of an app',
    about: 'Replaces the settings as a whole. Walls that are opened see them within two seconds.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: WallSettings,
    reply: WallSettings,
    async run({ app, by, body }) {
      const settings = { ...body, parents: [...new Set(body.parents)] }
      await setWallSettings(db, by, app.appId, settings)
      return settings
    },
  })

  routes.post('/apps/:app_id/wall/images', {
    id: 'uploadWallImage',
    summary: 'Upload an image for a wall',
    about: 'Stores a picture and returns its path, for the logo, the hero or the currency icon. SVG is refused.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: NewImage,
    reply: Image,
    bodyLimit: 2 * MAX_IMAGE_BYTES, // base64 is longer
    async run({ app, by, body }) {
      const { exceeded } = await limiter.take(`images:${app.publisherId}`, UPLOADS_A_MINUTE)
      if (exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many uploads. Wait a minute, then try again.')
      return storeImage(db, by, Buffer.from(body.content, 'base64'))
    },
  })
}
