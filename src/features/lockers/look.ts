// How a locker looks: as the wall of its app, but for what it sets for itself.
import { type Static, Type } from 'typebox'
import { shape } from '../../http/shape.ts'
import { WallSettings } from '../wall/settings-schema.ts'

const { theme, light, radius, font } = WallSettings.properties

/** Sent and returned alike. */
const EXACT = { additionalProperties: false }

const Palette = shape('LockerPalette', Type.Partial(Type.Object(light.properties)).properties, EXACT)
const Own = Type.Object({ theme, light: Palette, dark: Palette, radius, font })

/** What is left out is as the wall's, also when that changes later. */
export const LockerLook = shape('LockerLook', Type.Partial(Own).properties, EXACT)
export type LockerLook = Static<typeof LockerLook>

type Look = Pick<WallSettings, 'theme' | 'light' | 'dark' | 'radius' | 'font'>

export const lookOf = (wall: Look, own: LockerLook | null): Look => ({
  theme: own?.theme ?? wall.theme,
  light: { ...wall.light, ...own?.light },
  dark: { ...wall.dark, ...own?.dark },
  radius: own?.radius ?? wall.radius,
  font: own?.font ?? wall.font,
})
