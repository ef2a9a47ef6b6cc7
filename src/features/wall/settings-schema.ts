// What a publisher can set for the wall of an app.
import { type Static, Type } from 'typebox'
import { pattern } from '../../http/forms.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { LINE } from '../../http/validation.ts'

export const THEMES = ['auto', 'light', 'dark'] as const
export const FONTS = ['system', 'rounded', 'serif', 'mono'] as const

const Color = Type.String({ pattern: pattern('COLOR'), description: 'Hex color such as #1b5fd1.' })

/** Sent and returned alike. */
const EXACT = { additionalProperties: false }

const Palette = shape('WallPalette', { accent: Color, background: Color, card: Color, text: Color }, EXACT)

const picture = (description: string) =>
  Type.Union([Type.String({ maxLength: 500, pattern: pattern('PICTURE') }), Type.Null()], {
    description: `${description} An https URL, or the path of an uploaded image.`,
  })

const line = (max: number, description: string) => Type.String({ maxLength: max, format: LINE, description })

export const WallSettings = shape(
  'WallSettings',
  {
    require_signature: Type.Boolean({
      description: 'Show offers only with a valid signature. Without one, the wall explains what is missing.',
    }),
    parents: Type.Array(Type.String({ maxLength: 200, format: LINE }), {
      maxItems: 20,
      description: 'Origins that may embed the wall, such as https://www.example.com. Empty for any.',
    }),
    theme: oneOf(THEMES, { description: '`auto` follows the user’s device.' }),
    light: Palette,
    dark: Palette,
    radius: Type.Integer({ minimum: 0, maximum: 24, description: 'Corner radius in pixels.' }),
    font: oneOf(FONTS),
    logo: picture('Logo at the top.'),
    hero: picture('A wide picture behind the title.'),
    currency_icon: picture('Icon beside rewards.'),
    title: line(80, 'Title of the wall. Empty for a default in the language of the user.'),
    intro: line(200, 'Text below the title. Empty for a default in the language of the user.'),
    shows: shape(
      'WallShows',
      {
        search: Type.Boolean(),
        categories: Type.Boolean(),
        sort: Type.Boolean(),
        badges: Type.Boolean(),
        activity: Type.Boolean(),
        support: Type.Boolean({ description: 'Whether signed users can open tickets.' }),
      },
      EXACT,
    ),
    version: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'Changes with every save. If you send it and the settings have changed since, nothing is saved (409).',
      }),
    ),
  },
  EXACT,
)
export type VersionedWallSettings = Static<typeof WallSettings>
export type WallSettings = Omit<VersionedWallSettings, 'version'>

export const DEFAULTS: WallSettings = {
  require_signature: false,
  parents: [],
  theme: 'auto',
  light: { accent: '#1b5fd1', background: '#f4f6f9', card: '#ffffff', text: '#17202a' },
  dark: { accent: '#6ea8ff', background: '#12161b', card: '#1c222a', text: '#e8edf2' },
  radius: 12,
  font: 'system',
  logo: null,
  hero: null,
  currency_icon: null,
  title: '',
  intro: '',
  shows: { search: true, categories: true, sort: true, badges: true, activity: true, support: true },
}
