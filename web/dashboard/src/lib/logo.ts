// The network's logo is the icon of the page: the server writes it there (http/dashboard.ts), so that the first paint has
// it.
import { useSyncExternalStore } from 'react'

const NONE = '/icon.svg'
const icon = document.querySelector('link[rel=icon]')

const subscribe = (onChange: () => void) => {
  const observer = new MutationObserver(onChange)
  if (icon !== null) observer.observe(icon, { attributes: true })
  return () => observer.disconnect()
}

/** The path of the logo; null where none is set. */
export function useLogo(): string | null {
  const path = useSyncExternalStore(subscribe, () => icon?.getAttribute('href') ?? NONE)
  return path === NONE ? null : path
}

export const showLogo = (path: string | null) => icon?.setAttribute('href', path ?? NONE)
