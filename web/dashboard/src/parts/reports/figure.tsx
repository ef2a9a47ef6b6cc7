import { Paper, Text, Tooltip, UnstyledButton } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatUsd } from '../../lib/format.ts'
import { METRICS, type MetricName, showFigure } from './metrics.ts'
import { Explained, MetricLabel } from './explained.tsx'

type FigureProps = { label: ReactNode; value: ReactNode; about?: ReactNode; meaning?: string }

const CHOSEN = 'var(--mantine-primary-color-filled)'

/** One number that matters, with its name, and what it means on hover. */
export function Figure({ label, meaning, ...rest }: FigureProps) {
  return (
    <Paper>
      <Inside {...rest} label={meaning === undefined ? label : <Explained meaning={meaning}>{label}</Explained>} />
    </Paper>
  )
}

type MetricProps = { of: MetricName; value: number | null; about?: ReactNode }

/** A figure of reports. */
export const MetricFigure = ({ of, value, about = METRICS[of].about }: MetricProps) => (
  <Figure label={<MetricLabel of={of} />} value={<MetricValue of={of} value={value} />} about={about} />
)

type ButtonProps = MetricProps & { isChosen: boolean; onChoose: () => void }

/** The same, to choose what a chart shows. */
export function MetricButton({ of, value, about = METRICS[of].about, isChosen, onChoose }: ButtonProps) {
  const { label, meaning } = METRICS[of]
  return (
    <Tooltip label={meaning} multiline maw={320}>
      <UnstyledButton onClick={onChoose} aria-pressed={isChosen} h="100%">
        <Paper
          h="100%"
          p="sm"
          {...(isChosen ? { style: { borderColor: CHOSEN, boxShadow: `inset 0 0 0 1px ${CHOSEN}` } } : {})}
        >
          <Inside label={label} value={<MetricValue of={of} value={value} />} about={about} />
        </Paper>
      </UnstyledButton>
    </Tooltip>
  )
}

/** A sum of money is exact on hover. */
export function MetricValue({ of, value }: { of: MetricName; value: number | null }) {
  const shown = showFigure(of, value)
  if (value === null || METRICS[of].isMoney !== true) return shown
  const exact = formatUsd(value)
  return exact === shown ? shown : <span title={exact}>{shown}</span>
}

function Inside({ label, value, about }: FigureProps) {
  return (
    <>
      <Text size="sm" c="dimmed" component="span" display="block">
        {label}
      </Text>
      <Text size="xl" fw={700} component="span" className="figure">
        <span>{value}</span>
      </Text>
      {about !== undefined && (
        <Text size="xs" c="dimmed" component="span" display="block">
          {about}
        </Text>
      )}
    </>
  )
}
