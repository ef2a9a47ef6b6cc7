import { IconSearch } from '@tabler/icons-react'
import { FilterText, type FilterTextProps } from './filter-text.tsx'

/** The search of a list: by name, mostly. */
export const SearchInput = (props: FilterTextProps) => (
  <FilterText label="Search" leftSection={<IconSearch size={16} />} maxLength={200} {...props} />
)
