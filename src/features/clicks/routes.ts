import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../db/open.ts'
import { pageReply } from '../../http/openapi.ts'
import { clickOfRequest, WALL_REQUESTS } from '../../http/request-ids.ts'
import { AppError } from '../../errors.ts'
import { isHttps, STAY_HTTPS } from '../../http/envelope.ts'
import { ipOf, visitOf } from '../../http/forwarded.ts'
import { sendPage } from '../../http/pages.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import { WHOLE_PPM } from '../../lib/money.ts'
import { isoTime } from '../../lib/time.ts'
import { uuid7, uuid7Time } from '../../lib/uuid7.ts'
import { type AppCredential, type Credentials, currencyAt } from '../apps/credentials.ts'
import type { Catalogue } from '../offers/catalogue.ts'
import type { Completions } from '../offers/completions.ts'
import type { LinkContext, LinkSigner } from '../offers/links.ts'
import type { Platform } from '../offers/choices.ts'
import type { Click, Clicks } from './clicks.ts'
import { isWithinLimit } from './daily-limit.ts'
import { fillDestination } from './destination.ts'
import { explanationPage, type LinkProblem, STYLE, STYLE_PATH } from './pages.ts'
import { readOr } from './read-or.ts'
import type { VisitLimits } from './visit-limits.ts'
import { isPrefetch, type Visitor, type VisitorReader } from './visitor.ts'

const LINK_LIFE_S = 7 * 86_400

const STATUSES: Record<LinkProblem, number> = {
  broken: 404,
  expired: 410,
  withdrawn: 410,
  paused: 410,
  ended: 410,
  not_started: 403,
  full: 410,
  country: 403,
  platform: 403,
  content: 403,
  reward: 403,
  not_allowed: 410,
  banned: 403,
  completed: 410,
  daily_limit: 403,
  busy: 503,
  too_many: 429,
}

export type ClickRoutesOptions = {
  catalogue: Catalogue
  clicks: Clicks
  completions: Completions
  credentials: Credentials
  links: LinkSigner
  visitors: VisitorReader
  limits: VisitLimits
  /** Called for each live click of a link that a wall showed. */
  onWallClick: (appId: number) => void
  isInLocker: LockerCheck
  db: Db
}

/** Whether a locker shows this offer to this visitor now. */
export type LockerCheck = (
  lockerId: number,
  offerId: number,
  credential: AppCredential,
  visitor: Visitor,
) => Promise<boolean>

/** A visitor who may follow a link. */
type Passage = {
  context: LinkContext
  credential: AppCredential
  offer: NonNullable<ReturnType<Catalogue['target']>> & { offerId: number }
  visitor: Visitor
}

export function clickRoutes(server: FastifyInstance, options: ClickRoutesOptions): void {
  const { catalogue, clicks, completions, credentials, links, visitors, limits, onWallClick, isInLocker, db } = options

  server.get<{ Params: { offer_id: string; token: string } }>(
    '/c/:offer_id/:token',
    {
      schema: {
        operationId: 'followLink',
        summary: 'Follow the link of an offer',
        description: 'For users, not for servers. Records the click and redirects to the offer.',
        tags: ['Links'],
        security: [],
        params: {
          type: 'object',
          properties: {
            offer_id: { type: 'string', description: 'ID of the offer.' },
            token: { type: 'string', description: 'Signed token that identifies the user. Every link has one.' },
          },
          required: ['offer_id', 'token'],
        },
        response: {
          302: { type: 'null', description: 'A redirect to the offer.' },
          403: pageReply('The offer is not for this user: a page says why.'),
          404: pageReply('Unknown link.'),
          410: pageReply('The link has expired, or the offer has ended.'),
          429: pageReply('Too many clicks from this IP address. Retry after `Retry-After` seconds.'),
          503: pageReply('The click could not be recorded. Try again.'),
          default: pageReply('A page that explains to the user what went wrong.'),
        },
      },
      // A visitor is a person: even an error is shown on a page. Problems with the request itself, such as plain HTTP,
      // do not come from browsers.
      errorHandler(error, request, reply) {
        if (error instanceof AppError) throw error
        request.log.error({ err: error, request_id: request.id }, 'a link could not be followed')
        explain(request, reply, 'busy')
      },
    },
    async (request, reply) => {
      const nowMs = Date.now()
      const context = links.read(request.params.token)
      const waitS =
        limits.countVisit(ipOf(request)) ?? (context === null ? null : limits.countUser(ipOf(request), context))
      if (waitS !== null) return explain(request, reply, 'too_many', waitS)
      const passage = await admit(request, context, nowMs)
      if (typeof passage === 'string') return explain(request, reply, passage)
      // A HEAD request is not a click; a prefetched link is fetched again when the user follows it.
      if (request.method === 'HEAD') return reply.code(200).header('Cache-Control', 'no-store').send()
      if (isPrefetch(request.headers)) return reply.code(503).header('Cache-Control', 'no-store').send()
      const click = createClick(passage, clickOfRequest(request.id) ?? uuid7(nowMs))
      const destination = fillDestination(passage.offer.destination, macrosOf(click, nowMs))
      if ((await clicks.record(click)) === 'full') return explain(request, reply, 'full')
      if (isOfWall(click)) onWallClick(click.app_id)
      sendOn(request, reply, destination)
      return reply
    },
  )

  server.get(STYLE_PATH, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'public, max-age=3600').send(STYLE),
  )

  // Links that were cut short or grew on the way.
  server.get('/c/*', { schema: { hide: true } }, async (request, reply) => {
    const waitS = limits.countVisit(ipOf(request))
    return waitS === null ? explain(request, reply, 'broken') : explain(request, reply, 'too_many', waitS)
  })

  /** Everything that a list checks, checked again; an unknown country or device passes. */
  async function admit(
    request: FastifyRequest<{ Params: { offer_id: string; token: string } }>,
    context: LinkContext | null,
    nowMs: number,
  ): Promise<Passage | LinkProblem> {
    const { offer_id } = request.params
    if (context === null || !/^\d{1,15}$/.test(offer_id)) return 'broken'
    const credential = credentials.ofApp(context.appId, context.isTest)
    const target = catalogue.target(Number(offer_id))
    if (credential === undefined || target === undefined) return 'broken'
    const offer = { offerId: Number(offer_id), ...target }
    if (nowMs / 1000 - context.issuedAt > LINK_LIFE_S) return 'expired'
    if (nowMs >= credential.expiresAtMs) return 'withdrawn'
    if (credentials.isBanned(credential, context.userId)) return 'banned'
    const visitor = visitors.read(visitOf(request))
    const visit = { country: visitor.country, platforms: platformsOf(visitor), rules: credential.rules }
    const [reason] = catalogue.hiddenReasons(offer.offerId, visit, nowMs) ?? []
    if (reason !== undefined) return reason
    const { lockerId } = context
    if (lockerId !== null && !(await readOr(isInLocker(lockerId, offer.offerId, credential, visitor), true)))
      return 'content'
    const goals = await completions.of(context)
    if (goals.length > 0 && catalogue.completedOffers(goals).includes(offer.offerId)) return 'completed'
    const { dailyLimit } = credential
    const user = { ...context, offerId: offer.offerId }
    if (dailyLimit !== null && !(await isWithinLimit(db, user, dailyLimit, nowMs))) return 'daily_limit'
    return { context, credential, offer, visitor }
  }
}

/** A link that is not even a URL any more: its user gets the same page. */
export function explainBrokenLink(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!(request.raw.url ?? '').startsWith('/c/')) return false
  explain(request, reply, 'broken')
  return true
}

/** What runs on the web runs in the browser of a phone, too. */
function platformsOf({ platform }: Visitor): Platform[] | null {
  return platform === null ? null : [platform, 'web']
}

function createClick({ context, credential, offer, visitor }: Passage, clickId: string): Click {
  const nowMs = uuid7Time(clickId)
  const currency = currencyAt(credential, nowMs)
  const [aff_sub = null, aff_sub2 = null, aff_sub3 = null, aff_sub4 = null] = context.subIds ?? []
  return {
    click_id: clickId,
    clicked_at: isoTime(nowMs),
    app_id: context.appId,
    is_test: context.isTest,
    user_id: context.userId,
    offer_id: offer.offerId,
    terms_id: offer.termsId,
    currency: currency.name,
    rate_micros: currency.rateMicros,
    share_ppm: currency.sharePpm === WHOLE_PPM ? null : currency.sharePpm,
    request_id: context.requestId,
    aff_sub,
    aff_sub2,
    aff_sub3,
    aff_sub4,
    ip: visitor.ip,
    country: visitor.country,
    device: visitor.device,
    os: visitor.os,
    signals: signalsOf(visitor, context),
    rounding: currency.rounding,
    multiplier_ppm: currency.sale?.multiplierPpm ?? null,
    locker_id: context.lockerId,
  }
}

const isOfWall = ({ request_id, is_test, signals }: Click) =>
  !is_test && request_id.startsWith(WALL_REQUESTS) && signals?.includes('bot') !== true

/** Null where nothing is suspected. */
function signalsOf({ signals }: Visitor, { claimsCountry }: LinkContext): string[] | null {
  const all = claimsCountry ? [...signals, 'claimed_country'] : signals
  return all.length === 0 ? null : all
}

const macrosOf = (click: Click, nowMs: number) => ({
  click_id: click.click_id,
  offer_id: click.offer_id,
  app_id: click.app_id,
  country: click.country,
  device: click.device,
  os: click.os,
  aff_sub: click.aff_sub,
  aff_sub2: click.aff_sub2,
  aff_sub3: click.aff_sub3,
  aff_sub4: click.aff_sub4,
  timestamp: Math.floor(nowMs / 1000),
})

/** No-referrer, so that no advertiser sees the token; past Fastify, like all that is sent often. */
function sendOn(request: FastifyRequest, reply: FastifyReply, destination: string): void {
  const headers = [
    'Location', destination,
    'Cache-Control', 'no-store',
    'Referrer-Policy', 'no-referrer',
    'X-Request-Id', request.id,
    'Content-Length', '0',
  ] // prettier-ignore
  if (isHttps(request)) headers.push(...STAY_HTTPS)
  reply.hijack()
  reply.raw.writeHead(302, headers)
  reply.raw.end()
}

function explain(request: FastifyRequest, reply: FastifyReply, problem: LinkProblem, waitS = 60): FastifyReply {
  reply.code(STATUSES[problem])
  if (problem === 'busy' || problem === 'too_many') reply.header('Retry-After', String(waitS))
  const language = chooseLanguage(undefined, request.headers['accept-language'])
  return sendPage(reply, explanationPage(problem, language), { cacheControl: 'no-store' })
}
