import { Button, Group, Text } from '@mantine/core'
import { formatCount } from '../../lib/format.ts'

type OffsetPagerProps = { offset: number; limit: number; total: number; onChange: (offset: number) => void }

/** Pages of a list whose length is known. */
export function OffsetPager({ offset, limit, total, onChange }: OffsetPagerProps) {
  if (total <= limit && offset === 0) return null
  return (
    <Group justify="flex-end">
      <Text size="sm" c="dimmed">
        {formatCount(Math.min(offset + 1, total))} to {formatCount(Math.min(offset + limit, total))} of{' '}
        {formatCount(total)}
      </Text>
      <Button variant="default" size="xs" disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - limit))}>
        Previous
      </Button>
      <Button variant="default" size="xs" disabled={offset + limit >= total} onClick={() => onChange(offset + limit)}>
        Next
      </Button>
    </Group>
  )
}
