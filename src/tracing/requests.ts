// A span for each request of the API.
import { type Link, SpanKind } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contextOf, nowMs, type OpenRequest, type Recorder, safely } from './recorder.ts'

const TRACEPARENT = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/

/** To be called before there are routes. */
export function traceRequests(server: FastifyInstance, recorder: Recorder): void {
  server.addHook('onRequest', (request, { raw }, done) => {
    const startedMs = nowMs()
    const one: OpenRequest = { flow: null, links: [] }
    recorder.open.set(request.id, one)
    raw.once('close', () => {
      recorder.open.delete(request.id)
      if (recorder.isRecorded(request.id, one.flow))
        safely(() => record(request, one, raw.headersSent ? raw.statusCode : null))
    })
    done()

    function record({ id, method, protocol }: FastifyRequest, { links }: OpenRequest, status: number | null): void {
      const route = routeOf(request)
      recorder.addRequest(id, {
        name: `${method} ${route}`,
        kind: SpanKind.SERVER,
        startedMs,
        endedMs: nowMs(),
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'url.scheme': protocol,
          'network.protocol.version': request.raw.httpVersion,
          ...(status !== null && { 'http.response.status_code': status }),
          'offerdeck.request_id': id,
        },
        links: [...links, ...callersLink(request)],
        error: status === null ? 'aborted' : status >= 500 ? String(status) : null,
      })
    }
  })
}

/**
 * The caller's own trace, where it says so, is linked and nothing more: it neither chooses what is recorded nor has spans of
 * ours in it, because anyone can send this header.
 */
function callersLink({ headers: { traceparent } }: FastifyRequest): Link[] {
  const [, traceId, spanId] = TRACEPARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? []
  if (traceId === undefined || spanId === undefined) return []
  return [{ context: contextOf({ traceId, spanId }), attributes: { 'offerdeck.link': 'caller' } }]
}

/** Both spellings of v1 are one route, and all that is unknown is one. */
const routeOf = ({ routeOptions }: FastifyRequest) => routeOptions.url?.replace(/^\/api(?=\/v1)/, '') ?? 'unknown'
