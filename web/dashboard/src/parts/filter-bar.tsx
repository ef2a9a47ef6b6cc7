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
  /** The others. */
  children?: ReactNode
  /** Those that few people need: folded on every screen, unless one of them is given. */
  more?: ReactNode
  moreNames?: readonly string[]
  filters: Filters
  /** The names of the others: how many of them narrow the list stands on the button. */
  names: readonly string[]
}

/** The filters of a list. On a phone they are folded behind a button, so that the list itself is in sight. */
export function FilterBar({ label, search, children, more, filters, names, moreNames = [] }: FilterBarProps) {
  const count = (some: readonly string[]) => some.filter((name) => filters[name] !== undefined).length
  const [isOpen, { toggle }] = useDisclosure(count(moreNames) > 0)
  const given = count([...names, ...moreNames])
  return (
    <div className="filters" role="search" aria-label={label}>
      {search !== undefined && <div className="filters-search">{search}</div>}
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
      <div className="filters-rest" data-open={isOpen}>
        {children}
        {isOpen && more}
      </div>
    </div>
  )
}
