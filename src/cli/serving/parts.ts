// The API and the worker in this process.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { App } from '../../app.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../db/open.ts'
import type { DemoSite } from '../../demo/site.ts'
import { messageOf, OperatorError } from '../../errors.ts'
import type { ProcessMetrics } from '../../metrics/open-metrics.ts'
import type { Tracing } from '../../tracing/open-tracing.ts'
import type { Part } from './messages.ts'
import type { Stopper, Stops } from './stopper.ts'
import type { Supervised } from './supervised.ts'
import type { Supervisor } from './supervisor.ts'

type PartsOptions = {
  config: Config
  secretKey: string
  database: Database
  log: FastifyBaseLogger
  demoSite: DemoSite | null
  /** Closes what is opened here, last first. */
  running: AsyncDisposableStack
  stop: Stopper
  /** Where it is one of several processes, and which. */
  supervised?: Supervised
  name?: string
}

/** The other commands start without them. */
export const loadParts = () => {
  const parts = Promise.all([import('../../app.ts'), import('../../worker.ts')])
  parts.catch(() => {}) // reported where they are awaited
  return parts
}

/** Builds these parts, the API last, and listens. Returns how they are drained. */
export async function runParts(parts: readonly Part[], options: PartsOptions): Promise<Stops['drain']> {
  const { config, secretKey, database, log, demoSite, running, stop, supervised } = options
  const [{ buildApp }, { buildWorker }] = await loadParts()
  const tracing = running.adopt(await openTracing(parts, options), (opened) => opened?.close())
  const metrics = running.adopt(await openMetrics(options, tracing), (opened) => opened?.close())
  if (parts.includes('worker') && !stop.isAsked)
    running.adopt(await buildWorker({ config, secretKey, database, log, metrics, tracing }), (worker) => worker.close())
  if (!parts.includes('api') || stop.isAsked) return async () => {}
  const limiter = config.redisUrl === null ? (supervised?.createLimiter((message) => log.warn(message)) ?? null) : null
  const app = running.adopt(
    await buildApp({ config, secretKey, database, log, demoSite, metrics, tracing, limiter }),
    (opened) => opened.close(),
  )
  await listen(app, config, supervised !== undefined)
  return (isOver) => drainApp(app, config, isOver)
}

/** What it needs is loaded only where it is wanted. */
async function openTracing(parts: readonly Part[], { config, log, name }: PartsOptions): Promise<Tracing | null> {
  if (config.tracing === null) return null
  const { openTracing } = await import('../../tracing/open-tracing.ts')
  return openTracing(config.tracing, name ?? parts.join(' and '), log)
}

/** The same here. */
async function openMetrics(
  { config, database, supervised, name }: PartsOptions,
  tracing: Tracing | null,
): Promise<ProcessMetrics | null> {
  if (!wantsMetrics(config)) return null
  const { openMetrics } = await import('../../metrics/open-metrics.ts')
  const spans = tracing?.counts
  if (supervised === undefined) return openMetrics(config, database.pool, { spans })
  const among = { name: name ?? '', readAll: () => supervised.readFigures() }
  const metrics = await openMetrics({ ...config, metricsPort: null }, database.pool, { among, spans })
  supervised.readMetrics = metrics.toJson
  return metrics
}

const wantsMetrics = ({ metricsPort, metricsToken }: Config) => metricsPort !== null || metricsToken !== null

/** The figures of all processes, at METRICS_PORT of the supervisor. */
export async function openFigures(
  config: Config,
  supervisor: Supervisor,
): Promise<{ read: () => Promise<string>; close: () => Promise<void> }> {
  if (!wantsMetrics(config)) return { read: async () => '', close: async () => {} }
  const { openGathered } = await import('../../metrics/gathered.ts')
  return openGathered(config, supervisor)
}

/** isShared: with other processes of this machine. */
async function listen({ server }: App, { host, port }: Config, isShared: boolean): Promise<void> {
  await server
    .listen({ host, port, ...(isShared && { reusePort: true }) })
    .catch((error) => refusePort(error, host, port))
}

/** A port that is shared is not refused by the kernel where the other program shares it, too: that could be another network. */
export async function checkPort({ host, port }: Config): Promise<void> {
  const probe = createServer()
  probe.listen({ host, port, exclusive: true })
  await once(probe, 'listening').catch((error) => refusePort(error, host, port))
  probe.close()
  await once(probe, 'close')
}

function refusePort(error: unknown, host: string, port: number): never {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    throw new OperatorError(
      `Port ${port} on ${host} is already in use. Stop the other program, or choose another port with PORT=8081.`,
    )
  if (code === 'ENOTSUP')
    throw new OperatorError('Several processes cannot share a port on this system. Set PROCESSES=1.')
  throw new OperatorError(`Cannot listen on ${host}:${port}: ${messageOf(error)}. Check HOST and PORT.`)
}

async function drainApp(app: App, { drainSeconds }: Config, isOver: AbortSignal): Promise<void> {
  app.drain()
  await wait(drainSeconds * 1_000, undefined, { signal: isOver }).catch(() => {}) // cut short
}
