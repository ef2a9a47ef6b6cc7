// Link lockers: the page of a link, its password, its opening, and reports of abuse.
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { sendJson, successJson } from '../../http/envelope.ts'
import { networkOf } from '../../http/gate.ts'
import { errorReplies, pageReply, successReply } from '../../http/openapi.ts'
import { createTextParser } from '../../http/query.ts'
import type { AppCredential, Credentials } from '../apps/credentials.ts'
import { isSeen, type Visitor } from '../clicks/visitor.ts'
import type { WallSettingsReader } from '../wall/settings.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import { credentialOf, mayComeFrom, problemOf, refusalOf } from './admission.ts'
import { findLocker, type KnownLocker } from './lockers.ts'
import { type LockerFiles, sendFailure, sendLockerPage, sendProblem } from './page.ts'
import { enterPassword } from './passwords.ts'
import type { LockerProblem } from './problem-texts.ts'
import { reportLocker } from './reports.ts'
import { OpenBody, OpenReply, PassReply, PasswordBody, ReportBody, ReportReply, SlugParams } from './schema.ts'
import { targetProblem } from './targets.ts'
import { openLink, readProgress } from './unlocks.ts'
import type { LockerViews } from './views.ts'
import type { LockerVisitor, VisitorKeys } from './visitors.ts'

const PASSWORDS_A_MINUTE = 10
const REPORTS_A_MINUTE = 5
const DAY_MS = 86_400_000

type LinkOptions = {
  db: Db
  publicUrl: string
  keys: VisitorKeys
  files: LockerFiles | null
  settingsOf: WallSettingsReader
  views: LockerViews
  credentials: Credentials
  visitorOf: (request: FastifyRequest) => Visitor
  count: (request: FastifyRequest, key?: string, limit?: number) => Promise<void>
  admit: (
    locker: KnownLocker | null,
    isTest: boolean,
    despite?: LockerProblem,
  ) => Promise<{ locker: KnownLocker; credential: AppCredential }>
  proven: (credential: AppCredential, visitorId: string, key: string) => LockerVisitor
}

export function linkRoutes(server: FastifyInstance, options: LinkOptions): void {
  const { db, publicUrl, keys, files, settingsOf, views, credentials, visitorOf, count, admit, proven } = options
  const parse = createTextParser(['lang'])
  const find = async (slug: string) =>
    /^[a-z0-9-]+$/i.test(slug) ? findLocker(db, { slug: slug.toLowerCase() }) : null

  server.get<{ Params: { slug: string }; Querystring: { lang?: string } }>(
    '/l/:slug',
    {
      async onRequest(request) {
        Object.assign(request, { query: parse(request.query as unknown as string) })
        await count(request)
      },
      schema: {
        operationId: 'showLink',
        summary: 'Show the page of a link locker',
        description: 'For visitors. The page does not contain the target URL.',
        tags: ['Lockers'],
        security: [],
        params: SlugParams,
        response: {
          200: pageReply('The page.'),
          403: pageReply('The visitor comes from a page that is not allowed: a page says so.'),
          404: pageReply('Unknown link.'),
          410: pageReply('The link has expired or is disabled: a page says why.'),
          429: pageReply('Too many requests: a page says so.'),
        },
      },
      errorHandler: sendFailure,
    },
    async (request, reply) => {
      const language = chooseLanguage(request.query.lang, request.headers['accept-language'])
      const locker = await find(request.params.slug)
      const credential = credentialOf(credentials, locker, false)
      const problem = problemOf(locker, credential, Date.now())
      if (problem !== null || locker === null || credential === undefined || files === null)
        return sendProblem(reply, problem ?? 'unknown', language)
      const visitor = visitorOf(request)
      const isBot = visitor.signals.includes('bot')
      if (!isBot && !mayComeFrom(locker, request.headers.referer, publicUrl))
        return sendProblem(reply, 'referrer', language)
      if (isSeen(request, visitor)) views.note(locker.lockerId)
      const wall = await settingsOf(locker.appId)
      const shown = { locker, wall, language, publicUrl }
      const needsPassword = locker.passwordHash !== null
      // With a password, it only says from where the visitor came, and is exchanged for one that knows the password.
      const pass = keys.pass({ ...locker, passwordHash: null }, Date.now())
      return sendLockerPage(reply, files, shown, isBot ? null : { isTest: false, parent: null, pass, needsPassword })
    },
  )

  server.post<{ Params: { slug: string }; Body: PasswordBody }>(
    '/l/:slug/password',
    {
      onRequest: (request) => count(request, 'locker-password', PASSWORDS_A_MINUTE),
      schema: describe('enterLinkPassword', 'Enter the password of a link', {
        body: PasswordBody,
        response: { 200: successReply(PassReply), ...errorReplies(400, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { locker } = await admit(await find(request.params.slug), false)
      const { password, pass } = request.body
      if (!keys.isPassed({ ...locker, passwordHash: null }, pass, Date.now())) throw refusalOf('stale')
      const result = await enterPassword(db, locker, networkOf(request), password)
      if (result === 'too_many') throw tooManyPasswords(request)
      if (result === 'wrong') throw new AppError('INVALID_REQUEST', 'Wrong password.', { password: 'Wrong password.' })
      const data = { pass: keys.pass(locker, Date.now()) }
      sendJson(request, reply, 200, successJson(request, data, 'Password accepted'), ['Cache-Control', 'no-store'])
      return reply
    },
  )

  server.post<{ Params: { slug: string }; Body: OpenBody }>(
    '/l/:slug/open',
    {
      onRequest: (request) => count(request),
      schema: describe('openLink', 'Open a link that is unlocked', {
        body: OpenBody,
        response: { 200: successReply(OpenReply), ...errorReplies(400, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const { visitor: visitorId, key, pass } = request.body
      // Whether it is used up, opening decides: the last one may do it again.
      const { locker, credential } = await admit(await find(request.params.slug), false, 'full')
      if (!keys.isPassed(locker, pass, Date.now())) throw refusalOf('stale')
      const visitor = proven(credential, visitorId, key)
      const { unlock } = await readProgress(db, locker, visitor)
      const target = locker.settings.link?.target_url ?? ''
      if (targetProblem(target, publicUrl) !== null) throw refusalOf('disabled')
      const opened = unlock === null ? 'locked' : await openLink(db, locker, unlock.unlockId)
      if (opened === 'full') throw refusalOf('full')
      if (opened === 'locked') await admit(locker, false)
      if (opened === 'locked')
        throw new AppError('INVALID_REQUEST', 'This link is locked. Complete an offer first.', { locker: 'locked' })
      const data = { target_url: target }
      sendJson(request, reply, 200, successJson(request, data, 'Link opened'), ['Cache-Control', 'no-store'])
      return reply
    },
  )

  server.post<{ Params: { slug: string }; Body: ReportBody }>(
    '/l/:slug/report',
    {
      onRequest: (request) => count(request, 'locker-report', REPORTS_A_MINUTE),
      schema: describe('reportLink', 'Report abuse of a link to the operator', {
        body: ReportBody,
        response: { 200: successReply(ReportReply), ...errorReplies(400, 404, 429, 500) },
      }),
    },
    async (request, reply) => {
      const locker = await find(request.params.slug)
      if (locker === null) throw refusalOf('unknown')
      await reportLocker(db, locker, request.body)
      sendJson(request, reply, 200, successJson(request, { reported: true }, 'Report received'))
      return reply
    },
  )
}

/** Also says when to come back. */
function tooManyPasswords(request: FastifyRequest): AppError {
  const resetAtMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS
  request.allowance = { limit: 0, remaining: 0, resetAtMs, exceeded: true }
  return new AppError('RATE_LIMIT_EXCEEDED', 'Too many wrong passwords from your network today. Try again tomorrow.')
}

const describe = (operationId: string, summary: string, more: FastifySchema) => ({
  operationId,
  summary,
  description: 'For the page of a link.',
  tags: ['Lockers'],
  security: [],
  params: SlugParams,
  ...more,
})
