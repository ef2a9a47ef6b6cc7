import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { METRICS, type MetricName } from './metrics.ts'

/** What a name means: on hover, on focus and by touch. */
export function Explained({ meaning, children }: { meaning: string; children: ReactNode }) {
  return (
    <Tooltip label={meaning} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      <span className="explained" tabIndex={0}>
        {children}
      </span>
    </Tooltip>
  )
}

/** The name of a figure, with its definition. */
export const MetricLabel = ({ of }: { of: MetricName }) => (
  <Explained meaning={METRICS[of].meaning}>{METRICS[of].label}</Explained>
)
