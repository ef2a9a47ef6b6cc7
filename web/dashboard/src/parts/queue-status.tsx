// Which part of a queue is looked at: what waits, unless another status was chosen.
import { SegmentedControl } from '@mantine/core'
import { useEffect } from 'react'
import type { Labels } from '../lib/statuses.ts'
import { useFilters } from '../lib/use-filters.ts'
import { choicesOf, oneOf } from '../lib/words.ts'
import { usePages } from './pager.tsx'

export function useQueueStatus<T extends string>(statuses: Labels<T | 'waiting'>) {
  const [filters, change] = useFilters()
  const pages = usePages()
  const status = oneOf(statuses, filters['status']) ?? 'waiting'
  useEffect(() => pages.reset(), [status])
  const control = (
    <SegmentedControl
      aria-label="Status"
      size="xs"
      data={choicesOf(statuses)}
      value={status}
      onChange={(value) => change({ status: value })}
      style={{ alignSelf: 'flex-start' }}
    />
  )
  return { status, pages, control }
}
