import type { FastifyInstance } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError, badCursor, badRequest } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { parseSpan } from '../../lib/time.ts'
import type { AppCredential } from '../apps/credentials.ts'
import type { Command, Outcome, Refusal } from './commands.ts'
import { findConversion, presentConversion, shownRow } from './conversions.ts'
import { type ConversionFilter, searchConversions } from './search.ts'
import { presentEvent, readEvents, readFeedEnd } from './events.ts'
import {
  ConversionList,
  ConversionListQuery,
  ConversionParams,
  ConversionReply,
  EventList,
  EventListQuery,
  NewConversion,
  ReportHeaders,
} from './schema.ts'

export type ConversionRoutesOptions = {
  gate: Gate<AppCredential>
  db: Db
  applyCommand: (command: Command) => Promise<Outcome>
}

export function conversionRoutes(server: FastifyInstance, options: ConversionRoutesOptions): void {
  reportRoute(server, options)
  listRoute(server, options)
  conversionRoute(server, options)
  eventsRoute(server, options)
}

function reportRoute(server: FastifyInstance, { gate, applyCommand }: ConversionRoutesOptions): void {
  server.post<{ Body: NewConversion; Headers: { 'idempotency-key'?: string } }>(
    '/conversions',
    {
      schema: {
        operationId: 'createConversion',
        summary: 'Report that a user completed an offer',
        description:
          'Repeating a report is safe: the first conversion is returned with status 200. Without a confirmation of the advertiser it stays `pending`, unless your app is trusted for the offer. Reports with the test key are approved at once.',
        tags: ['Conversions'],
        headers: ReportHeaders,
        body: NewConversion,
        response: {
          200: successReply(ConversionReply),
          201: successReply(ConversionReply),
          ...errorReplies(400, 401, 404, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const { appId, isTest } = gate.callerOf(request)
      const { userId, offerId, goalId = null, transactionId = null } = request.body
      const idempotencyKey = request.headers['idempotency-key'] ?? null
      const outcome = await applyCommand({
        kind: 'report',
        appId,
        isTest,
        userId,
        offerId,
        goalId,
        transactionId,
        idempotencyKey,
        requestId: request.id,
      })
      if (outcome.conversion === null) throw refusal(outcome.kind)
      const isNew = outcome.kind === 'created'
      const message = isNew ? 'Conversion recorded successfully' : 'This conversion is already recorded'
      const data = { conversion: presentConversion(shownRow(outcome.conversion)) }
      sendJson(request, reply, isNew ? 201 : 200, successJson(request, data, message))
      return reply
    },
  )
}

function listRoute(server: FastifyInstance, { gate, db }: ConversionRoutesOptions): void {
  server.get<{ Querystring: ConversionListQuery }>(
    '/conversions',
    {
      schema: {
        operationId: 'listConversions',
        summary: 'List conversions',
        description: 'Newest first. Filter by user, offer, status and time; continue with `next_cursor`.',
        tags: ['Conversions'],
        querystring: ConversionListQuery,
        response: { 200: successReply(ConversionList), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const { rows, next } = await searchConversions(db, filterOf(request.query, gate.callerOf(request)), limit)
      const data = { conversions: rows.map(presentConversion), next_cursor: next }
      sendJson(request, reply, 200, successJson(request, data, 'Conversions retrieved successfully'))
      return reply
    },
  )
}

function conversionRoute(server: FastifyInstance, { gate, db }: ConversionRoutesOptions): void {
  server.get<{ Params: { conversion_id: string } }>(
    '/conversions/:conversion_id',
    {
      schema: {
        operationId: 'getConversion',
        summary: 'Get one conversion',
        description: 'The current status, payout and sub-IDs of one conversion of your app.',
        tags: ['Conversions'],
        params: ConversionParams,
        response: { 200: successReply(ConversionReply), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const conversion = await findConversion(db, request.params.conversion_id, gate.callerOf(request))
      if (conversion === null)
        throw new AppError('RESOURCE_NOT_FOUND', 'There is no such conversion.', {
          conversion_id: 'No conversion of this app has this ID.',
        })
      const data = { conversion: presentConversion(conversion) }
      sendJson(request, reply, 200, successJson(request, data, 'Conversion retrieved successfully'))
      return reply
    },
  )
}

function eventsRoute(server: FastifyInstance, { gate, db }: ConversionRoutesOptions): void {
  server.get<{ Querystring: EventListQuery }>(
    '/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'Read every conversion event, in order',
        description:
          'Every change that postbacks report. Read lost postbacks here. The amounts of a reversal are ' +
          'negative, as in its postback: the sum over all events of a conversion is what it earned.',
        tags: ['Conversions'],
        querystring: EventListQuery,
        response: { 200: successReply(EventList), ...errorReplies(400, 401, 429, 500) },
      },
    },
    async (request, reply) => {
      const { limit, cursor, after = cursor ?? '0' } = request.query
      if (cursor !== undefined && cursor !== after)
        throw badRequest({ cursor: 'Send either cursor or after, not both.' })
      const found = await readEvents(db, gate.callerOf(request), Number(after), limit + 1)
      // Beyond the last event: the database was restored, and continuing from there would skip some.
      if (found.length === 0 && Number(after) > (await readFeedEnd(db))) throw badCursor('after')
      const page = found.slice(0, limit)
      const data = {
        events: page.map(presentEvent),
        next_cursor: String(page.at(-1)?.seq ?? after),
        has_more: found.length > limit,
      }
      sendJson(request, reply, 200, successJson(request, data, 'Events retrieved successfully'))
      return reply
    },
  )
}

function refusal(kind: Refusal): AppError {
  switch (kind) {
    case 'no_offer':
      return new AppError('RESOURCE_NOT_FOUND', 'There is no such offer.', { offerId: 'No offer has this ID.' })
    case 'no_goal':
      return new AppError('RESOURCE_NOT_FOUND', 'The offer has no such goal.', {
        goalId: 'No goal of this offer has this ID.',
      })
    case 'needs_transaction':
      return new AppError('INVALID_REQUEST', 'This goal is repeatable.', {
        transactionId: 'transactionId is required for this goal, so that each completion counts once.',
      })
    case 'key_reused':
      return new AppError('INVALID_REQUEST', 'This Idempotency-Key was used for another request.', {
        'Idempotency-Key': 'Idempotency-Key must be new for every new request.',
      })
    default:
      throw new Error(`A report came to ${kind}.`)
  }
}

function filterOf(query: ConversionListQuery, { appId, isTest }: AppCredential): ConversionFilter {
  const filter: ConversionFilter = { appId, isTest, ...parseSpan(query) }
  if (query.userId !== undefined) filter.userId = query.userId
  if (query.offerId !== undefined) filter.offerId = query.offerId
  if (query.status !== undefined) filter.status = query.status
  if (query.cursor !== undefined) filter.before = query.cursor
  return filter
}
