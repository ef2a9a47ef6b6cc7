import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Db } from '../../db/open.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { problemsOf, refuseProblems } from '../../http/validation.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { Stats, StatsQuery } from './schema.ts'
import { judgeRange, readStats } from './stats.ts'

export type StatsRoutesOptions = { gate: Gate<AppCredential>; db: Db }

export function statsRoutes(server: FastifyInstance, { gate, db }: StatsRoutesOptions): void {
  server.get<{ Querystring: StatsQuery }>(
    '/stats',
    {
      attachValidation: true, // so that problems of the range are reported beside all others
      schema: {
        operationId: 'getStats',
        summary: 'Count clicks, conversions and payout',
        description:
          'The figures of your app. Test traffic is never counted: test credentials get the same response with zeros. ' +
          'Old clicks are kept per quarter of an hour and count from its start.',
        tags: ['Statistics'],
        querystring: StatsQuery,
        response: { 200: successReply(Stats), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { appId, isTest } = gate.callerOf(request)
      const { range, details } = judgeRange(soundRange(request), new Date())
      refuseProblems(request, details)
      const stats = await readStats(db, { appId, isTest }, request.query, range)
      sendJson(request, reply, 200, successJson(request, stats, 'Statistics retrieved successfully'))
    },
  )
}

/** What can be judged of the range: a beginning without its end, or the other way round, cannot. */
function soundRange(request: FastifyRequest<{ Querystring: StatsQuery }>) {
  const problems = problemsOf(request)
  const { from, to, timezone } = request.query
  return {
    ...('from' in problems || 'to' in problems ? {} : { from, to }),
    timezone: 'timezone' in problems ? 'UTC' : timezone,
  } as Pick<StatsQuery, 'from' | 'to' | 'timezone'>
}
