import type { FastifyInstance } from 'fastify'
import { sendJson, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { createOfferAnswers, type OfferSources, readOfferId, whenKnown } from './offer-answers.ts'
import { fillPayouts } from './offer-text.ts'
import {
  OfferList,
  OfferListQuery,
  OfferParams,
  OfferQuery,
  OfferReply,
  VisibilityQuery,
  VisibilityReply,
} from './schema.ts'
import { explainVisibility } from './visibility.ts'

export type OfferRoutesOptions = OfferSources & { gate: Gate<AppCredential> }

export function offerRoutes(server: FastifyInstance, options: OfferRoutesOptions): void {
  const { gate, catalogue, completions, isBanned } = options
  const answers = createOfferAnswers(options, fillPayouts)

  server.get<{ Querystring: OfferListQuery }>(
    '/offers',
    {
      schema: {
        operationId: 'listOffers',
        summary: 'List the offers a user can complete',
        description:
          'Offers for one user, with filters, sorting and exact totals. Completed offers are left out. Every `link` is made for this user.',
        tags: ['Offers'],
        querystring: OfferListQuery,
        response: {
          200: successReply(OfferList),
          304: { type: 'null', description: 'Not modified: your copy is current.' },
          ...errorReplies(400, 401, 429, 500),
        },
      },
    },
    (request, reply) => answers.list(request, reply, gate.callerOf(request), request.query),
  )

  server.get<{ Querystring: OfferQuery; Params: { offer_id: string } }>(
    '/offers/:offer_id',
    {
      schema: {
        operationId: 'getOffer',
        summary: 'Get one offer for a user',
        description: 'The same fields as in the list. 404 when the user cannot complete the offer.',
        tags: ['Offers'],
        params: OfferParams,
        querystring: OfferQuery,
        response: {
          200: successReply(OfferReply),
          304: { type: 'null', description: 'Not modified: your copy is current.' },
          ...errorReplies(400, 401, 404, 429, 500),
        },
      },
    },
    (request, reply) =>
      answers.find(request, reply, gate.callerOf(request), request.query, readOfferId(request.params.offer_id)),
  )

  server.get<{ Querystring: VisibilityQuery; Params: { offer_id: string } }>(
    '/offers/:offer_id/why',
    {
      schema: {
        operationId: 'explainOffer',
        summary: 'Explain why a user does not see an offer',
        description:
          'For support and debugging: all reasons why this user does not see the offer. Empty when the offer is visible.',
        tags: ['Offers'],
        params: OfferParams,
        querystring: VisibilityQuery,
        response: { 200: successReply(VisibilityReply), ...errorReplies(400, 401, 404, 429, 500) },
      },
    },
    (request, reply) => {
      const caller = gate.callerOf(request)
      const { appId, isTest, rules } = caller
      const { userId, country, platform } = request.query
      whenKnown(completions.of({ appId, isTest, userId }), reply, (goals) => {
        const visit = {
          country: country?.toUpperCase() ?? null,
          platforms: platform === undefined ? null : [platform],
          rules,
        }
        const user = { completed: goals, isBanned: isBanned(caller, userId) }
        const explained = explainVisibility(catalogue, readOfferId(request.params.offer_id), visit, user, Date.now())
        const sentences = explained.reasons.map(({ message }) => message)
        const message = sentences.join(' ') || 'The user sees this offer.'
        sendJson(request, reply, 200, successJson(request, explained, message))
      })
    },
  )
}
