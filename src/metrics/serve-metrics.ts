// Where Prometheus finds the figures: on a port of their own, at /metrics of the API with a token, or both.
import { timingSafeEqual, createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { messageOf, OperatorError } from '../errors.ts'

const WRONG_TOKEN = 'Send the value of METRICS_TOKEN: Authorization: Bearer …\n'

export type MetricsSettings = Pick<Config, 'metricsPort' | 'metricsHost' | 'metricsToken'>
/** A registry, or the figures of several processes. */
export type Figures = { contentType: string; metrics(): Promise<string> }
type Answer = { status: number; type: string; body: string }

/** On a port of their own, for workers as well. `/healthz` is there for those that watch a worker. */
export async function listenForMetrics(
  figures: Figures,
  settings: MetricsSettings,
): Promise<{ close(): Promise<void> }> {
  const { metricsPort: port, metricsHost: host } = settings
  const isAllowed = tokenCheck(settings.metricsToken)
  const answerTo = ({ url, headers }: IncomingMessage): Answer | Promise<Answer> => {
    if (url === '/healthz') return plain(200, 'ok\n')
    if (url !== '/metrics') return plain(404, 'The figures are at /metrics.\n')
    return isAllowed(headers.authorization) ? answer(figures) : plain(401, WRONG_TOKEN)
  }
  const server = createServer((request, response) => {
    void Promise.resolve(answerTo(request)).then(({ status, type, body }) =>
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body),
    )
  })
  await new Promise<void>((listening, failed) => {
    server.once(
      'error',
      (error) =>
      failed(new OperatorError(`Cannot listen on ${host}:${port}: ${messageOf(error)}. Check METRICS_HOST and METRICS_PORT.`)), // prettier-ignore
    )
    server.listen(port ?? 0, host, listening)
  })
  return {
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** At the API's own port. Not part of the documented API. */
export function metricsRoute(server: FastifyInstance, figures: Figures, token: string): void {
  const isAllowed = tokenCheck(token)
  server.get('/metrics', { schema: { hide: true } }, async ({ headers }, reply) => {
    const { status, type, body } = isAllowed(headers.authorization) ? await answer(figures) : plain(401, WRONG_TOKEN)
    return reply.status(status).header('Content-Type', type).header('Cache-Control', 'no-store').send(body)
  })
}

async function answer(figures: Figures): Promise<Answer> {
  return { status: 200, type: figures.contentType, body: await figures.metrics() }
}

const plain = (status: number, body: string): Answer => ({ status, type: 'text/plain; charset=utf-8', body })

function tokenCheck(token: string | null): (authorization: string | undefined) => boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  if (token === null) return () => true
  const wanted = hash(`Bearer ${token}`)
  return (authorization) => timingSafeEqual(hash(authorization ?? ''), wanted)
}
