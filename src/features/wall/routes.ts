// The wall: its page, and its own API for that page.
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import type { Db } from '../../db/open.ts'
import { visitOf } from '../../http/forwarded.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { sendJson, stayHttps, successJson } from '../../http/envelope.ts'
import type { VisitorReader } from '../clicks/visitor.ts'
import { createOfferAnswers, type OfferSources, readOfferId } from '../offers/offer-answers.ts'
import { fillRewards } from '../offers/offer-text.ts'
import { OfferParams } from '../offers/schema.ts'
import { readBalance } from '../users/balances.ts'
import { goOn } from '../../lib/go-on.ts'
import { stepsToUnits } from '../../lib/money.ts'
import { listEarned, listStarted } from './activity.ts'
import type { WallCounts } from './funnel.ts'
import { type LiveWalls, STREAM_HEADERS } from './live.ts'
import { asVisitor } from './as-visitor.ts'
import { pageRoute } from './page-route.ts'
import {
  Activity,
  ActivityQuery,
  Counted,
  LiveQuery,
  OpenedQuery,
  WallListQuery,
  WallOfferList,
  WallOfferQuery,
  WallOfferReply,
} from './schema.ts'
import type { WallSettingsReader } from './settings.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import type { Viewers } from './viewers.ts'

export type WallRoutesOptions = OfferSources & {
  db: Db
  viewers: Viewers
  visitors: VisitorReader
  settingsOf: WallSettingsReader
  live: LiveWalls
  /** Whether the network sends mail. */
  hasMail: boolean
  counts: WallCounts
}

const NOT_MODIFIED = { type: 'null', description: 'Not modified: your copy is current.' }
const namesOf = (query: { properties: object }) => Object.keys(query.properties)

export function wallRoutes(server: FastifyInstance, options: WallRoutesOptions): void {
  const { db, viewers, visitors, live, counts } = options
  const answers = createOfferAnswers(options, fillRewards)
  const hookFor = (query: { properties: object }) => ({ onRequest: viewers.createHook(namesOf(query)) })
  const visitorOf = (request: FastifyRequest) => visitors.read(visitOf(request))

  const languageOf = (request: FastifyRequest, { lang }: { lang?: string }) =>
    chooseLanguage(lang, request.headers['accept-language'])

  pageRoute(server, { ...options, answers, visitorOf })

  server.get<{ Querystring: WallListQuery }>(
    '/wall/v1/offers',
    {
      ...hookFor(WallListQuery),
      schema: describe({
        operationId: 'listWallOffers',
        summary: 'List the offers of a wall',
        description:
          'For pages in a browser: the public API key alone, without the secret. Rewards are in the currency of the app. ' +
          'Country and platform are those of the visitor unless they are given.',
        querystring: WallListQuery,
        response: { 200: successReply(WallOfferList), 304: NOT_MODIFIED, ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    (request, reply) => {
      const { query } = request
      return goOn(viewers.identify(request, query), ({ credential, isSigned }) =>
        goOn(query.search === undefined ? undefined : viewers.countSearch(request), () => {
          const language = languageOf(request, query)
          const wanted = { ...asVisitor(query, visitorOf(request)), isUnproven: !isSigned, language }
          answers.list(request, reply, credential, wanted)
          return reply
        }),
      )
    },
  )

  server.get<{ Querystring: WallOfferQuery; Params: { offer_id: string } }>(
    '/wall/v1/offers/:offer_id',
    {
      ...hookFor(WallOfferQuery),
      schema: describe({
        operationId: 'getWallOffer',
        summary: 'Get one offer of a wall',
        description: 'The same fields as in the list. 404 when the user cannot complete the offer.',
        params: OfferParams,
        querystring: WallOfferQuery,
        response: { 200: successReply(WallOfferReply), 304: NOT_MODIFIED, ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { credential, isSigned } = await viewers.identify(request, request.query)
      const wanted = { ...request.query, isUnproven: !isSigned, language: languageOf(request, request.query) }
      answers.find(request, reply, credential, wanted, readOfferId(request.params.offer_id))
      return reply
    },
  )

  server.post<{ Querystring: OpenedQuery }>(
    '/wall/v1/opened',
    {
      ...hookFor(OpenedQuery),
      schema: describe({
        operationId: 'countOpenedOffer',
        summary: 'Count that a user opened an offer',
        description: 'For the funnel in the dashboard. The wall calls it when it shows the details of an offer.',
        querystring: OpenedQuery,
        response: { 200: successReply(Counted), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { credential } = await viewers.identify(request, request.query)
      const isCounted = !credential.isTest && !visitorOf(request).signals.includes('bot')
      if (isCounted) counts.note(credential.appId, 'opened')
      sendJson(request, reply, 200, successJson(request, { counted: isCounted }, 'Noted'))
      return reply
    },
  )

  server.get<{ Querystring: ActivityQuery }>(
    '/wall/v1/activity',
    {
      ...hookFor(ActivityQuery),
      schema: describe({
        operationId: 'listWallActivity',
        summary: 'List what a user has started and earned',
        description:
          'For signed users only. Offers in progress with their goals, and all conversions with their status.',
        querystring: ActivityQuery,
        response: { 200: successReply(Activity), ...errorReplies(400, 401, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { limit, cursor } = request.query
      const { credential, userId } = await viewers.identifySigned(request, request.query)
      const user = { appId: credential.appId, isTest: credential.isTest, userId }
      const language = languageOf(request, request.query)
      const [earned, started, balance] = await Promise.all([
        listEarned(db, user, language, limit, cursor),
        cursor === undefined ? listStarted(db, user, language, Date.now()) : [],
        credential.keepsBalance ? readBalance(db, user).then(stepsToUnits) : null,
      ])
      const activity = { started, ...earned, balance }
      sendJson(request, reply, 200, successJson(request, activity, 'Activity retrieved successfully'))
      return reply
    },
  )

  server.get<{ Querystring: LiveQuery }>(
    '/wall/v1/live',
    {
      ...hookFor(LiveQuery),
      schema: describe({
        operationId: 'followWall',
        summary: 'Follow changes for a user',
        description:
          'For signed users only. Server-sent events: `activity` says that the list of what the user has started and earned has ' +
          'changed, `tickets` that a ticket was answered or closed. The stream ends when the signature expires, or no longer counts.',
        querystring: LiveQuery,
        response: {
          200: { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
          ...errorReplies(400, 401, 404, 429, 500),
        },
      }),
    },
    async (request, reply) => {
      const { credential, userId, expiresAtMs: endsAtMs } = await viewers.identifySigned(request, request.query)
      const { appId, isTest } = credential
      const isLetIn = () => viewers.isStillSigned(request.query)
      reply.hijack()
      reply.raw.writeHead(200, { ...STREAM_HEADERS, ...stayHttps(request), 'X-Request-Id': request.id })
      if (!live.open({ appId, isTest, userId }, reply.raw, { endsAtMs, isLetIn }))
        reply.raw.end('event: busy\ndata: {}\n\n')
      return reply
    },
  )
}

const describe = (schema: FastifySchema & { operationId: string; summary: string; description: string }) => ({
  tags: ['Wall'],
  security: [],
  ...schema,
})
