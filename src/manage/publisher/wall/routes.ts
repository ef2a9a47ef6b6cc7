// How the wall of an app looks, and which pages may show it.
import { Type } from 'typebox'
import { AppError } from '../../../errors.ts'
import { readSigningSecrets, signingKeyOf } from '../../../features/apps/signing-secrets.ts'
import { storeImage } from '../../../features/offers/images.ts'
import { MAX_IMAGE_BYTES } from '../../../lib/image-format.ts'
import { readFunnel } from '../../../features/wall/funnel.ts'
import { publishSdk } from '../../../features/wall/sdk.ts'
import { signUser } from '../../../features/wall/signature.ts'
import { WallSettings } from '../../../features/wall/settings-schema.ts'
import { readVersionedWallSettings, setWallSettings } from '../../../features/wall/settings.ts'
import { shape } from '../../../http/shape.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { Image, NewImage } from '../../image-shapes.ts'
import { AppParams, orNull } from '../../shapes.ts'

const TAG = 'Wall of an app'
const UPLOADS_A_MINUTE = 10
const PREVIEW_S = 3_600

const WallFunnel = shape('WallFunnel', {
  days: Type.Integer(),
  views: Type.Integer({ description: 'How often the wall was shown.' }),
  opened: Type.Integer({ description: 'How often the details of an offer were opened.' }),
  started: Type.Integer({ description: 'Clicks on links of the wall.' }),
  completed: Type.Integer({ description: 'Clicks on links of the wall with a pending or approved conversion.' }),
  payout: Type.Number({ description: 'Payout of approved conversions, in USD.' }),
  payout_per_thousand_views: orNull(
    Type.Number({ description: 'Payout per 1,000 views, in USD; null without views.' }),
  ),
})
const WallPreview = shape('WallPreview', { path: Type.String() })
const WallSdk = shape('WallSdk', {
  path: Type.String({ description: 'Path of the script of this version. Its content never changes.' }),
  integrity: Type.String({ description: 'Value for the `integrity` attribute of the script element.' }),
})

export function wallSettingsRoutes(routes: ManageRoutes, { db, secretKey, credentials, limiter }: ManageContext): void {
  routes.get('/apps/:app_id/wall', {
    id: 'getWallSettings',
    summary: 'Get the wall settings of an app',
    about: 'Colors, texts and pictures of the wall, and which pages may show it.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: WallSettings,
    run: ({ app }) => readVersionedWallSettings(db, app.appId),
  })

  routes.put('/apps/:app_id/wall', {
    id: 'setWallSettings',
    summary: 'Set the wall settings of an app',
    about: 'Replaces the settings as a whole. Open walls show them within two seconds.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: WallSettings,
    reply: WallSettings,
    async run({ app, by, body }) {
      const settings = { ...body, parents: [...new Set(body.parents)] }
      await setWallSettings(db, by, app.appId, settings)
      return readVersionedWallSettings(db, app.appId)
    },
  })

  routes.get('/apps/:app_id/wall/funnel', {
    id: 'getWallFunnel',
    summary: 'Get the funnel of a wall',
    about:
      'What users did on the wall in the last days of UTC, today included, and what came of it. Live traffic, without bots.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: Type.Object({
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 31, description: 'Number of days. Defaults to 7.' })),
    }),
    reply: WallFunnel,
    run: ({ app, query }) => readFunnel(db, app.appId, query.days ?? 7, new Date()),
  })

  routes.get('/apps/:app_id/wall/preview', {
    id: 'getWallPreview',
    summary: 'Get a path that shows the wall of an app',
    about: 'For a signed user of the test key, whose clicks move no money. Valid for an hour.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: WallPreview,
    async run({ app: { appId } }) {
      const apiKey = credentials.ofApp(appId, true)?.apiKey
      if (apiKey === undefined) throw notThere()
      const [secret] = (await readSigningSecrets(db, secretKey, [appId])).get(signingKeyOf(appId, true)) ?? []
      if (secret === undefined) throw notThere()
      const user = { apiKey, userId: 'preview-user', expiresAtS: Math.floor(Date.now() / 1000) + PREVIEW_S }
      const query = {
        apiKey,
        userId: user.userId,
        exp: String(user.expiresAtS),
        sig: signUser(secret, user),
        embed: '1',
      }
      return { path: `/wall?${new URLSearchParams(query).toString()}` }
    },
  })

  routes.get('/apps/:app_id/wall/sdk', {
    id: 'getWallSdk',
    summary: 'Get the SDK to load in a page',
    about: 'The version that this server has. It stays available when the server is upgraded.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: WallSdk,
    async run() {
      const sdk = await publishSdk(db)
      if (sdk === null) throw notThere()
      return sdk
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
