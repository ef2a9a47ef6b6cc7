import { Select } from '@mantine/core'
import type { Filters } from '../../lib/use-filters.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { FilterSelect } from '../filter-select.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterText } from '../filter-text.tsx'
import { SearchInput } from '../search-input.tsx'
import { CATEGORIES, choicesOf, OFFER_SORTS, PLATFORMS } from '../../lib/words.ts'

type OfferFiltersProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

/** Whatever is changed, the list begins at its first page again. */
export function OfferFilters({ filters, change }: OfferFiltersProps) {
  const set = (name: string) => (value: string | null) => change({ [name]: value, page: null })
  return (
    <FilterBar
      label="Offers"
      filters={filters}
      change={(none) => change({ ...none, page: null })}
      searchName="search"
      names={['country', 'platform', 'category', 'sort', 'user_id']}
      search={
        <SearchInput
          placeholder="Name, description or ID"
          value={filters['search']}
          onChange={set('search')}
          maxLength={100}
        />
      }
    >
      <FilterSelect label="Country" searchable data={COUNTRIES} value={filters['country']} onChange={set('country')} />
      <FilterSelect
        label="Platform"
        data={choicesOf(PLATFORMS)}
        value={filters['platform']}
        onChange={set('platform')}
      />
      <FilterSelect
        label="Category"
        data={choicesOf(CATEGORIES)}
        value={filters['category']}
        onChange={set('category')}
      />
      <Select
        label="Sort by"
        allowDeselect={false}
        data={choicesOf(OFFER_SORTS)}
        value={filters['sort'] ?? 'popular'}
        onChange={set('sort')}
      />
      <FilterText
        label="View as user"
        placeholder="User ID"
        value={filters['user_id']}
        onChange={set('user_id')}
        maxLength={256}
      />
    </FilterBar>
  )
}
