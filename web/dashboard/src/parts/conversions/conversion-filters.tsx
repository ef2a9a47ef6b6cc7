import { Select, SimpleGrid, TextInput } from '@mantine/core'
import type { Filters } from '../../lib/use-filters.ts'
import { FilterSelect } from '../offers/filter-select.tsx'
import { FilterText } from '../filter-text.tsx'
import { MODES } from '../offers/words.ts'
import { STATUSES } from './words.ts'

type ConversionFiltersProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

export function ConversionFilters({ filters, change }: ConversionFiltersProps) {
  const set = (name: string) => (value: string | null) => change({ [name]: value })
  const day = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="date"
      label={label}
      value={filters[name] ?? ''}
      onChange={({ currentTarget }) => set(name)(currentTarget.value)}
    />
  )
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm" role="search" aria-label="Conversions">
      <FilterText label="User ID" value={filters['user_id']} onChange={set('user_id')} maxLength={256} />
      <FilterText
        label="Offer ID"
        inputMode="numeric"
        value={filters['offer_id']}
        onChange={(text) => set('offer_id')(text.replaceAll(/\D/g, '').slice(0, 15))}
      />
      <FilterSelect label="Status" data={STATUSES} value={filters['status']} onChange={set('status')} />
      <FilterText
        label="Sub-ID"
        placeholder="Any of the four"
        value={filters['sub_id']}
        onChange={set('sub_id')}
        maxLength={45}
      />
      {day('from', 'From')}
      {day('to', 'Until')}
      <Select
        label="Mode"
        allowDeselect={false}
        data={MODES}
        value={filters['mode'] ?? 'live'}
        onChange={(mode) => set('mode')(mode === 'live' ? null : mode)}
      />
    </SimpleGrid>
  )
}

/** What the server is asked for: its times are the days' beginnings in the viewer's zone. */
export function conversionQuery({ user_id, offer_id, status, sub_id, from, to, mode }: Filters) {
  return { user_id, offer_id, status, sub_id, from: beginningOf(from, 0), to: beginningOf(to, 1), mode }
}

function beginningOf(day: string | undefined, daysLater: number): string | undefined {
  const time = new Date(`${day}T00:00`)
  if (Number.isNaN(time.getTime())) return undefined
  time.setDate(time.getDate() + daysLater)
  return time.toISOString()
}
