// The theme, kept in a cookie: the server writes it into the page (http/dashboard.ts), so that the first paint has it.
import type { MantineColorScheme, MantineColorSchemeManager } from '@mantine/core'
import type { Me } from './me.ts'

const COOKIE = 'offerdeck.theme'
const YEAR_S = 31_536_000

export const colorSchemeManager: MantineColorSchemeManager = {
  get: (initial) => {
    const [, kept] = /(?:^|; *)offerdeck\.theme=(light|dark)/.exec(document.cookie) ?? []
    return (kept as MantineColorScheme | undefined) ?? initial
  },
  set: (value) => {
    document.cookie = `${COOKIE}=${value}; Path=/; SameSite=Lax; Max-Age=${value === 'auto' ? 0 : YEAR_S}`
  },
  // Other tabs learn of it when they ask who is signed in.
  subscribe: () => {},
  unsubscribe: () => {},
  clear: () => colorSchemeManager.set('auto'),
}

export const colorSchemeOf = (theme: Me['theme']): MantineColorScheme => (theme === 'system' ? 'auto' : theme)
