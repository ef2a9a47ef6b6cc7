// The figures of several processes of one machine, told apart by the label `process`.
import { AggregatorRegistry, type MetricObject } from 'prom-client'
import { Metrics } from './metrics.ts'
import { listenForMetrics, type MetricsSettings } from './serve-metrics.ts'

type Processes = { restarts: number; collect: () => Promise<MetricObject[][]> }

export async function openGathered(
  settings: MetricsSettings,
  processes: Processes,
): Promise<{ read: () => Promise<string>; close: () => Promise<void> }> {
  const own = new Metrics('supervisor')
  own.totals('process_restarts', 'Processes that ended unasked, and were started again.', [], () => [
    { labels: {}, value: processes.restarts },
  ])
  const read = async () => {
    const all = [await own.toJson(), ...(await processes.collect())]
    // No two have the same labels, so that nothing is added up: not even what must not be.
    const apart = all.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: 'sum' as const })))
    return AggregatorRegistry.aggregate(apart).metrics()
  }
  const source = { contentType: own.registry.contentType, metrics: read }
  const listener = settings.metricsPort === null ? null : await listenForMetrics(source, settings)
  return { read, close: async () => listener?.close() }
}
