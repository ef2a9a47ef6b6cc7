import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Filters } from '../lib/use-filters.ts'

type FilterBarProps = {
  /** What is filtered, such as `Offers`. */
  label: string
  /** The one that most people need: never folded. */
  search?: ReactNode
  searchName?: string
  /** The others. */
  children?: ReactNode
  /** Those that few people need: folded on every screen, unless one of them is given. */
  more?: ReactNode
  moreNames?: readonly string[]
  filters: Filters
  /** The names of the others: how many of them narrow the list stands on the button. */
  names: readonly string[]
  /** Gets null for each of them. */
  change: (changed: Record<string, string | null>) => void
}

/**
 * The filters of a list, and one way to clear them. On a phone they are folded behind a button, so that the list itself is
 * in sight.
 */
export function FilterBar({ label, search, searchName, children, more, filters, change, ...rest }: FilterBarProps) {
  const { names, moreNames = [] } = rest
  const count = (some: readonly string[]) => some.filter((name) => filters[name] !== undefined).length
  const [isOpen, { toggle }] = useDisclosure(count(moreNames) > 0)
  const folded = [...names, ...moreNames]
  const all = searchName === undefined ? folded : [searchName, ...folded]
  const given = count(folded)
  return (
    <div className="filters" role="search" aria-label={label}>
      {search !== undefined && <div className="filters-search">{search}</div>}
      {folded.length > 0 && (
        <Button
          className="filters-fold"
          data-more={more !== undefined}
          variant="default"
          leftSection={<IconAdjustmentsHorizontal size={16} />}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          {given === 0 ? 'Filters' : `Filters (${given})`}
        </Button>
      )}
      <div className="filters-rest" data-open={isOpen}>
        {children}
        {isOpen && more}
      </div>
      {count(all) > 0 && (
        <Button
          className="filters-clear"
          variant="subtle"
          onClick={() => change(Object.fromEntries(all.map((name) => [name, null])))}
        >
          Clear filters
        </Button>
      )}
    </div>
  )
}
