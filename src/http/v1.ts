// What all of v1 has in common: both ways to write its path, the gate in front, the envelope around what is not there.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sendError } from './envelope.ts'
import type { Credential, Gate } from './gate.ts'
import { sendPage } from './pages.ts'

export const V1_PREFIXES = ['/api/v1', '/v1'] as const

export async function mountV1<C extends Credential>(
  server: FastifyInstance,
  gate: Gate<C>,
  mount: (v1: FastifyInstance) => void,
): Promise<void> {
  const routes: { method: string; pattern: RegExp }[] = []
  server.addHook('onRoute', ({ method, url }) => {
    const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)))
    for (const one of [method].flat()) routes.push({ method: one, pattern: new RegExp(`^${parts.join('/')}$`) })
  })
  for (const prefix of V1_PREFIXES) {
    await server.register(
      async (v1) => {
        v1.addHook('onRoute', (route) => {
          const { properties = {} } = (route.schema?.querystring ?? {}) as { properties?: object }
          route.onRequest = gate.createHook(Object.keys(properties), route.url)
          // Described once, under the path that the specification has.
          if (prefix === '/v1') route.schema = { ...route.schema, hide: true }
        })
        mount(v1)
      },
      { prefix },
    )
  }
  // One place for all unknown paths, in v1 or elsewhere: it needs no credentials, and says what would work. It runs
  // before the body of a request that no route will handle is read.
  server.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    gate.showAllowance(request)
    const [path = '', ...query] = request.url.split('?')
    const methodsAt = (one: string) => routes.filter(({ pattern }) => pattern.test(one)).map(({ method }) => method)
    const allowed = [...new Set(methodsAt(path))]
    if (allowed.length === 0 || allowed.includes(request.method)) {
      const shorter = path.slice(0, -1) // a wall's URL, typed with a slash at its end
      if (isPerson(request, path) && path.endsWith('/') && methodsAt(shorter).includes('GET'))
        return void reply.redirect([shorter, ...query].join('?'))
      if (isPerson(request, path)) return void sendPage(reply.code(404), NOTHING_HERE)
      return sendError(
        request,
        reply,
        'RESOURCE_NOT_FOUND',
        'There is no endpoint at this URL. See the API reference at /docs.',
      )
    }
    const allow = allowed.join(', ')
    const message = `Use ${METHODS.format(allowed)} here, not ${request.method}.${isPreflight(request) ? SERVERS_ONLY : ''}`
    sendError(request, reply, 'RESOURCE_NOT_FOUND', message, null, ['Allow', allow])
  })
}

/** "POST, GET or HEAD". */
const METHODS = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Browsers ask before they call another origin. */
const isPreflight = ({ method, url }: FastifyRequest) => method === 'OPTIONS' && /^\/(api\/)?v1\//.test(url)
const SERVERS_ONLY = ' Call this API from your server, not from a browser: it allows no other origins (CORS).'

/** A person who typed a URL, not a program that calls the API. */
const isPerson = ({ method, headers }: FastifyRequest, path: string) =>
  method === 'GET' && (headers.accept ?? '').includes('text/html') && !/^\/(api|v1|manage)(\/|$)/.test(path)

const NOTHING_HERE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Page not found · Offerdeck</title><link rel="icon" href="/icon.svg"></head>
<body>
<h1>Page not found</h1>
<p>Check the URL, or go to the <a href="/">dashboard</a>. The API is documented at <a href="/docs">/docs</a>.</p>
</body>
</html>
`
