// Tickets of the wall's API, for signed users only.
import type { FastifyInstance, FastifyRequest, FastifySchema, onRequestHookHandler } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import { visitOf } from '../../http/forwarded.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { Query } from '../../http/query.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { refuseUnreadable } from '../../http/validation.ts'
import { hashText } from '../../lib/hash-text.ts'
import type { VisitorReader } from '../clicks/visitor.ts'
import type { AppUser } from '../offers/completions.ts'
import type { WallSettingsReader } from './settings.ts'
import {
  MAX_TICKET_BODY,
  MessageParams,
  NewTicket,
  NewTicketMessage,
  TicketImage,
  TicketListQuery,
  TicketParams,
  TicketQuery,
  WallTicketList,
  WallTicketReply,
} from './ticket-schema.ts'
import { findTicketOfUser, listTicketsOfUser, openTicket, readTicketImage, writeToTicket } from './tickets.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import type { Viewers } from './viewers.ts'

const WRITES_A_MINUTE = 6

type Options = {
  db: Db
  viewers: Viewers
  visitors: VisitorReader
  settingsOf: WallSettingsReader
  limiter: RateLimiter
}

export function ticketRoutes(server: FastifyInstance, { db, viewers, visitors, settingsOf, limiter }: Options): void {
  const users = new WeakMap<FastifyRequest, AppUser>()

  /** The signature is checked before a body is read: only who is signed may send a large one. */
  const onRequest = (query: { properties: object }): onRequestHookHandler[] => [
    viewers.createHook(Object.keys(query.properties)),
    async (request) => {
      refuseUnreadable(request.query as Query, ['apiKey', 'userId', 'exp', 'sig'])
      const { apiKey = '', userId = '', exp, sig } = request.query as Partial<TicketQuery>
      const { credential } = await viewers.identifySigned(request, { apiKey, userId, exp, sig })
      const { appId, isTest } = credential
      users.set(request, { appId, isTest, userId })
      if (request.method !== 'POST') return
      request.allowance = await limiter.take(`wall tickets:${appId}|${isTest}|${hashText(userId)}`, WRITES_A_MINUTE)
      if (request.allowance.exceeded)
        throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many messages. Wait a minute, then try again.')
    },
  ]
  const userOf = (request: FastifyRequest) => users.get(request) as AppUser
  const languageOf = (request: FastifyRequest) =>
    chooseLanguage((request.query as TicketQuery).lang, request.headers['accept-language'])

  server.get<{ Querystring: TicketListQuery }>(
    '/wall/v1/tickets',
    {
      onRequest: onRequest(TicketListQuery),
      schema: describe({
        operationId: 'listWallTickets',
        summary: 'List the tickets of a user',
        description: 'For signed users only. Each with its messages.',
        querystring: TicketListQuery,
        response: { 200: successReply(WallTicketList), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { limit, cursor } = request.query
      const list = await listTicketsOfUser(db, userOf(request), languageOf(request), limit, cursor)
      sendJson(request, reply, 200, successJson(request, list, 'Tickets retrieved successfully'))
      return reply
    },
  )

  server.post<{ Querystring: TicketQuery; Body: NewTicket }>(
    '/wall/v1/tickets',
    {
      onRequest: onRequest(TicketQuery),
      bodyLimit: MAX_TICKET_BODY,
      schema: describe({
        operationId: 'openWallTicket',
        summary: 'Open a ticket',
        description:
          'For signed users only. The ticket carries the click, country and device, which the server looks up. ' +
          'A repeated submit with the same `key` returns the first ticket.',
        querystring: TicketQuery,
        body: NewTicket,
        response: { 200: successReply(WallTicketReply), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const user = userOf(request)
      if (!(await settingsOf(user.appId)).shows.support)
        throw new AppError('RESOURCE_NOT_FOUND', 'This wall takes no tickets. Contact the app or site you came from.')
      const seen = visitors.read(visitOf(request))
      const ticketId = await openTicket(db, user, seen, request.body, new Date())
      const ticket = await findTicketOfUser(db, user, languageOf(request), ticketId)
      sendJson(request, reply, 200, successJson(request, { ticket }, 'Ticket opened successfully'))
      return reply
    },
  )

  server.post<{ Querystring: TicketQuery; Params: { ticket_id: string }; Body: NewTicketMessage }>(
    '/wall/v1/tickets/:ticket_id/messages',
    {
      onRequest: onRequest(TicketQuery),
      bodyLimit: MAX_TICKET_BODY,
      schema: describe({
        operationId: 'writeToWallTicket',
        summary: 'Write to a ticket',
        description: 'For signed users only, to a ticket of their own. It opens the ticket again.',
        params: TicketParams,
        querystring: TicketQuery,
        body: NewTicketMessage,
        response: { 200: successReply(WallTicketReply), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const [user, { ticket_id }] = [userOf(request), request.params]
      await writeToTicket(db, user, ticket_id, request.body, new Date())
      const ticket = await findTicketOfUser(db, user, languageOf(request), ticket_id)
      sendJson(request, reply, 200, successJson(request, { ticket }, 'Message sent successfully'))
      return reply
    },
  )

  server.get<{ Querystring: TicketQuery; Params: { ticket_id: string; message_id: string } }>(
    '/wall/v1/tickets/:ticket_id/messages/:message_id/image',
    {
      onRequest: onRequest(TicketQuery),
      schema: describe({
        operationId: 'getWallTicketImage',
        summary: 'Get the image of a message',
        description: 'For signed users only, of a ticket of their own. Images are deleted after 90 days.',
        params: MessageParams,
        querystring: TicketQuery,
        response: { 200: successReply(TicketImage), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { ticket_id, message_id } = request.params
      const image = await readTicketImage(db, userOf(request), ticket_id, message_id)
      sendJson(request, reply, 200, successJson(request, image, 'Image retrieved successfully'))
      return reply
    },
  )
}

const describe = (schema: FastifySchema & { operationId: string; summary: string; description: string }) => ({
  tags: ['Wall'],
  security: [],
  ...schema,
})
