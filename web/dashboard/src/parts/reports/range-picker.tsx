import { Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFilters } from '../../lib/use-filters.ts'
import { ZoneSelect } from '../zone-select.tsx'
import { RANGES } from './days.ts'
import { type Range } from './use-range.ts'

const NAMES = (['today', 'yesterday', '7', '30', '90', 'month', 'last_month', 'custom'] as const).map((value) => ({
  value,
  label: RANGES[value],
}))

/** Chooses the days that a page is about, and whose days they are; more stands beside it. */
export function RangePicker({
  range,
  isUtc = false,
  children,
}: {
  range: Range
  isUtc?: boolean
  children?: ReactNode
}) {
  const [, change] = useFilters()
  const choose = (name: string) =>
    change(
      name === 'custom'
        ? { range: name, from: range.firstDay, to: range.lastDay }
        : { range: name === '30' ? null : name, from: null, to: null },
    )
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="md">
        <Select
          label="Period"
          w={160}
          allowDeselect={false}
          data={NAMES}
          value={range.name}
          onChange={(name) => name !== null && choose(name)}
        />
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
        {!isUtc && <ZoneSelect w={220} value={range.zone} onChange={(zone) => zone !== null && change({ zone })} />}
        {children}
      </Group>
      {range.error !== null && (
        <Text c="red" size="sm" role="alert">
          {range.error}
        </Text>
      )}
    </Stack>
  )
}
