import { checkId } from '../../lib/amounts.ts'
import type { Filters } from '../../lib/use-filters.ts'
import { FilterDay } from '../filter-day.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterText } from '../filter-text.tsx'
import { SearchInput } from '../search-input.tsx'
import { CONVERSION_STATUSES } from '../../lib/statuses.ts'
import { startOfDay } from '../../lib/zoned-time.ts'
import { choicesOf, type Mode, oneOf } from '../../lib/words.ts'

type ConversionFiltersProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

export function ConversionFilters({ filters, change }: ConversionFiltersProps) {
  const set = (name: string) => (value: string | null) => change({ [name]: value })
  return (
    <FilterBar
      label="Conversions"
      filters={filters}
      change={change}
      searchName="user_id"
      names={['offer_id', 'status', 'sub_id', 'from', 'to']}
      search={<SearchInput label="User ID" value={filters['user_id']} onChange={set('user_id')} maxLength={256} />}
    >
      <FilterText
        label="Offer ID"
        inputMode="numeric"
        value={filters['offer_id']}
        check={checkId}
        onChange={set('offer_id')}
      />
      <FilterSelect
        label="Status"
        data={choicesOf(CONVERSION_STATUSES)}
        value={filters['status']}
        onChange={set('status')}
      />
      <FilterText
        label="Sub-ID"
        placeholder="Any of the four"
        value={filters['sub_id']}
        onChange={set('sub_id')}
        maxLength={45}
      />
      <FilterDay label="From" value={filters['from']} onChange={set('from')} />
      <FilterDay label="Until" value={filters['to']} onChange={set('to')} />
    </FilterBar>
  )
}

/** What the server is asked for: its times are the days' beginnings in the viewer's zone. */
export function conversionQuery({ user_id, offer_id, status, sub_id, from, to }: Filters, mode: Mode) {
  return {
    user_id,
    offer_id,
    status: oneOf(CONVERSION_STATUSES, status),
    sub_id,
    from: startOfDay(from),
    to: startOfDay(to, 1),
    mode,
  }
}
