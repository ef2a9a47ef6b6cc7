import { Badge } from '@mantine/core'
import { type AnyStatus, STATUSES } from '../lib/statuses.ts'

/** One word for how something is. The word says it, the color only helps. */
export function Status({ value }: { value: AnyStatus }) {
  const { label, color } = STATUSES[value]
  return (
    <Badge variant="light" color={color} tt="none" autoContrast miw="max-content">
      {label}
    </Badge>
  )
}
