import type { FastifyInstance } from 'fastify'
import type { Db } from '../../db/open.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { Stats, StatsQuery } from './schema.ts'
import { readRange, readStats } from './stats.ts'

export type StatsRoutesOptions = { gate: Gate<AppCredential>; db: Db }

export function statsRoutes(server: FastifyInstance, { gate, db }: StatsRoutesOptions): void {
  server.get<{ Querystring: StatsQuery }>(
    '/stats',
    {
      schema: {
        operationId: 'getStats',
        summary: 'Count clicks, conversions and payout',
        description:
          'The figures of your app. What is done with test credentials is never counted: they get the same answer with zeros. ' +
          'Clicks of long ago are known by the quarter of an hour, and count from its beginning.',
        tags: ['Statistics'],
        querystring: StatsQuery,
        response: { 200: successReply(Stats), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { appId, isTest } = gate.callerOf(request)
      const range = readRange(request.query, new Date())
      const stats = await readStats(db, { appId, isTest }, request.query, range)
      sendJson(request, reply, 200, successJson(request, stats, 'Statistics retrieved successfully'))
    },
  )
}
