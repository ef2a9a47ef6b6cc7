import { Badge, type BadgeProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { type AnyStatus, STATUSES } from '../lib/statuses.ts'

/** One word for how something is. The word says it, the color only helps. */
export function Status({ value }: { value: AnyStatus }) {
  const { label, color } = STATUSES[value]
  return <Tag color={color}>{label}</Tag>
}

/** A word or two about something, in the one look that all of them have. */
export const Tag = ({ color = 'gray', ...props }: BadgeProps & { children: ReactNode }) => (
  <Badge variant="light" color={color} tt="none" autoContrast miw="max-content" {...props} />
)
