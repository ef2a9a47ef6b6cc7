// The filters of a table are in the address of the page: it can be bookmarked, shared, and gone back to.
import { useCallback, useMemo } from 'react'
import { useLocation } from 'wouter'
import { useGuardedSearch } from './leave.ts'

export type Filters = Record<string, string>

type Change = (changed: Record<string, string | null>, how?: { isStep?: boolean }) => void

/** `isStep`: Back undoes it, as for a drawer that opens. */
export function useFilters(): [Filters, Change] {
  const search = useGuardedSearch() // as it is: wouter would decode it, and it is decoded once more here
  const [path, navigate] = useLocation()
  const filters = useMemo(() => {
    const { mode: _mode, ...rest } = Object.fromEntries(new URLSearchParams(search)) // no filter of a page: mode.ts
    return rest
  }, [search])
  const change = useCallback(
    (changed: Record<string, string | null>, { isStep = false } = {}) => {
      const next = new URLSearchParams(search)
      for (const [name, value] of Object.entries(changed)) {
        if (value === null || value === '') next.delete(name)
        else next.set(name, value)
      }
      const text = next.toString()
      navigate(text === '' ? path : `${path}?${text}`, { replace: !isStep })
    },
    [search, path, navigate],
  )
  return [filters, change]
}
