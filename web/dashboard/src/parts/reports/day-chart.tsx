import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import { Box } from '@mantine/core'
import { formatFullPeriod, formatPeriod } from '../../lib/format.ts'

export type DayChartProps = {
  /** `day`: also a month, or an hour. */
  data: { day: string }[]
  series: { name: string; label: string; color: string; strokeDasharray?: string }[]
  format: (value: number) => string
  /** Counts: half a click is on no axis. */
  isWhole: boolean
  /** For those who cannot see it: what it shows, and where the same is as a table. */
  label: string
}

const FEW_DAYS = 31

/** Figures over time. Comes with a library of its own, so load it lazily: see LazyDayChart. */
export default function DayChart({ data, series, format, isWhole, label }: DayChartProps) {
  return (
    <Box role="img" aria-label={label}>
      <AreaChart
        h={260}
        data={data}
        dataKey="day"
        series={series}
        curveType="linear"
        withDots={data.length <= FEW_DAYS}
        withLegend={series.length > 1}
        connectNulls={false}
        valueFormatter={format}
        xAxisProps={{ tickFormatter: formatPeriod, minTickGap: 24 }}
        yAxisProps={{ width: 72, allowDecimals: !isWhole, domain: [(low: number) => Math.min(low, 0), 'auto'] }}
        // Where nothing is pointed at, there is no day either.
        tooltipProps={{ labelFormatter: (day) => (typeof day === 'string' ? formatFullPeriod(day) : '') }}
        areaChartProps={{ accessibilityLayer: false }}
        areaProps={{ isAnimationActive: false }}
      />
    </Box>
  )
}
