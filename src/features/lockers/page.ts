// The page of a locker: in a frame of the publisher's page, or as the page of a link. One answer with style and script; the
// offers come with the visitor. Neither the target of a link nor anything it protects is ever in it.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { sendPage } from '../../http/pages.ts'
import { asciiJson } from '../../lib/ascii-json.ts'
import { escapeHtml } from '../../lib/escape-html.ts'
import { projectPath } from '../../lib/project.ts'
import { numberStyleOf } from '../wall/texts/numbers.ts'
import { chooseLanguage, directionOf, type Language } from '../../lib/languages.ts'
import type { WallSettingsReader } from '../wall/settings.ts'
import { themeOf } from '../wall/theme.ts'
import { PROBLEM_STATUS } from './admission.ts'
import { lookOf } from './look.ts'
import type { KnownLocker } from './lockers.ts'
import { type LockerProblem, PROBLEM_TEXTS } from './problem-texts.ts'
import type { LockerBoot } from './schema.ts'
import { TEXTS } from './texts.ts'

type WallSettings = Awaited<ReturnType<WallSettingsReader>>

type Shown = { locker: KnownLocker; wall: WallSettings; language: Language; publicUrl: string }
type Visit = Pick<LockerBoot, 'isTest' | 'parent' | 'pass' | 'needsPassword'>

export type LockerFiles = { page: string; style: string; embed: string }

/** Null when they were not built. */
export function readLockerFiles(): LockerFiles | null {
  const [page, style, embed] = ['locker.js', 'locker.css', 'locker-embed.js'].map((name) => projectPath(`web/dist/client/${name}`)) as [string, string, string] // prettier-ignore
  if (![page, style, embed].every((file) => existsSync(file))) return null
  const read = (file: string) => readFileSync(file, 'utf8')
  return { page: read(page).replaceAll('</script', '<\\/script'), style: read(style), embed: read(embed) }
}

/** `visit` is null for bots, which see the preview only. */
export function sendLockerPage(
  reply: FastifyReply,
  files: LockerFiles,
  shown: Shown,
  visit: Visit | null,
): FastifyReply {
  const { locker, wall, language, publicUrl } = shown
  const { settings, lockerId, appId, slug } = locker
  const look = lookOf(wall, settings.look)
  const nonce = randomBytes(16).toString('base64')
  const texts = TEXTS[language]
  const title = settings.title || (locker.kind === 'link' ? texts.link_title : texts.content_title)
  const boot: LockerBoot | null = visit && {
    lockerId,
    appId,
    slug,
    ...visit,
    title,
    text: settings.text,
    image: settings.image,
    consent: settings.consent,
    language,
    numbers: numberStyleOf(language),
    texts,
    problems: PROBLEM_TEXTS[language],
  }
  const script = boot === null ? '' : `<script type="application/json" id="boot">${asciiJson(boot).replaceAll('<', '\\u003c')}</script>
<script nonce="${nonce}">${files.page}</script>` // prettier-ignore
  const html = `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}" data-theme="${look.theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${previewOf(locker, title, publicUrl)}<style nonce="${nonce}">${themeOf(look)}${files.style}</style>
</head>
<body>
<div id="locker"><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(settings.text)}</p></main></div>
${script}
</body>
</html>
`
  const ancestors =
    locker.kind === 'link' ? "'none'" : wall.parents.length === 0 ? '*' : `'self' ${wall.parents.join(' ')}`
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src 'self' data: https:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`
  return sendPage(reply, html, { policy, cacheControl: 'no-store' })
}

/** The card that other apps show of a link. */
function previewOf({ settings, slug }: KnownLocker, title: string, publicUrl: string): string {
  const { link, text, image } = settings
  if (link === null) return ''
  const picture = link.og_image ?? image
  const tags = {
    'og:type': 'website',
    'og:url': `${publicUrl}/l/${slug}`,
    'og:title': link.og_title || title,
    'og:description': link.og_text || text,
    'og:image': picture?.startsWith('/') === true ? publicUrl + picture : (picture ?? ''),
  }
  return Object.entries(tags)
    .filter(([, content]) => content !== '')
    .map(([name, content]) => `<meta property="${name}" content="${escapeHtml(content)}">\n`)
    .join('')
}

const RETRY_S = 60
const PROBLEM_POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"

export function sendProblem(
  reply: FastifyReply,
  problem: LockerProblem,
  language: Language,
  status = PROBLEM_STATUS[problem],
): FastifyReply {
  const { title, text } = PROBLEM_TEXTS[language][problem]
  const html = `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/c/page.css">
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`
  return sendPage(reply.code(status), html, { policy: PROBLEM_POLICY, cacheControl: 'no-store' })
}

/** A visitor is a person: errors are shown on a page, too. */
export function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const isFlood = error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED'
  if (error instanceof AppError && !isFlood) throw error
  if (!isFlood) request.log.error({ err: error, request_id: request.id }, 'the page of a locker failed')
  const { lang } = request.query as { lang?: string }
  const language = chooseLanguage(lang, request.headers['accept-language'])
  reply.header('Retry-After', RETRY_S)
  if (isFlood) sendProblem(reply, 'busy', language, 429)
  else sendProblem(reply, 'busy', language)
}
