// The figures of one process, whatever it runs. Loaded only where they are wanted.
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { MetricObject } from 'prom-client'
import type { Db } from '../db/open.ts'
import type { Loop } from '../loop.ts'
import { addApiFigures, type ApiParts } from './api-figures.ts'
import { Metrics } from './metrics.ts'
import { addNetworkFigures } from './network-figures.ts'
import { measureRequests } from './requests.ts'
import { listenForMetrics, metricsRoute, type MetricsSettings } from './serve-metrics.ts'

export type ProcessMetrics = {
  /** Before there are routes. */
  addApi: (server: FastifyInstance, parts: ApiParts, loops: readonly Loop[]) => void
  /** `exportTarget`: its URL, where there is an export. */
  addWorker: (db: Db, loops: readonly Loop[], exportTarget: string | null) => void
  toJson: () => Promise<MetricObject[]>
  close: () => Promise<void>
}

/** Where it is one of several processes: its name, and the figures of all. */
type Among = { name: string; readAll: () => Promise<string> }

export type MetricsOptions = {
  among?: Among
  /** Of traces, by what became of them; none where traces are off. */
  spans?: (() => Record<'exported' | 'dropped' | 'failed', number>) | undefined
}

export async function openMetrics(
  settings: MetricsSettings,
  pool: pg.Pool,
  { among, spans }: MetricsOptions = {},
): Promise<ProcessMetrics> {
  const metrics = new Metrics(among?.name)
  const { registry } = metrics
  const figures = among === undefined ? registry : { contentType: registry.contentType, metrics: among.readAll }
  const tasks: { part: 'api' | 'worker'; loops: readonly Loop[] }[] = []
  metrics.gauges(
    'database_connections',
    'Connections to PostgreSQL, and requests that wait for one.',
    ['state'],
    () => [
      { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'waiting' }, value: pool.waitingCount },
    ],
  )
  metrics.totals(
    'trace_spans',
    'Spans of traces; dropped: the queue was full; failed: the collector did not take them.',
    ['outcome'],
    () => Object.entries(spans?.() ?? {}).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.gauges('task_failures', 'How often in a row a background task has failed.', ['part', 'task'], () =>
    tasks.flatMap(({ part, loops }) =>
      loops.map(({ name, failures }) => ({ labels: { part, task: name }, value: failures })),
    ),
  )
  const listener = settings.metricsPort === null ? null : await listenForMetrics(figures, settings)
  return {
    addApi(server, parts, loops) {
      measureRequests(server, metrics)
      if (settings.metricsToken !== null) metricsRoute(server, figures, settings.metricsToken)
      addApiFigures(metrics, parts)
      tasks.push({ part: 'api', loops })
    },
    addWorker(db, loops, exportTarget) {
      addNetworkFigures(metrics, db, exportTarget)
      tasks.push({ part: 'worker', loops })
    },
    toJson: () => metrics.toJson(),
    close: async () => listener?.close(),
  }
}
