import { Group, Tooltip, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useFilters } from '../../lib/use-filters.ts'
import type { Column } from '../data-table.tsx'
import { METRICS, type MetricName } from './metrics.ts'

export type Sort = { by: string; isAscending: boolean }

/** By which figure rows are sorted, as the address of the page has it. `natural`: their own order. */
export function useSort(natural: string): [Sort, (by: MetricName) => void] {
  const [filters, change] = useFilters()
  const sort = { by: filters['sort'] ?? natural, isAscending: filters['order'] === 'asc' }
  const choose = (by: MetricName) =>
    change({ sort: by === natural ? null : by, order: by === sort.by && !sort.isAscending ? 'asc' : null })
  return [sort, choose]
}

/** The head of a column of figures: what it means, and a way to sort by it. */
export function sortable<Row>(of: MetricName, sort: Sort, onSort: (of: MetricName) => void): Omit<Column<Row>, 'cell'> {
  const { label, meaning } = METRICS[of]
  const isSorted = sort.by === of
  const Arrow = sort.isAscending ? IconArrowUp : IconArrowDown
  return {
    name: label,
    isNumber: true,
    sorted: isSorted ? (sort.isAscending ? 'ascending' : 'descending') : undefined,
    heading: (
      <Tooltip label={`${meaning} Click to sort.`} multiline maw={320}>
        <UnstyledButton fz="inherit" fw="inherit" onClick={() => onSort(of)}>
          <Group gap={2} wrap="nowrap" justify="flex-end" component="span">
            {isSorted && <Arrow size={14} aria-hidden />}
            <span className="explained">{label}</span>
          </Group>
        </UnstyledButton>
      </Tooltip>
    ),
  }
}
