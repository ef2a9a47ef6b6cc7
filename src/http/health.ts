import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { type Static, Type } from 'typebox'
import { errorReplies, jsonReply } from './openapi.ts'
import { shape } from './shape.ts'

const Health = shape('Health', {
  status: Type.Unsafe<'ok' | 'degraded'>({ type: 'string', enum: ['ok', 'degraded'] }),
  database: Type.Optional(Type.Unsafe<'ok' | 'away'>({ type: 'string', enum: ['ok', 'away'] })),
})
const PING_MS = 1_000

export function healthRoutes(server: FastifyInstance, pool: pg.Pool): void {
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
          'Answers 200 without the database, too: offers are served from memory, and clicks are kept on disk. Needs no credentials.',
        tags: ['Health'],
        security: [],
        response: {
          200: jsonReply('Ready. `degraded` when the database is unavailable.', Health),
          ...errorReplies(400),
        },
      },
    },
    async (_request, reply): Promise<Static<typeof Health>> => {
      reply.header('Cache-Control', 'no-store')
      return (await answers(pool)) ? { status: 'ok', database: 'ok' } : { status: 'degraded', database: 'away' }
    },
  )
}

async function answers(pool: pg.Pool): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, PING_MS, false)))
  const ping = pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([ping, late])
  } finally {
    clearTimeout(timer)
  }
}
