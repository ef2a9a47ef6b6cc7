// Answers with offers for one user: a page of the list, or one offer, with links made for this user. For publishers'
// servers by the API, and for users by the wall.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { metaJson, sendJson, sendNotModified } from '../../http/envelope.ts'
import { isFresh } from '../../http/etag.ts'
import { goOn } from '../../lib/go-on.ts'
import { hashNumber, hashText } from '../../lib/hash-text.ts'
import { type AppCredential, currencyAt } from '../apps/credentials.ts'
import type { Catalogue, Recommended } from './catalogue.ts'
import type { Completions } from './completions.ts'
import type { Contexts, SubIdSet } from './contexts.ts'
import type { Filter } from './filters.ts'
import type { LinkSigner } from './links.ts'
import { saleText, TOKEN } from './offer-text.ts'
import { type Fill, type Page, Pages } from './pages.ts'
import type { WallSort } from './choices.ts'
import type { OfferListQuery, OfferQuery } from './schema.ts'

const SECONDS_A_DAY = 86_400
const MAX_OFFER_ID = Number.MAX_SAFE_INTEGER
const LISTED = 'Offers retrieved successfully'

export type OfferSources = {
  catalogue: Catalogue
  contexts: Contexts
  completions: Completions
  links: LinkSigner
  isBanned: (credential: AppCredential, userId: string) => boolean
}

/** What a banned user gets. A wall says so; to the publisher's server, it is a list like any other. */
function nothing({ limit, offset, language }: { limit: number; offset: number; language?: string | undefined }) {
  const more = language === undefined ? '' : ',"is_banned":true'
  const text = `{"offers":[],"total":0,"limit":${limit},"offset":${offset},"has_more":false${more}}`
  return { chunks: [text], tag: hashText(text) }
}

/**
 * The part of a response that is the same for all callers: its JSON, cut where the token goes, and what its ETag
 * covers.
 */
type Prepared = { chunks: string[]; message: string; tag: string }

/** What a wall adds to a request. */
type FromWall = {
  /** Its country is another than the visitor's. */
  claimsCountry?: boolean
  /** The user is not proven: the sub-IDs are in the links only, and not kept as the user's latest. */
  isUnproven?: boolean
  /** Of the texts, as far as offers have them in it. */
  language?: string
}
/** With words to search for and the ranking that the page began with, where that is offered. */
type SearchedQuery = Omit<OfferListQuery, 'sort'> & FromWall & { sort: WallSort; search?: string; ranking?: number }

type Embedded = { page: Page; token: string }

export type OfferAnswers = {
  list(request: FastifyRequest, reply: FastifyReply, caller: AppCredential, query: SearchedQuery): void
  find(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: AppCredential,
    query: OfferQuery & FromWall,
    offerId: number,
  ): void
  /** For a page that has the list in it: the list with links that lack their token, and the token. */
  embed(request: FastifyRequest, caller: AppCredential, query: SearchedQuery): Embedded | Promise<Embedded>
}

export function createOfferAnswers(sources: OfferSources, fill: Fill): OfferAnswers {
  const { catalogue, contexts, completions, links, isBanned } = sources
  const pages = new Pages(catalogue, fill)
  const tokenFor = (
    request: FastifyRequest,
    { appId, isTest }: AppCredential,
    { userId, claimsCountry = false }: FromWall & { userId: string },
    subIds: SubIdSet | null,
    nowMs: number,
  ) => {
    const issuedAt = Math.floor(nowMs / 1000)
    return links.sign({ appId, isTest, issuedAt, requestId: request.id, userId, subIds, claimsCountry })
  }

  /** Undefined when there is nothing to keep. */
  const keep = (
    { id: requestId }: FastifyRequest,
    { appId, isTest }: AppCredential,
    { userId, isUnproven = false }: FromWall & { userId: string },
    subIds: SubIdSet | null,
    seenAtMs: number,
  ) =>
    subIds === null || isUnproven ? undefined : contexts.keep({ appId, isTest, userId, subIds, seenAtMs, requestId })

  return {
    list(request, reply, caller, query) {
      whenKnown(pageFor(caller, query), reply, ({ chunks, tag }) =>
        answer(request, reply, caller, query, { chunks, message: LISTED, tag }),
      )
    },
    find(request, reply, caller, query, offerId) {
      const { appId, isTest, rules } = caller
      const currency = currencyAt(caller, Date.now())
      whenKnown(completions.of({ appId, isTest, userId: query.userId }), reply, (goals) => {
        const found = isBanned(caller, query.userId) ? null : catalogue.find(offerId, rules, query.language)
        if (found === null || catalogue.completedOffers(goals).includes(offerId)) {
          throw new AppError('RESOURCE_NOT_FOUND', 'This offer does not exist or is not available to this user.', {
            offer_id: 'No available offer has this ID.',
          })
        }
        const { template, payouts } = found.offer
        const chunks = `{"offer":${fill(template, payouts, currency)}${saleText(currency)}}`.split(TOKEN)
        const tag = hashText(
          `${catalogue.publicUrl}|${offerId}|${currency.fingerprint}|${found.stamp}|${query.language ?? ''}`,
        )
        answer(request, reply, caller, query, { chunks, message: 'Offer retrieved successfully', tag })
      })
    },
    embed(request, caller, query) {
      return goOn(pageFor(caller, query), (page) => {
        const nowMs = Date.now()
        const subIds = subIdsOf(query)
        return goOn(keep(request, caller, query, subIds, nowMs), () => {
          return { page, token: tokenFor(request, caller, query, subIds, nowMs) }
        })
      })
    },
  }

  /** At once in nearly all cases. */
  function pageFor(caller: AppCredential, query: SearchedQuery): Page | Promise<Page> {
    const { appId, isTest, rules } = caller
    const currency = currencyAt(caller, Date.now())
    const filter: Filter = { rules }
    if (query.country !== undefined) filter.country = query.country.toUpperCase()
    if (query.platform !== undefined) filter.platform = query.platform
    if (query.category !== undefined) filter.category = query.category
    const { offset, limit, language } = query
    const sort = query.sort === 'recommended' ? recommendedTo(caller, query, Date.now()) : query.sort
    const wanted = { filter, sort, offset, limit, currency, language }
    if (isBanned(caller, query.userId)) return nothing(wanted)
    return goOn(completions.of({ appId, isTest, userId: query.userId }), (goals) => {
      const completed = goals.length === 0 ? [] : catalogue.completedOffers(goals)
      return query.search === undefined ? pages.get(wanted, completed) : pages.search(wanted, query.search, completed)
    })
  }

  /** Sends what was prepared, with this user's links, once the request's sub-IDs are kept. */
  function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: AppCredential,
    query: OfferQuery & FromWall,
    prepared: Prepared,
  ): void {
    const { appId, isTest } = caller
    const { userId } = query
    const nowMs = Date.now()
    const subIds = subIdsOf(query)
    const send = () => {
      const issuedAt = Math.floor(nowMs / 1000)
      const asker = subIds === null ? userId : JSON.stringify([userId, subIds])
      const etag = `W/"${prepared.tag}-${hashText(asker, appId * 2 + (isTest ? 1 : 0))}-${Math.floor(issuedAt / SECONDS_A_DAY)}"`
      if (isFresh(request.headers['if-none-match'], etag)) return sendNotModified(request, reply, ['ETag', etag])
      const token = tokenFor(request, caller, query, subIds, nowMs)
      const body = `{"success":true,"data":${fillTokens(prepared.chunks, token)},"message":"${prepared.message}",${metaJson(request, nowMs)}`
      sendJson(request, reply, 200, body, ['ETag', etag])
    }
    const saving = keep(request, caller, query, subIds, nowMs)
    if (saving === undefined) send()
    else saving.then(send).catch((error: unknown) => reply.send(error))
  }
}

/** For one user always the same list, as long as the ranking is the same. */
export function recommendedTo(
  { appId }: Pick<AppCredential, 'appId'>,
  { userId, ranking }: { userId: string; ranking?: number },
  nowMs: number,
): Recommended {
  return { rankingId: ranking, seed: hashNumber(userId, appId), nowMs }
}

export const readOfferId = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : MAX_OFFER_ID)

/** Continues at once in nearly all cases; perhaps after a database query, or when a list is built. */
export function whenKnown<T>(value: T | Promise<T>, reply: FastifyReply, next: (value: T) => void): void {
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
