import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { DayChartProps } from './day-chart.tsx'

const DayChart = lazy(() => import('./day-chart.tsx'))

export function LazyDayChart(props: DayChartProps) {
  return (
    <Suspense fallback={<Skeleton h={260} />}>
      <DayChart {...props} />
    </Suspense>
  )
}
