// Which part of the network a report is about. It stands in the address of the page.
import { COUNTRIES } from '../../lib/countries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { AdvertiserSelect } from '../advertisers/advertiser-select.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { OfferPicker } from '../network-offers/offer-picker.tsx'
import { AppSelect, PublisherSelect } from '../publishers/publisher-select.tsx'
import { DEVICES } from './table.tsx'
import { type FilterName, FILTERS } from './use-report.ts'

/** `without`: what the page itself is about. */
export function ReportFilters({ without }: { without: readonly FilterName[] }) {
  const [filters, change] = useFilters()
  const names = FILTERS.filter((name) => !without.includes(name))
  const has = (name: FilterName) => names.includes(name)
  const props = (name: FilterName) => ({
    placeholder: 'Any',
    clearable: true,
    value: filters[name] ?? null,
    onChange: (value: string | null) => change({ [name]: value }),
  })
  return (
    <FilterBar label="Report" {...{ filters, change, names }}>
      {has('publisher_id') && (
        <PublisherSelect
          label="Publisher"
          {...props('publisher_id')}
          onChange={(publisher_id) => change({ publisher_id, app_id: null })}
        />
      )}
      {has('app_id') && <AppSelect label="App" publisherId={filters['publisher_id']} {...props('app_id')} />}
      {has('offer_id') && (
        <OfferPicker
          label="Offer"
          placeholder="Any"
          value={filters['offer_id'] ?? ''}
          onChange={(offer_id) => change({ offer_id })}
        />
      )}
      {has('advertiser_id') && <AdvertiserSelect label="Advertiser" {...props('advertiser_id')} />}
      <FilterSelect
        label="Country"
        searchable
        data={COUNTRIES}
        value={filters['country']}
        onChange={(country) => change({ country })}
      />
      <FilterSelect
        label="Device"
        data={Object.entries(DEVICES).map(([value, label]) => ({ value, label }))}
        value={filters['device']}
        onChange={(device) => change({ device })}
      />
    </FilterBar>
  )
}
