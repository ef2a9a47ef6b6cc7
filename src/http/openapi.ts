// The OpenAPI description, made from the schemas of the routes, and the page that shows it.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { type ErrorCode, ERRORS, MANAGE_ERRORS } from '../errors.ts'
import { sendPage } from './pages.ts'

const Meta = Type.Object({
  timestamp: Type.Integer({ description: 'Unix seconds.' }),
  request_id: Type.String({ description: 'Also in X-Request-Id. Name it when you ask for help.' }),
})

export const successReply = (data: TSchema) =>
  Type.Object({ success: Type.Boolean(), data, message: Type.String(), meta: Meta }, { description: 'Success.' })

type Codes = Partial<Record<ErrorCode, number>>

/** The error envelope for each of these statuses, with those of `codes` that travel with it. */
const repliesOf =
  (codes: Codes) =>
  (...statuses: number[]): Record<number, TSchema> =>
    Object.fromEntries(
      statuses.map((status) => {
        const possible = (Object.keys(codes) as ErrorCode[]).filter((code) => codes[code] === status)
        const error = Type.Object({
          code: Type.Unsafe<ErrorCode>({ type: 'string', enum: possible }),
          message: Type.String(),
          details: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
            description: 'What is wrong, by parameter.',
          }),
        })
        return [
          status,
          Type.Object({ success: Type.Boolean(), error, meta: Meta }, { description: possible.join(' or ') }),
        ]
      }),
    )

export const errorReplies = repliesOf(ERRORS)

const { INVALID_API_KEY: _key, INVALID_API_SECRET: _secret, ...MANAGE_CODES } = MANAGE_ERRORS
export const manageErrorReplies = repliesOf(MANAGE_CODES)

/** Must come before the routes that it is to describe. */
export async function describeApi(server: FastifyInstance, publicUrl: string): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Offerdeck API',
        version: 'v1',
        description:
          'Offers for your users, over one API. Send the API key and secret of your app with every request, from your servers only: ' +
          'as headers, or as the query parameters `apiKey` and `apiSecret`. Every path also answers without the leading `/api`.',
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Public: pk_live_… or pk_test_….' },
          apiSecret: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Secret',
            description: 'Private: sk_live_… or sk_test_…. For servers only.',
          },
          apiKeyInQuery: { type: 'apiKey', in: 'query', name: 'apiKey' },
          apiSecretInQuery: { type: 'apiKey', in: 'query', name: 'apiSecret' },
          bearer: { type: 'http', scheme: 'bearer', description: 'A token of the management API: mt_….' },
          session: { type: 'apiKey', in: 'cookie', name: 'offerdeck.session_token', description: 'Set by signing in.' },
        },
      },
      security: [
        { apiKey: [], apiSecret: [] },
        { apiKeyInQuery: [], apiSecretInQuery: [] },
      ],
    },
  })
  server.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.header('Cache-Control', 'no-cache').send(server.swagger()),
  )
}

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
// The dashboard hands an app's API key over behind the #, which no server sees. It is taken out of the address, and kept
// for this tab. The secret is never handed over: whoever tries the API types it.
const START = `const [, handed] = /^#api-key=(pk_(?:live|test)_[A-Za-z0-9_]{1,100})$/.exec(location.hash) ?? []
if (handed !== undefined) {
  sessionStorage.setItem('api-key', handed)
  history.replaceState(null, '', location.pathname)
}
const value = sessionStorage.getItem('api-key')
Scalar.createApiReference('#reference', {
  url: '/openapi.json', withDefaultFonts: false, telemetry: false, agent: { disabled: true }, mcp: { disabled: true }, showDeveloperTools: 'never', hideClientButton: true,
  documentDownloadType: 'json', defaultOpenAllTags: true,
  ...(value === null ? {} : { authentication: { securitySchemes: { apiKey: { value }, apiKeyInQuery: { value } } } }),
})
`
// The reference styles itself with inline styles; scripts and requests stay with this server.
const REFERENCE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

export function referenceRoutes(server: FastifyInstance): void {
  let bundle: Promise<Bundle> | null = null
  server.get('/docs', { schema: { hide: true } }, async (_request, reply) =>
    sendPage(reply, REFERENCE_PAGE, { policy: REFERENCE_POLICY }),
  )
  server.get('/docs/start.js', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/javascript').send(START),
  )
  server.get('/docs/reference.js', { schema: { hide: true } }, async (request, reply) => {
    bundle ??= loadBundle().catch((error: unknown) => {
      bundle = null // the next visit tries again
      throw error
    })
    const { script, packed } = await bundle
    reply.type('text/javascript').header('Cache-Control', 'public, max-age=3600').header('Vary', 'Accept-Encoding')
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(script)
    return reply.header('Content-Encoding', 'gzip').send(packed)
  })
}

type Bundle = { script: string; packed: Buffer }

/** The page's script is a string of 4 MB inside a plugin: taken out and packed at the first visit, not at every start. */
async function loadBundle(): Promise<Bundle> {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  const carrier = Fastify()
  await carrier.register(reference, {
    routePrefix: '/',
    configuration: { content: { openapi: '3.1.1', info: { title: '', version: '' }, paths: {} } },
  })
  const { body } = await carrier.inject('/js/scalar.js')
  await carrier.close()
  return { script: body, packed: await promisify(gzip)(body) }
}
