// GET /wall: the page, or one that says what is wrong with how it was opened.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, MANAGE_ERRORS } from '../../errors.ts'
import { acceptsGzip } from '../../http/compression.ts'
import { isHttps, STAY_HTTPS } from '../../http/envelope.ts'
import { pageReply } from '../../http/openapi.ts'
import { PERMISSIONS, sendPage } from '../../http/pages.ts'
import { escapeHtml } from '../../lib/escape-html.ts'
import { goOn } from '../../lib/go-on.ts'
import { joinGzip, joinPlain } from '../../lib/gzip-parts.ts'
import { createNonce } from '../../lib/nonce.ts'
import type { AppCredential } from '../apps/credentials.ts'
import { isSeen, type Visitor } from '../clicks/visitor.ts'
import type { Catalogue } from '../offers/catalogue.ts'
import type { Platform } from '../offers/choices.ts'
import type { Completions } from '../offers/completions.ts'
import type { OfferAnswers } from '../offers/offer-answers.ts'
import { asVisitor } from './as-visitor.ts'
import type { WallCounts } from './funnel.ts'
import { createWallPages, type WrittenPage } from './page.ts'
import { type PageViewer, WallPageQuery } from './schema.ts'
import { chooseLanguage, directionOf } from '../../lib/languages.ts'
import { TEXTS } from './texts/texts.ts'
import { EXPIRED, UNSIGNED, type Viewer, type Viewers } from './viewers.ts'

const FIRST_OFFERS = 20
/** What the script sends along with each request of its own. */
const KEPT = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'country', 'platform', 'category', 'sort', 'embed', 'exp', 'sig'] as const // prettier-ignore

type PageRequest = FastifyRequest<{ Querystring: WallPageQuery }>
type Wanted = { country?: string; platform?: Platform }

type Options = {
  catalogue: Catalogue
  completions: Completions
  viewers: Viewers
  visitorOf: (request: FastifyRequest) => Visitor
  answers: OfferAnswers
  isBanned: (credential: AppCredential, userId: string) => boolean
  hasMail: boolean
  counts: WallCounts
}

export function pageRoute(server: FastifyInstance, options: Options): void {
  const { viewers, visitorOf, answers, isBanned, catalogue, completions, hasMail, counts } = options
  const pages = createWallPages()
  const onRequest = viewers.createHook(Object.keys(WallPageQuery.properties))

  server.get<{ Querystring: WallPageQuery }>(
    '/wall',
    {
      onRequest,
      schema: {
        operationId: 'showWall',
        summary: 'Show the wall of an app',
        description: 'For an iframe, a web view or a tab: a page with the offers for this user.',
        tags: ['Wall'],
        security: [],
        querystring: WallPageQuery,
        response: {
          200: pageReply('The wall.'),
          400: pageReply('The parameters or the signature are invalid: a page says why.'),
          401: pageReply('Unknown wall: a page says so.'),
          404: pageReply('The app has no wall: a page says so.'),
          429: pageReply('Too many requests.'),
        },
      },
      errorHandler(error, request, reply) {
        if (!(error instanceof AppError)) request.log.error({ err: error, request_id: request.id }, 'a wall failed')
        explain(request, reply, error instanceof AppError ? error : FAILED)
      },
    },
    (request, reply) => goOn(viewers.identify(request, request.query), (viewer) => show(request, reply, viewer)),
  )

  function show(request: PageRequest, reply: FastifyReply, viewer: Viewer): FastifyReply | Promise<FastifyReply> {
    const { credential, userId, isSigned, settings } = viewer
    const { query } = request
    const language = chooseLanguage(query.lang, request.headers['accept-language'])
    const visitor = visitorOf(request)
    const asked = { ...query, limit: FIRST_OFFERS, offset: 0, isUnproven: !isSigned, language }
    const wanted = asVisitor(asked, visitor)
    return goOn(answers.embed(request, credential, wanted), ({ page, token }) =>
      goOn(welcomeOffer(credential, userId, wanted), (welcomeOfferId) => {
        const look = { settings, language, theme: query.theme ?? settings.theme }
        const written = pages.write(look, credential, page, {
          apiKey: credential.apiKey,
          userId,
          query: keptOf(query),
          token,
          isSigned,
          isTest: credential.isTest,
          asksEmail: hasMail,
          country: wanted.country ?? null,
          welcomeOfferId,
        })
        if (written === null) return explain(request, reply, NOT_BUILT)
        if (!credential.isTest && isSeen(request, visitor)) counts.note(credential.appId, 'views')
        send(request, reply, written, settings.parents)
        return reply
      }),
    )
  }

  function welcomeOffer(
    credential: AppCredential,
    userId: string,
    wanted: Wanted,
  ): number | null | Promise<number | null> {
    const { appId, isTest, welcomeOfferId: offerId, rules } = credential
    if (offerId === null || isBanned(credential, userId)) return null
    return goOn(completions.hasConverted({ appId, isTest, userId }), (hasConverted) => {
      if (hasConverted) return null
      const platforms = wanted.platform === undefined ? null : [wanted.platform, 'web' as const]
      const visit = { country: wanted.country ?? null, platforms, rules }
      return catalogue.hiddenReasons(offerId, visit, Date.now())?.length === 0 ? offerId : null
    })
  }
}

function keptOf(query: WallPageQuery): PageViewer['query'] {
  const kept: Record<string, string> = {}
  for (const name of KEPT) if (query[name] !== undefined) kept[name] = query[name]
  return kept
}

/** Past Fastify, like all that is sent often. */
function send(request: FastifyRequest, reply: FastifyReply, { parts, nonce }: WrittenPage, parents: string[]): void {
  const isPacked = acceptsGzip(request.headers)
  const body = isPacked ? joinGzip(parts) : joinPlain(parts)
  const headers = [
    'Content-Type', 'text/html; charset=utf-8',
    'Content-Length', String(body.length),
    'Content-Security-Policy', policy(nonce, parents),
    'Permissions-Policy', PERMISSIONS,
    'Cache-Control', 'no-store',
    'Referrer-Policy', 'no-referrer',
    'X-Content-Type-Options', 'nosniff',
    'X-Request-Id', request.id,
    'Vary', 'Accept-Encoding',
  ] // prettier-ignore
  if (isPacked) headers.push('Content-Encoding', 'gzip')
  if (isHttps(request)) headers.push(...STAY_HTTPS)
  reply.hijack()
  reply.raw.writeHead(200, headers)
  if (request.method === 'HEAD') reply.raw.end()
  else reply.raw.end(body, 'latin1')
}

const policy = (nonce: string, parents: readonly string[]) =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data: https:; ` +
  `connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${parents.length === 0 ? '*' : `'self' ${parents.join(' ')}`}` // the dashboard shows a preview

const NOT_BUILT = new AppError(
  'SERVER_ERROR',
  'The wall is not built. Run "npm run build", then start the server again.',
)
const FAILED = new AppError('SERVER_ERROR', 'Something went wrong on our side. Try again shortly.')

/** As the SDK's types list them (web/sdk/v1.d.ts). */
function codeOf({ code, message, details }: AppError): string {
  if (message === EXPIRED) return 'expired'
  if (message === UNSIGNED) return 'signature_required'
  return details?.['exp'] === undefined && details?.['sig'] === undefined ? code.toLowerCase() : 'invalid_signature'
}

/**
 * What users meet is said to them in their language; all else is for the developer who embeds the wall, and whose page
 * hears of it as it does from a wall (web/wall/parent.ts). Anyone may frame it.
 */
function explain(request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply {
  const { lang } = request.query as { lang?: string }
  const language = chooseLanguage(lang, request.headers['accept-language'])
  const { expired, expired_text, failed, later_text } = TEXTS[language]
  const isPassing = error.code === 'RATE_LIMIT_EXCEEDED' || error === FAILED
  const said = error.message === EXPIRED ? { title: expired, text: expired_text } : isPassing ? { title: failed, text: later_text } : null // prettier-ignore
  const { title, text } = said ?? { title: 'The wall cannot be shown', text: error.message }
  const details = Object.entries(error.details ?? {}).filter(([, one]) => one !== error.message)
  const items = details.map(([name, one]) => `<li><code>${escapeHtml(name)}</code>: ${escapeHtml(one)}</li>`).join('')
  const hint = said === null ? 'see the documentation of the wall for its parameters.' : error.message
  const nonce = createNonce()
  const heard = JSON.stringify({
    source: 'offerdeck-wall',
    version: 1,
    event: 'error',
    detail: { code: codeOf(error) },
    is_page: true,
  })
  const html = `<!doctype html>
<html lang="${said === null ? 'en' : language}" dir="${said === null ? 'ltr' : directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/c/page.css">
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${items === '' ? '' : `<ul>${items}</ul>\n`}<p lang="en" dir="ltr"><small>Developers: ${escapeHtml(hint)}</small></p>
</main>
<script nonce="${nonce}">if (parent !== window) parent.postMessage(${heard}, '*')</script>
</body>
</html>
`
  const policy = `${ERROR_POLICY}; script-src 'nonce-${nonce}'`
  return sendPage(reply.code(MANAGE_ERRORS[error.code]), html, { policy, cacheControl: 'no-store' })
}

const ERROR_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"
