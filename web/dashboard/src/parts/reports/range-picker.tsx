import { Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMemo } from 'react'
import { useFilters } from '../../lib/use-filters.ts'
import type { Range } from './use-range.ts'

const NAMES = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'custom', label: 'Custom' },
]

/** Chooses the days that a page is about, and whose days they are. */
export function RangePicker({ range }: { range: Range }) {
  const [, change] = useFilters()
  const zones = useMemo(() => [...new Set(['UTC', range.zone, ...Intl.supportedValuesOf('timeZone')])], [range.zone])
  const choose = (name: string) =>
    change(
      name === 'custom'
        ? { range: name, from: range.firstDay, to: range.lastDay }
        : { range: name, from: null, to: null },
    )
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="md">
        <SegmentedControl aria-label="Period" size="xs" data={NAMES} value={range.name} onChange={choose} />
        {range.name === 'custom' && (
          <>
            <TextInput
              type="date"
              label="First day"
              value={range.firstDay}
              onChange={({ currentTarget }) => change({ from: currentTarget.value })}
            />
            <TextInput
              type="date"
              label="Last day"
              value={range.lastDay}
              onChange={({ currentTarget }) => change({ to: currentTarget.value })}
            />
          </>
        )}
        <Select
          label="Time zone"
          w={220}
          searchable
          allowDeselect={false}
          limit={100}
          nothingFoundMessage="No such time zone"
          data={zones}
          value={range.zone}
          onChange={(zone) => zone !== null && change({ zone })}
        />
      </Group>
      {range.error !== null && (
        <Text c="red" size="sm" role="alert">
          {range.error}
        </Text>
      )}
    </Stack>
  )
}
