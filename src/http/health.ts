import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type Static, Type } from 'typebox'
import { inTime } from '../lib/in-time.ts'
import { errorReplies, jsonReply } from './openapi.ts'
import { shape } from './shape.ts'

const Health = shape('Health', {
  status: Type.Unsafe<'ok' | 'degraded' | 'stopping'>({ type: 'string', enum: ['ok', 'degraded', 'stopping'] }),
  database: Type.Optional(Type.Unsafe<'ok' | 'down'>({ type: 'string', enum: ['ok', 'down'] })),
})
const PING_MS = 1_000

export function healthRoutes(server: FastifyInstance, pool: pg.Pool, isStopping: () => boolean): void {
  server.get(
    '/healthz',
    {
      schema: {
        operationId: 'health',
        summary: 'Liveness: is the process running',
        description: 'Answers as long as the process runs. Needs no credentials.',
        tags: ['Health'],
        security: [],
        response: { 200: jsonReply('Running.', Health), ...errorReplies(400) },
      },
    },
    async (): Promise<Static<typeof Health>> => ({ status: 'ok' }),
  )
  // Ready also without the database: offers are served from memory, and what must be written waits in the spool.
  server.get(
    '/readyz',
    {
      schema: {
        operationId: 'readiness',
        summary: 'Readiness: can the process serve requests, and is its database available',
        description:
          'Answers 200 without the database, too: offers are served from memory, and clicks are kept on disk. After SIGTERM a process answers 503 here, and goes on serving for `DRAIN_SECONDS`. Needs no credentials.',
        tags: ['Health'],
        security: [],
        response: {
          200: jsonReply('Ready. `degraded` when the database is unavailable.', Health),
          ...errorReplies(400),
          503: jsonReply('Stopping: send no more requests here.', Health),
        },
      },
    },
    async (_request, reply): Promise<Static<typeof Health>> => {
      reply.header('Cache-Control', 'no-store')
      if (isStopping()) {
        reply.status(503)
        return { status: 'stopping' }
      }
      return (await answers(pool)) ? { status: 'ok', database: 'ok' } : { status: 'degraded', database: 'down' }
    },
  )
}

const answers = (pool: pg.Pool): Promise<boolean> =>
  inTime(pool.query('SELECT 1'), PING_MS).then(
    () => true,
    () => false,
  )
