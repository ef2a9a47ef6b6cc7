// Live or test traffic: one choice for the whole dashboard. It is in the address of every page (`mode=test`), and goes
// along wherever one goes from there.
import { useLocation, useSearch } from 'wouter'
import type { Mode } from './words.ts'

const modeIn = (search: string): Mode => (new URLSearchParams(search).get('mode') === 'test' ? 'test' : 'live')

export const useMode = (): Mode => modeIn(useSearch())

/** Back undoes it. */
export function useSetMode(): (mode: Mode) => void {
  const [path, navigate] = useLocation()
  return (mode) => {
    const next = new URLSearchParams(window.location.search)
    next.set('mode', mode)
    navigate(`${path}?${next.toString()}`)
  }
}

/** Where a link leads: in the mode that it says itself, or else in that of the page. Live is what no address says. */
export function keepMode(to: string): string {
  const url = new URL(to, window.location.href)
  const mode = url.searchParams.get('mode') ?? modeIn(window.location.search)
  if (mode === 'test') url.searchParams.set('mode', mode)
  else url.searchParams.delete('mode')
  return url.pathname + url.search + url.hash
}
