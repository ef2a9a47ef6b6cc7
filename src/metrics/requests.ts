// How many requests there are, how they are answered, and how long that takes, by route.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Counter, Histogram } from 'prom-client'
import type { Metrics } from './metrics.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

type Route = { method: string; route: string; isStream: boolean }

/** To be called before there are routes. */
export function measureRequests(server: FastifyInstance, { registry }: Metrics): void {
  const durations = new Histogram({
    name: 'offerdeck_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer. Streams are left out.',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers: [registry],
  })
  const answers = new Counter({
    name: 'offerdeck_http_requests_total',
    help: 'Requests by the status of their answer; aborted: the client left before there was one.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  })
  const routes = new Map<string, Route>()
  const routeOf = (request: FastifyRequest): Route => {
    const key = `${request.method} ${request.routeOptions.url ?? ''}`
    const known = routes.get(key) ?? describeRoute(request)
    routes.set(key, known)
    return known
  }

  server.addHook('onRequest', (request, { raw }, done) => {
    const startedMs = performance.now()
    const { method, route, isStream } = routeOf(request)
    raw.once('close', () => {
      answers.inc({ method, route, status: raw.headersSent ? String(raw.statusCode) : 'aborted' })
      if (!isStream) durations.observe({ method, route }, (performance.now() - startedMs) / 1000)
    })
    done()
  })
}

/** Both spellings of v1 are one route, and all that is unknown is one. */
function describeRoute({ method, routeOptions }: FastifyRequest): Route {
  const { url, schema } = routeOptions
  const answer = (schema?.response as Record<string, { content?: Record<string, unknown> }> | undefined)?.['200']
  return {
    method,
    route: url?.replace(/^\/api(?=\/v1)/, '') ?? 'unknown',
    isStream: answer?.content?.['text/event-stream'] !== undefined,
  }
}
