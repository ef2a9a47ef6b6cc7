// The wall's own API, for its page in a browser.
import type { FastifyInstance } from 'fastify'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { VisitorReader } from '../clicks/visitor.ts'
import { createOfferAnswers, type OfferSources, readOfferId } from '../offers/offer-answers.ts'
import { fillRewards } from '../offers/offer-text.ts'
import { OfferParams } from '../offers/schema.ts'
import { WallListQuery, WallOfferList, WallOfferQuery, WallOfferReply } from './schema.ts'
import type { Viewers } from './viewers.ts'

export type WallRoutesOptions = OfferSources & { viewers: Viewers; visitors: VisitorReader }

export function wallRoutes(server: FastifyInstance, options: WallRoutesOptions): void {
  const { viewers, visitors } = options
  const answers = createOfferAnswers(options, fillRewards)
  const namesOf = (query: { properties: object }) => Object.keys(query.properties)

  server.get<{ Querystring: WallListQuery }>(
    '/wall/v1/offers',
    {
      onRequest: viewers.createHook(namesOf(WallListQuery)),
      schema: {
        operationId: 'listWallOffers',
        summary: 'List the offers of a wall',
        description:
          'For pages in a browser: the public API key alone, without the secret. Rewards are in the currency of the app. ' +
          'Country and platform are those of the visitor unless they are given.',
        tags: ['Wall'],
        security: [],
        querystring: WallListQuery,
        response: {
          200: successReply(WallOfferList),
          304: { type: 'null', description: 'Not modified: your copy is current.' },
          ...errorReplies(400, 401, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const { query } = request
      const { credential } = await viewers.identify(request, query)
      const visitor = visitors.read({
        ip: request.ip,
        peer: request.socket.remoteAddress ?? '',
        headers: request.headers,
      })
      const country = query.country ?? visitor.country ?? undefined
      const platform = query.platform ?? visitor.platform ?? undefined
      answers.list(request, reply, credential, {
        ...query,
        ...(country === undefined ? {} : { country }),
        ...(platform === undefined ? {} : { platform }),
      })
      return reply
    },
  )

  server.get<{ Querystring: WallOfferQuery; Params: { offer_id: string } }>(
    '/wall/v1/offers/:offer_id',
    {
      onRequest: viewers.createHook(namesOf(WallOfferQuery)),
      schema: {
        operationId: 'getWallOffer',
        summary: 'Get one offer of a wall',
        description: 'The same fields as in the list. 404 when the user cannot complete the offer.',
        tags: ['Wall'],
        security: [],
        params: OfferParams,
        querystring: WallOfferQuery,
        response: {
          200: successReply(WallOfferReply),
          304: { type: 'null', description: 'Not modified: your copy is current.' },
          ...errorReplies(400, 401, 404, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const { credential } = await viewers.identify(request, request.query)
      answers.find(request, reply, credential, request.query, readOfferId(request.params.offer_id))
      return reply
    },
  )
}
