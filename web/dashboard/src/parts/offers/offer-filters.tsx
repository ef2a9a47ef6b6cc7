import { Select, SimpleGrid } from '@mantine/core'
import type { Filters } from '../../lib/use-filters.ts'
import { countryChoices } from './countries.ts'
import { FilterSelect } from './filter-select.tsx'
import { FilterText } from '../filter-text.tsx'
import { CATEGORIES, MODES, PLATFORMS, SORTS } from './words.ts'

type OfferFiltersProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

/** Whatever is changed, the list begins at its first page again. */
export function OfferFilters({ filters, change }: OfferFiltersProps) {
  const set = (name: string) => (value: string | null) => change({ [name]: value, page: null })
  return (
    <SimpleGrid cols={{ base: 2, md: 3, xl: 6 }} spacing="sm" role="search" aria-label="Offers">
      <FilterText
        label="Search"
        placeholder="Name, description or ID"
        value={filters['search']}
        onChange={set('search')}
        maxLength={100}
      />
      <FilterSelect
        label="Country"
        searchable
        data={countryChoices()}
        value={filters['country']}
        onChange={set('country')}
      />
      <FilterSelect label="Platform" data={PLATFORMS} value={filters['platform']} onChange={set('platform')} />
      <FilterSelect label="Category" data={CATEGORIES} value={filters['category']} onChange={set('category')} />
      <Select
        label="Sort by"
        allowDeselect={false}
        data={SORTS}
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
      {filters['user_id'] !== undefined && (
        <Select
          label="Completed offers"
          allowDeselect={false}
          data={MODES}
          value={filters['mode'] ?? 'live'}
          onChange={set('mode')}
        />
      )}
    </SimpleGrid>
  )
}
