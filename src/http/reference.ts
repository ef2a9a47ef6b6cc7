// The reference: a page for publishers and one for the management API, each with its part of the OpenAPI description.
import Fastify, { type FastifyInstance } from 'fastify'
import type { Description } from './components.ts'
import { sendPage } from './pages.ts'
import { PreparedAnswer } from './prepared.ts'

const REFERENCE_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Offerdeck API reference</title>
<link rel="icon" href="/icon.svg">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The same description is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/reference.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
// The dashboard passes an app's API key behind the #, which no server sees. It is removed from the URL, and kept for
// this tab. The secret is never passed: the person who tests the API types it.
const START = `const [, handed] = /^#api-key=(pk_(?:live|test)_[A-Za-z0-9_]{1,100})$/.exec(location.hash) ?? []
if (handed !== undefined) {
  sessionStorage.setItem('api-key', handed)
  history.replaceState(null, '', location.pathname)
}
const value = sessionStorage.getItem('api-key')
const isManage = location.pathname === '/docs/manage'
Scalar.createApiReference('#reference', {
  url: isManage ? '/docs/manage.json' : '/docs/v1.json', withDefaultFonts: false, telemetry: false, agent: { disabled: true }, mcp: { disabled: true }, showDeveloperTools: 'never', hideClientButton: true,
  documentDownloadType: 'json', defaultOpenAllTags: !isManage,
  ...(value === null ? {} : { authentication: { securitySchemes: { apiKey: { value }, apiKeyInQuery: { value } } } }),
})
`
// The reference styles itself with inline styles; scripts and requests stay with this server.
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const PARTS = {
  v1: {
    title: 'Offerdeck API',
    more: 'The [management API](/docs/manage), which the dashboard uses, has its own reference.',
    has: (path: string) => !path.startsWith('/manage/'),
    security: null,
  },
  manage: {
    title: 'Offerdeck management API',
    more: 'Everything the dashboard does, for programs. Authenticate with an API token, which you create on your account page. The [API for publishers](/docs) has its own reference.',
    has: (path: string) => path.startsWith('/manage/'),
    security: [{ bearer: [] }, { session: [] }],
  },
}

/** The content of one page. All of it at once is too much for a browser, and for a reader. */
function partOf(whole: Description, part: keyof typeof PARTS): Description {
  const { title, more, has, security: own } = PARTS[part]
  const security = own ?? whole.security
  const { description } = whole.info
  const paths = only(whole.paths, has)
  const tags = new Set(Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((one) => one.tags)))
  const schemes = security.flatMap((each) => Object.keys(each))
  return {
    ...whole,
    security,
    info: { ...whole.info, title, description: part === 'v1' ? `${description}\n\n${more}` : more },
    tags: whole.tags.filter(({ name }) => tags.has(name)),
    paths,
    components: {
      ...componentsOf(whole, paths),
      securitySchemes: only(whole.components['securitySchemes'] ?? {}, (name) => schemes.includes(name)),
    },
  }
}

const only = <T>(all: Record<string, T>, isIn: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => isIn(name)))

/** The components that these paths refer to, and those that these refer to. */
function componentsOf({ components }: Description, paths: object): Description['components'] {
  const used = new Set<string>()
  const follow = (part: object | undefined) => {
    for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      if (used.has(`${kind}/${name}`)) continue
      used.add(`${kind}/${name}`)
      follow(components[kind]?.[name])
    }
  }
  follow(paths)
  const kinds = Object.entries(components).map(([kind, all]) => [
    kind,
    only(all, (name) => used.has(`${kind}/${name}`)),
  ])
  return Object.fromEntries(kinds) as Description['components']
}

export function referenceRoutes(server: FastifyInstance): void {
  const hidden = { schema: { hide: true } }
  for (const path of ['/docs', '/docs/manage'])
    server.get(path, hidden, async (_request, reply) => sendPage(reply, REFERENCE_PAGE, { policy: REFERENCE_POLICY }))
  for (const part of ['v1', 'manage'] as const) {
    const answer = new PreparedAnswer('application/json; charset=utf-8', 'no-cache', () =>
      JSON.stringify(partOf(server.describe(), part)),
    )
    server.get(`/docs/${part}.json`, hidden, async (request, reply) => answer.send(request, reply))
  }
  server.get('/docs/start.js', hidden, async (_request, reply) => reply.type('text/javascript').send(START))
  const script = new PreparedAnswer('text/javascript; charset=utf-8', 'public, max-age=3600', readScript)
  server.get('/docs/reference.js', hidden, async (request, reply) => script.send(request, reply))
}

/** The page's script is a string of 4 MB inside a plugin: taken out at the first visit, not at every start. */
async function readScript(): Promise<string> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const carrier = Fastify()
  await carrier.register(reference, {
    routePrefix: '/',
    configuration: { content: { openapi: '3.1.1', info: { title: '', version: '' }, paths: {} } },
  })
  const { body } = await carrier.inject('/js/scalar.js')
  await carrier.close()
  return body
}
