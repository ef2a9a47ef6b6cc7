// The look of a locker as its form has it: whole, with that of the wall where the locker sets nothing itself.
import { readWhole } from '../../lib/amounts.ts'
import type { WallSettings } from '../wall/data.ts'
import type { Locker } from './data.ts'

type OwnLook = NonNullable<Locker['settings']['look']>

export type LookValues = Pick<WallSettings, 'theme' | 'light' | 'dark' | 'font'> & { radius: string }

export const MOST_RADIUS = 24

export const lookValuesOf = (wall: WallSettings, own: OwnLook | null): LookValues => ({
  theme: own?.theme ?? wall.theme,
  light: { ...wall.light, ...own?.light },
  dark: { ...wall.dark, ...own?.dark },
  font: own?.font ?? wall.font,
  radius: String(own?.radius ?? wall.radius),
})

/** What differs from the wall, and what the locker set before: the rest goes on following the wall. */
export function ownLookOf(values: LookValues, wall: WallSettings, before: OwnLook | null): OwnLook {
  const { theme, font } = values
  const radius = readWhole(values.radius) ?? Number.NaN
  const palette = (name: 'light' | 'dark') => {
    const own = differing(values[name], wall[name], before?.[name])
    return Object.keys(own).length === 0 ? {} : { [name]: own }
  }
  return { ...differing({ theme, font, radius }, wall, before), ...palette('light'), ...palette('dark') }
}

const differing = <T extends object>(values: T, wall: NoInfer<T>, before: Partial<NoInfer<T>> | null = null) =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => value !== wall[name as keyof T] || before?.[name as keyof T] !== undefined,
    ),
  ) as Partial<T>
