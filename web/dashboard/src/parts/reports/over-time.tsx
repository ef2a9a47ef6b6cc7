import { SimpleGrid } from '@mantine/core'
import { formatCount } from '../../lib/format.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Difference } from './difference.tsx'
import { MetricButton } from './figure.tsx'
import { LazyDayChart } from './lazy-day-chart.tsx'
import { type Figures, METRICS, type MetricName } from './metrics.ts'

type Point<M extends MetricName> = Figures<M> & { day: string; previous?: Figures<M> | null }

type OverTimeProps<M extends MetricName> = {
  /** The first one is shown unless another one is chosen. */
  metrics: readonly [M, ...M[]]
  totals: Figures<M>
  /** Totals of the previous period. */
  before?: Figures<M> | null
  points: readonly Point<M>[]
  /** For those who cannot see the chart. */
  by?: string
  table: string
  /** Instead of what stands below a figure otherwise. */
  about?: Partial<Record<M, string>>
}

/** The totals; the one that is chosen, as a chart. */
export function OverTime<M extends MetricName>({ metrics, totals, points, by = 'day', ...rest }: OverTimeProps<M>) {
  const { before = null, table, about } = rest
  const [filters, change] = useFilters()
  const chosen = metrics.find((name) => name === filters['show']) ?? metrics[0]
  const { label, format } = METRICS[chosen]
  return (
    <>
      <SimpleGrid cols={metrics.length > 5 ? { base: 2, sm: 4 } : { base: 2, sm: 3, lg: 5 }}>
        {metrics.map((of) => (
          <MetricButton
            key={of}
            of={of}
            value={totals[of]}
            about={
              before === null ? (
                (about?.[of] ?? METRICS[of].about)
              ) : (
                <Difference of={of} now={totals[of]} before={before[of]} />
              )
            }
            isChosen={of === chosen}
            onChoose={() => change({ show: of === metrics[0] ? null : of })}
          />
        ))}
      </SimpleGrid>
      <LazyDayChart
        data={points.map((point) => ({ day: point.day, now: point[chosen], before: point.previous?.[chosen] ?? null }))}
        series={[
          { name: 'now', label, color: 'blue.6' },
          ...(before === null
            ? []
            : [{ name: 'before', label: 'Previous period', color: 'gray.6', strokeDasharray: '4 4' }]),
        ]}
        format={format}
        isWhole={format === formatCount}
        label={`Chart: ${label} by ${by}. ${table}`}
      />
    </>
  )
}
