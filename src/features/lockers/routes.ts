// Lockers: their pages, and the calls that these pages make. For browsers, so requests count against IP addresses, never
// against the key of the app.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { sendJson, stayHttps, successJson } from '../../http/envelope.ts'
import { addressOf, networkOf } from '../../http/gate.ts'
import { visitOf } from '../../http/forwarded.ts'
import { errorReplies, successReply } from '../../http/openapi.ts'
import { createQueryParser, createTextParser } from '../../http/query.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { Cache } from '../../lib/cache.ts'
import { stepsToUnits } from '../../lib/money.ts'
import type { AppCredential, Credentials } from '../apps/credentials.ts'
import { readSigningSecrets, signingKeyOf } from '../apps/signing-secrets.ts'
import { isSeen, type VisitorReader } from '../clicks/visitor.ts'
import type { OfferSources } from '../offers/offer-answers.ts'
import { type LiveWalls, STREAM_HEADERS } from '../wall/live.ts'
import type { WallSettingsReader } from '../wall/settings.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import { credentialOf, problemOf, refusalOf } from './admission.ts'
import { listLockerOffers, platformsElsewhere } from './locker-offers.ts'
import { findLocker, type KnownLocker } from './lockers.ts'
import { readLockerFiles, sendFailure, sendLockerPage, sendProblem } from './page.ts'
import type { LockerProblem } from './problem-texts.ts'
import { issueProof, signProof } from './proofs.ts'
import { LiveQuery, LockerParams, LockerState, NewVisit } from './schema.ts'
import { linkRoutes } from './link-routes.ts'
import { readProgress } from './unlocks.ts'
import type { LockerViews } from './views.ts'
import { createVisitorKeys, type LockerVisitor, userOf } from './visitors.ts'

/** As for walls: behind one address there may be a whole town, and pages without a stream ask four times a minute. */
const A_MINUTE = 3_000
const STREAM_MS = 3_600_000
const REMEMBERED_MS = 2_000
const REMEMBERED_LOCKERS = 1_000

export type LockerRoutesOptions = OfferSources & {
  db: Db
  secretKey: string
  publicUrl: string
  limiter: RateLimiter
  credentials: Credentials
  visitors: VisitorReader
  settingsOf: WallSettingsReader
  live: LiveWalls
  views: LockerViews
}

export function lockerRoutes(server: FastifyInstance, options: LockerRoutesOptions): void {
  const { db, secretKey, publicUrl, limiter, credentials, visitors, settingsOf, live, views, isBanned } = options
  const keys = createVisitorKeys(secretKey)
  const files = readLockerFiles()
  const visitorOf = (request: FastifyRequest) => visitors.read(visitOf(request))

  const count = async (request: FastifyRequest, key = 'locker', limit = A_MINUTE): Promise<void> => {
    request.allowance = await limiter.take(`${key}:${addressOf(request)}`, limit)
    if (request.allowance.exceeded)
      throw new AppError(
        'RATE_LIMIT_EXCEEDED',
        'Too many requests from this IP address. Wait a minute, then try again.',
      )
  }

  const findById = async (id: string) => (/^\d{1,15}$/.test(id) ? findLocker(db, { lockerId: Number(id) }) : null)

  const recent = new Cache<number, { untilMs: number; locker: Promise<KnownLocker | null> }>(REMEMBERED_LOCKERS)
  /** For streams, which all ask at the same beat. */
  function readAgain(lockerId: number): Promise<KnownLocker | null> {
    const known = recent.get(lockerId)
    if (known !== undefined && Date.now() < known.untilMs) return known.locker
    const locker = findLocker(db, { lockerId })
    recent.set(lockerId, { untilMs: Date.now() + REMEMBERED_MS, locker })
    return locker
  }

  /** The locker of a call that may be used, with the credential of its mode. */
  async function admit(locker: KnownLocker | null, isTest: boolean, despite: LockerProblem | null = null) {
    const credential = credentialOf(credentials, locker, isTest)
    const found = problemOf(locker, credential, Date.now())
    const problem = found === despite ? null : found
    if (problem !== null || locker === null || credential === undefined) throw refusalOf(problem ?? 'unknown')
    return { locker, credential }
  }

  /** A banned visitor keeps what was completed, and cannot use it. */
  function proven(credential: AppCredential, visitorId: string, key: string): LockerVisitor {
    const visitor = { appId: credential.appId, isTest: credential.isTest, visitorId }
    if (!keys.isProven(visitor, key))
      throw new AppError('INVALID_REQUEST', 'This is not the key of this visitor.', {
        key: 'Start again without a visitor.',
      })
    if (isBanned(credential, userOf(visitor).userId)) throw refusalOf('banned')
    return visitor
  }

  async function proofOf(locker: KnownLocker, visitor: LockerVisitor, unlockId: string): Promise<string | null> {
    const [secret] = (await readSigningSecrets(db, secretKey, [locker.appId])).get(signingKeyOf(locker.appId, visitor.isTest)) ?? [] // prettier-ignore
    const issued = secret === undefined ? null : await issueProof(db, unlockId)
    if (secret === undefined || issued === null) return null
    return signProof(secret, { lockerId: locker.lockerId, visitorId: visitor.visitorId, ...issued })
  }

  server.get<{ Querystring: { locker?: string; test?: string; origin?: string; lang?: string } }>(
    '/locker',
    {
      onRequest: hookOf(createTextParser(['locker', 'test', 'origin', 'lang'])),
      schema: { hide: true },
      errorHandler: sendFailure,
    },
    async (request, reply) => {
      const { locker: id = '', test, origin = '', lang } = request.query
      const isTest = test === '1'
      const language = chooseLanguage(lang, request.headers['accept-language'])
      const locker = await findById(id)
      const credential = credentialOf(credentials, locker, isTest)
      const problem = locker?.kind === 'link' ? 'unknown' : problemOf(locker, credential, Date.now())
      if (problem !== null || locker === null || credential === undefined || files === null)
        return sendProblem(reply, problem ?? 'unknown', language)
      const parent = URL.parse(origin)?.origin ?? null
      const wall = await settingsOf(locker.appId)
      if (!isTest && isSeen(request, visitorOf(request))) views.note(locker.lockerId)
      const shown = { locker, wall, language, publicUrl }
      return sendLockerPage(reply, files, shown, { isTest, parent, pass: null, needsPassword: false })
    },
  )

  server.get('/locker/v1.js', { schema: { hide: true } }, async (_request, reply) => {
    if (files === null) throw new AppError('RESOURCE_NOT_FOUND', 'The script is not built. Run "npm run build".')
    return reply
      .type('text/javascript; charset=utf-8')
      .header('Cache-Control', 'public, max-age=3600')
      .header('Access-Control-Allow-Origin', '*')
      .header('Cross-Origin-Resource-Policy', 'cross-origin')
      .send(files.embed)
  })

  server.post<{ Params: { locker_id: string }; Body: NewVisit }>(
    '/locker/v1/lockers/:locker_id/visits',
    {
      onRequest: (request) => count(request),
      schema: {
        operationId: 'visitLocker',
        summary: 'Get the progress of a visitor in a locker',
        description: 'For the page of a locker. Creates a visitor if none is sent. Unlocks if enough was completed.',
        tags: ['Lockers'],
        security: [],
        params: LockerParams,
        body: NewVisit,
        response: { 200: successReply(LockerState), ...errorReplies(400, 404, 429, 500) },
      },
    },
    async (request, reply) => {
      const { visitor: given, key: givenKey = '', pass = '', test = false, lang } = request.body
      const known = await findById(request.params.locker_id)
      const { locker, credential } = await admit(known, test)
      if (locker.kind === 'link' && !keys.isPassed(locker, pass, Date.now())) throw refusalOf('stale')
      const { visitor, key } = given === undefined ? keys.create(credential) : { visitor: given, key: givenKey }
      const self = proven(credential, visitor, key)
      const { unlock, ended, offersDone, rewardSteps, pending } = await readProgress(db, locker, self)
      const { userId } = userOf(self)
      const language = chooseLanguage(lang, request.headers['accept-language'])
      const asked = { locker, credential, userId, visitor: visitorOf(request), requestId: request.id, language }
      const state: LockerState = {
        visitor,
        key,
        is_unlocked: unlock !== null,
        ended,
        proof: unlock === null || locker.kind === 'link' ? null : await proofOf(locker, self, unlock.unlockId),
        needed_offers: locker.settings.needed_offers,
        needed_reward: locker.settings.needed_reward,
        offers_done: offersDone,
        reward_done: stepsToUnits(rewardSteps),
        pending,
        currency: credential.currency.name,
        offers: unlock === null ? await listLockerOffers(options, asked, Date.now()) : [],
        only_on: unlock === null ? platformsElsewhere(locker, asked.visitor) : null,
      }
      sendJson(request, reply, 200, successJson(request, state, 'Locker retrieved successfully'), ['Cache-Control', 'no-store']) // prettier-ignore
      return reply
    },
  )

  server.get<{ Params: { locker_id: string }; Querystring: LiveQuery }>(
    '/locker/v1/lockers/:locker_id/live',
    {
      onRequest: hookOf(createQueryParser(Object.keys(LiveQuery.properties))),
      schema: {
        operationId: 'followLocker',
        summary: 'Follow changes for a visitor',
        description: 'Server-sent events: `activity` says that a conversion of the visitor has changed.',
        tags: ['Lockers'],
        security: [],
        params: LockerParams,
        querystring: LiveQuery,
        response: {
          200: { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
          ...errorReplies(400, 404, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const { visitor, key, test } = request.query
      const { locker, credential } = await admit(await findById(request.params.locker_id), test === '1')
      const self = proven(credential, visitor, key)
      const { userId } = userOf(self)
      const isLetIn = async () => {
        const present = await readAgain(locker.lockerId)
        const now = credentialOf(credentials, present, test === '1')
        return problemOf(present, now, Date.now()) === null && now !== undefined && !isBanned(now, userId)
      }
      reply.hijack()
      reply.raw.writeHead(200, { ...STREAM_HEADERS, ...stayHttps(request), 'X-Request-Id': request.id })
      const options = { endsAtMs: Date.now() + STREAM_MS, isLetIn, network: networkOf(request) }
      if (!live.open(userOf(self), reply.raw, options)) reply.raw.end('event: busy\ndata: {}\n\n')
      return reply
    },
  )

  linkRoutes(server, { db, publicUrl, keys, files, settingsOf, views, visitorOf, count, admit, proven, credentials })

  function hookOf(parse: (text: string) => object) {
    return async (request: FastifyRequest) => {
      request.query = parse(request.query as string)
      await count(request)
    }
  }
}
