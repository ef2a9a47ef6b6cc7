// What to look for among all conversions. It stands in the address of the page.
import { Button, Collapse, Group, Paper, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import type { Filters } from '../../lib/use-filters.ts'
import { SIGNAL_NAMES } from '../fraud/signals.tsx'

type Change = (changed: Record<string, string | null>) => void

const STATUSES = ['pending', 'approved', 'rejected', 'reversed']
export const REASON_NAMES: Record<string, string> = {
  cap_exceeded: 'over a cap',
  click_expired: 'click expired',
  not_eligible: 'not eligible',
  geo_mismatch: 'other country',
  fraud: 'fraud',
  unconfirmed: 'not confirmed in time',
  advertiser_rejected: 'rejected by advertiser',
  advertiser_reversed: 'reversed by advertiser',
  operator: 'operator decision',
}

const IDS = [
  ['publisher_id', 'Publisher ID'],
  ['app_id', 'App ID'],
  ['advertiser_id', 'Advertiser ID'],
  ['offer_id', 'Offer ID'],
] as const
const LESS_USED = [...IDS.map(([name]) => name), 'from', 'to', 'mode', 'reason']

/** The names that the server knows, with days of the viewer's own zone as times. */
export function searchOf(filters: Filters, isQueue: boolean): Record<string, string | undefined> {
  const { from, to, status, reason, signal, user_id, mode } = filters
  return {
    ...Object.fromEntries(IDS.map(([name]) => [name, filters[name]])),
    status: isQueue ? 'pending' : status,
    order: isQueue ? 'oldest' : undefined,
    reason,
    signal,
    user_id,
    mode,
    from: startOfDay(from, 0),
    to: startOfDay(to, 1),
  }
}

function startOfDay(day: string | undefined, later: number): string | undefined {
  const [year, month, date] = (day ?? '').split('-').map(Number)
  if (year === undefined || month === undefined || date === undefined) return undefined
  const time = new Date(year, month - 1, date + later)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

const options = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }))

export function ConversionFilters({
  filters,
  change,
  isQueue,
}: {
  filters: Filters
  change: Change
  isQueue: boolean
}) {
  const hasMore = LESS_USED.some((name) => filters[name] !== undefined)
  const [isOpen, { toggle }] = useDisclosure(hasMore)
  const clear = () =>
    change(Object.fromEntries([...LESS_USED, 'status', 'signal', 'user_id'].map((name) => [name, null])))
  return (
    <Paper component="search" aria-label="Conversions">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <TextFilter label="User ID" name="user_id" {...{ filters, change }} />
        {!isQueue && (
          <Select
            label="Status"
            placeholder="any"
            clearable
            data={STATUSES}
            value={filters['status'] ?? null}
            onChange={(status) => change({ status })}
          />
        )}
        <Select
          label="Fraud signal"
          placeholder="any or none"
          clearable
          data={[{ value: 'any', label: 'at least one' }, ...options(SIGNAL_NAMES)]}
          value={filters['signal'] ?? null}
          onChange={(signal) => change({ signal })}
        />
      </SimpleGrid>
      <Collapse expanded={isOpen} id="more-filters">
        <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} mt="md">
          {IDS.map(([name, label]) => (
            <TextFilter key={name} name={name} label={label} isNumber {...{ filters, change }} />
          ))}
          <TextInput
            label="From (day)"
            type="date"
            value={filters['from'] ?? ''}
            onChange={(event) => change({ from: event.currentTarget.value })}
          />
          <TextInput
            label="To (day)"
            type="date"
            value={filters['to'] ?? ''}
            onChange={(event) => change({ to: event.currentTarget.value })}
          />
          {!isQueue && (
            <Select
              label="Reason"
              placeholder="any"
              clearable
              data={options(REASON_NAMES)}
              value={filters['reason'] ?? null}
              onChange={(reason) => change({ reason })}
            />
          )}
          <Select
            label="Mode"
            allowDeselect={false}
            data={[
              { value: 'live', label: 'live' },
              { value: 'test', label: 'test' },
            ]}
            value={filters['mode'] ?? 'live'}
            onChange={(mode) => change({ mode: mode === 'test' ? mode : null })}
          />
        </SimpleGrid>
      </Collapse>
      <Group mt="sm" gap="xs">
        <Button size="xs" variant="default" onClick={toggle} aria-expanded={isOpen} aria-controls="more-filters">
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
        <Button size="xs" variant="subtle" onClick={clear}>
          Clear
        </Button>
      </Group>
    </Paper>
  )
}

type TextFilterProps = { label: string; name: string; filters: Filters; change: Change; isNumber?: boolean }

/** Is looked for with Enter, or when one goes on: not at every letter. */
function TextFilter({ label, name, filters, change, isNumber = false }: TextFilterProps) {
  const given = filters[name] ?? ''
  const [value, setValue] = useState(given)
  useEffect(() => setValue(given), [given])
  const commit = () => value.trim() !== given && change({ [name]: value.trim() })
  return (
    <TextInput
      label={label}
      value={value}
      inputMode={isNumber ? 'numeric' : 'text'}
      onChange={({ currentTarget }) =>
        setValue(isNumber ? currentTarget.value.replaceAll(/\D/g, '').slice(0, 15) : currentTarget.value)
      }
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
    />
  )
}
