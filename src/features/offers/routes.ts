import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { hashText } from '../../lib/hash-text.ts'
import { metaJson, sendJson, sendNotModified, successJson } from '../../http/envelope.ts'
import type { Gate } from '../../http/gate.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import type { AppCredential } from '../apps/credentials.ts'
import type { Catalogue } from './catalogue.ts'
import type { Completions } from './completions.ts'
import type { Contexts, SubIdSet } from './contexts.ts'
import type { Filter } from './filters.ts'
import type { LinkSigner } from './links.ts'
import { fillPayouts, TOKEN } from './offer-text.ts'
import { Pages } from './pages.ts'
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

const SECONDS_A_DAY = 86_400
const MAX_OFFER_ID = Number.MAX_SAFE_INTEGER

export type OfferRoutesOptions = {
  gate: Gate<AppCredential>
  catalogue: Catalogue
  contexts: Contexts
  completions: Completions
  links: LinkSigner
  isBanned: (credential: AppCredential, userId: string) => boolean
}

const LISTED = 'Offers retrieved successfully'

/** What a banned user gets. */
const NOTHING = ({ limit, offset }: { limit: number; offset: number }) => ({
  chunks: [`{"offers":[],"total":0,"limit":${limit},"offset":${offset},"has_more":false}`],
  tag: hashText(`nothing|${limit}|${offset}`),
})

/**
 * The part of a response that is the same for all callers: its JSON, cut where the token goes, and what its ETag
 * covers.
 */
type Prepared = { chunks: string[]; message: string; tag: string }

export function offerRoutes(server: FastifyInstance, options: OfferRoutesOptions): void {
  const { gate, catalogue, contexts, completions, links, isBanned } = options
  const pages = new Pages(catalogue)

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
    (request, reply) => {
      const { query } = request
      const caller = gate.callerOf(request)
      const { appId, isTest, currency, rules } = caller
      const filter: Filter = { rules }
      if (query.country !== undefined) filter.country = query.country.toUpperCase()
      if (query.platform !== undefined) filter.platform = query.platform
      if (query.category !== undefined) filter.category = query.category
      const wanted = { filter, sort: query.sort, offset: query.offset, limit: query.limit, currency }
      if (isBanned(caller, query.userId)) return answer(request, reply, query, { ...NOTHING(wanted), message: LISTED })
      whenKnown(completions.of({ appId, isTest, userId: query.userId }), reply, (goals) => {
        const page = goals.length === 0 ? pages.get(wanted) : pages.get(wanted, catalogue.completedOffers(goals))
        whenKnown(page, reply, ({ chunks, tag }) => answer(request, reply, query, { chunks, message: LISTED, tag }))
      })
    },
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
    (request, reply) => {
      const caller = gate.callerOf(request)
      const { appId, isTest, currency, rules } = caller
      const offerId = readOfferId(request.params.offer_id)
      whenKnown(completions.of({ appId, isTest, userId: request.query.userId }), reply, (goals) => {
        const found = isBanned(caller, request.query.userId) ? null : catalogue.find(offerId, rules)
        if (found === null || catalogue.completedOffers(goals).includes(offerId)) {
          throw new AppError('RESOURCE_NOT_FOUND', 'This offer does not exist or is not available to this user.', {
            offer_id: 'No available offer has this ID.',
          })
        }
        const { template, payouts } = found.offer
        const chunks = `{"offer":${fillPayouts(template, payouts, currency)}}`.split(TOKEN)
        const tag = hashText(
          `${catalogue.publicUrl}|${offerId}|${currency.rateMicros}|${currency.name}|${currency.sharePpm}|${found.stamp}`,
        )
        answer(request, reply, request.query, { chunks, message: 'Offer retrieved successfully', tag })
      })
    },
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

  /** Sends what was prepared, with this user's links, once the request's sub-IDs are kept. */
  function answer(request: FastifyRequest, reply: FastifyReply, query: OfferQuery, prepared: Prepared): void {
    const { appId, isTest } = gate.callerOf(request)
    const { userId } = query
    const nowMs = Date.now()
    const subIds = subIdsOf(query)
    const send = () => {
      const issuedAt = Math.floor(nowMs / 1000)
      const asker = subIds === null ? userId : JSON.stringify([userId, subIds])
      const etag = `W/"${prepared.tag}-${hashText(asker, appId * 2 + (isTest ? 1 : 0))}-${Math.floor(issuedAt / SECONDS_A_DAY)}"`
      if (isFresh(request.headers['if-none-match'], etag)) return sendNotModified(request, reply, ['ETag', etag])
      const token = links.sign({ appId, isTest, issuedAt, requestId: request.id, userId, subIds })
      const body = `{"success":true,"data":${fillTokens(prepared.chunks, token)},"message":"${prepared.message}",${metaJson(request, nowMs)}`
      sendJson(request, reply, 200, body, ['ETag', etag])
    }
    const saving = subIds === null ? undefined : contexts.keep({ appId, isTest, userId, subIds, seenAtMs: nowMs })
    if (saving === undefined) send()
    else saving.then(send).catch((error: unknown) => reply.send(error))
  }
}

const readOfferId = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : MAX_OFFER_ID)

/** Continues at once in nearly all cases; perhaps after a database query, or when a list is built. */
function whenKnown<T>(value: T | Promise<T>, reply: FastifyReply, next: (value: T) => void): void {
  if (value instanceof Promise) value.then(next).catch((error: unknown) => reply.send(error))
  else next(value)
}

/** Like `join`, but leaves the copying to the one time the text is written to the socket. */
function fillTokens(chunks: readonly string[], token: string): string {
  let text = chunks[0] ?? ''
  for (let i = 1; i < chunks.length; i++) text += token + (chunks[i] ?? '')
  return text
}

/** The four values as given, an empty one as absent; null when the request carried none. */
function subIdsOf({ aff_sub, aff_sub2, aff_sub3, aff_sub4 }: OfferQuery): SubIdSet | null {
  if (!(aff_sub || aff_sub2 || aff_sub3 || aff_sub4)) return null
  return [aff_sub || null, aff_sub2 || null, aff_sub3 || null, aff_sub4 || null]
}

function isFresh(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const strong = etag.slice(2) // a weak comparison takes W/"x" and "x" as the same
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === strong)
}
