// Every route of a server, from the router itself: what no list or description leaves out.
import type { FastifyInstance } from 'fastify'

export type ServedRoute = { method: string; path: string }

export function listRoutes(server: FastifyInstance): ServedRoute[] {
  const routes: ServedRoute[] = []
  const above: string[] = []
  for (const line of server.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', rest = ''] = /^((?:[│ ] {3})*[├└]── )(.*)$/.exec(line) ?? []
    if (rest === '') continue
    const [, part = '', methods = ''] = /^(.*?)(?: \(([A-Z, ]+)\))?$/.exec(rest) ?? []
    const depth = indent.length / 4 - 1
    above.length = depth
    above.push(part)
    for (const method of methods.split(', ')) if (method !== '') routes.push({ method, path: above.join('') })
  }
  return routes
}

/** A path that a request can have. */
export const fill = (path: string) => path.replaceAll(/:\w+/g, '1')
export const isBehind = (prefix: string) => (route: ServedRoute) => route.path.startsWith(`${prefix}/`)

/** Allowed without signing in. */
const ANYONE = new Set(
  ['/session', '/session/two-factor', '/invitation', '/invitation/accept', '/password/forgot', '/password/reset', '/email/verify', '/sign-up', '/sign-up/link', '/sign-up/verify'].map((path) => `/manage/v1${path}`), // prettier-ignore
)

/** The operations of the management API that need a sign-in. */
export const isClosed = (route: ServedRoute) => isBehind('/manage/v1')(route) && !ANYONE.has(route.path)
