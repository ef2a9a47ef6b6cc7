// What to look for among all conversions. It stands in the address of the page.
import { TextInput } from '@mantine/core'
import { startOfDay } from '../../lib/zoned-time.ts'
import { checkId } from '../../lib/amounts.ts'
import type { Filters } from '../../lib/use-filters.ts'
import type { QueryOf } from '../../lib/operations.ts'
import { CONVERSION_STATUSES } from '../../lib/statuses.ts'
import { ANY_SIGNAL, choicesOf, type Mode, oneOf, STATUS_REASONS } from '../../lib/words.ts'
import { FilterBar } from '../filter-bar.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { FilterText } from '../filter-text.tsx'
import { OfferPicker } from '../network-offers/offer-picker.tsx'
import { SearchInput } from '../search-input.tsx'

type Change = (changed: Record<string, string | null>) => void

const IDS = [
  ['publisher_id', 'Publisher ID'],
  ['app_id', 'App ID'],
  ['advertiser_id', 'Advertiser ID'],
] as const
const LESS_USED = [...IDS.map(([name]) => name), 'from', 'to']

/** The names that the server knows, with days of the viewer's own zone as times. */
export function searchOf(filters: Filters, isQueue: boolean, mode: Mode) {
  const { from, to, publisher_id, app_id, advertiser_id, offer_id, user_id } = filters
  return {
    publisher_id,
    app_id,
    advertiser_id,
    offer_id,
    user_id,
    status: isQueue ? 'pending' : oneOf(CONVERSION_STATUSES, filters['status']),
    order: isQueue ? 'oldest' : undefined,
    reason: oneOf(STATUS_REASONS, filters['reason']),
    signal: oneOf(ANY_SIGNAL, filters['signal']),
    mode,
    from: startOfDay(from),
    to: startOfDay(to, 1),
  } satisfies QueryOf<'GET /conversions'>
}

type ConversionFiltersProps = { filters: Filters; change: Change; isQueue: boolean }

export function ConversionFilters({ filters, change, isQueue }: ConversionFiltersProps) {
  const field = (name: string) => ({
    value: filters[name],
    onChange: (value: string | null) => change({ [name]: value }),
  })
  return (
    <FilterBar
      label="Conversions"
      filters={filters}
      change={change}
      searchName="user_id"
      names={isQueue ? ['signal', 'offer_id'] : ['status', 'signal', 'offer_id']}
      search={<SearchInput label="User ID" maxLength={256} {...field('user_id')} />}
      moreNames={isQueue ? LESS_USED : [...LESS_USED, 'reason']}
      more={
        <>
          {IDS.map(([name, label]) => (
            <FilterText key={name} label={label} inputMode="numeric" check={checkId} {...field(name)} />
          ))}
          <DayInput label="From (day)" {...field('from')} />
          <DayInput label="To (day)" {...field('to')} />
          {!isQueue && <FilterSelect label="Reason" data={choicesOf(STATUS_REASONS)} {...field('reason')} />}
        </>
      }
    >
      {!isQueue && <FilterSelect label="Status" data={choicesOf(CONVERSION_STATUSES)} {...field('status')} />}
      <FilterSelect label="Fraud signal" data={choicesOf(ANY_SIGNAL)} {...field('signal')} />
      <OfferPicker
        label="Offer"
        placeholder="Any"
        value={filters['offer_id'] ?? ''}
        onChange={(offer_id) => change({ offer_id })}
      />
    </FilterBar>
  )
}

type DayInputProps = { label: string; value: string | undefined; onChange: (day: string) => void }

const DayInput = ({ label, value = '', onChange }: DayInputProps) => (
  <TextInput type="date" label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)} />
)
