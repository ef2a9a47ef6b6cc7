// The dashboard's pages: one HTML page with client-side routing, and its files. They are built from web/dashboard by
// "npm run build", which the install runs.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { acceptsGzip } from './compression.ts'
import { createNonce } from '../lib/nonce.ts'
import { projectPath } from '../lib/project.ts'
import { sendPage } from './pages.ts'

const FOLDER = projectPath('web/dist')
const NONCE = '__NONCE__'
const SESSION_COOKIE = 'offerdeck.session_token='
const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

const OPEN_PAGES = ['sign-in', 'sign-up', 'join', 'forgot-password', 'reset-password', 'verify-email']
const OWN_PAGES = ['account', 'apps', 'publishers', 'advertisers', 'network'] // of the person who is signed in
/** The paths of its pages; below these, every path is a page. */
export const PAGES = [...OPEN_PAGES, ...OWN_PAGES]

/** Who is there is the first thing such a page asks for: the browser begins with it before it has read the script. */
const ASKED_FIRST = '</manage/v1/me>; rel=preload; as=fetch; crossorigin'

const policy = (nonce: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: https:; ` +
  "font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const DEMO_SITE = { method: 'GET', url: '/demo' } as const

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Offerdeck</title></head>
<body>
<h1>Offerdeck is running, but its dashboard is not built</h1>
<p>Run <code>npm run build</code> where it is installed, then start it again. The API works: it is described at <a href="/docs">/docs</a>.</p>
</body>
</html>
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" rx="11" fill="#1b5fd1"/><rect x="15" y="9" width="21" height="27" rx="4" fill="#fff" opacity=".45"/><rect x="11" y="13" width="21" height="27" rx="4" fill="#fff"/><path d="m16 27 4 4 7-8" fill="none" stroke="#1b5fd1" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>
`

export function dashboardRoutes(server: FastifyInstance, readLogo: () => Promise<string | null>): void {
  const page = readPage(FOLDER)
  const hidden = { schema: { hide: true } }
  const addPage = (path: string, isOwn: boolean) =>
    server.get(path, hidden, async (request, reply) => {
      if (page === null) return sendPage(reply.code(503), NOT_BUILT)
      const nonce = createNonce()
      if (isOwn && request.headers.cookie?.includes(SESSION_COOKIE)) reply.header('Link', ASKED_FIRST)
      const themed = withTheme(page, request.headers.cookie)
      const html = withLogo(server.hasRoute(DEMO_SITE) ? withDemo(themed) : themed, await readLogo())
      return sendPage(reply, html.replaceAll(NONCE, nonce), {
        policy: policy(nonce),
        cacheControl: 'no-store',
      })
    })
  addPage('/', true)
  for (const name of PAGES) for (const path of [`/${name}`, `/${name}/*`]) addPage(path, OWN_PAGES.includes(name))

  const files = readFiles(join(FOLDER, 'assets'))
  server.get<{ Params: { name: string } }>('/assets/:name', hidden, async (request, reply) => {
    const file = files.get(request.params.name)
    if (file === undefined) return reply.code(404).type('text/plain').send('There is no such file.\n')
    reply
      .type(file.type)
      .header('Cache-Control', 'public, max-age=31536000, immutable')
      .header('Vary', 'Accept-Encoding')
    if (!acceptsGzip(request.headers)) return reply.send(file.content)
    file.packed ??= gzipSync(file.content)
    return reply.header('Content-Encoding', 'gzip').send(file.packed)
  })
  const fixed = (path: string, type: string, content: string) =>
    server.get(path, hidden, async (_request, reply) =>
      reply.type(type).header('Cache-Control', 'public, max-age=3600').send(content),
    )
  fixed('/icon.svg', 'image/svg+xml', ICON)
  fixed('/robots.txt', 'text/plain; charset=utf-8', 'User-agent: *\nDisallow: /\n')
}

/** In the theme that was chosen in this browser (web/dashboard/src/lib/color-scheme.ts) from the first paint. */
function withTheme(page: string, cookies = ''): string {
  const [, theme] = /(?:^|; *)offerdeck\.theme=(light|dark)(?:;|$)/.exec(cookies) ?? []
  if (theme === undefined) return page
  return page
    .replace('<html lang="en"', `$& data-mantine-color-scheme="${theme}"`)
    .replace('name="color-scheme" content="light dark"', `name="color-scheme" content="${theme}"`)
}

/** The sign-in page then links to the demo's site (web/dashboard/src/lib/demo.ts). */
const withDemo = (page: string) => page.replace('<title>', '<meta name="offerdeck-demo" content="/demo">$&')

/** As the icon of the page, where the dashboard looks for it (web/dashboard/src/lib/logo.ts). */
const withLogo = (page: string, logo: string | null) =>
  logo === null ? page : page.replace('rel="icon" href="/icon.svg"', `rel="icon" href="${logo}"`)

function readPage(folder: string): string | null {
  const file = join(folder, 'index.html')
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** Compressed on first request. */
type StaticFile = { type: string; content: Buffer; packed?: Buffer }

/** Their names change with their content, so they are read once and may be kept for ever. */
function readFiles(folder: string): Map<string, StaticFile> {
  if (!existsSync(folder)) return new Map()
  return new Map(
    readdirSync(folder).map((name) => {
      const content = readFileSync(join(folder, name))
      const type = TYPES[extname(name)] ?? 'application/octet-stream'
      return [name, { type, content }]
    }),
  )
}
