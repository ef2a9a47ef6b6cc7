// What is no operation of an API: pages, scripts, pictures, streams, the descriptions, health and figures.
import type { Random } from '../random.ts'
import type { Draft, Surroundings } from './drafts.ts'
import { bySession } from './callers.ts'

const PATHS = [
  '/', '/account', '/apps/1', '/network/offers', '/sign-in', '/sign-up', '/join', '/forgot-password', '/reset-password', '/verify-email',
  '/robots.txt', '/icon.svg', '/favicon.ico', '/assets/none.js', '/images/00000000000000000000000000000000.png', '/pictures/none.svg',
  '/c/page.css', '/c/1/x', '/sdk/v1.js', '/l/none?lang=de', '/locker?locker=1&test=1&origin=https%3A%2F%2Fa.example&lang=fr', '/demo/offers/app/1?click=x', '/demo/state', '/demo/confirm', '/sdk/v1.d.ts', '/sdk/none', '/wall', '/locker', '/locker/v1.js', '/l/none', '/docs', '/docs/manage', '/docs/manage.json',
  '/docs/reference.js', '/docs/start.js', '/docs/v1.json', '/openapi.json', '/.well-known/security.txt', '/.well-known/none', '/healthz', '/readyz', '/metrics',
  '/demo', '/demo/story', '/demo/signature', '/demo/postback', '/demo/advertiser', '/api/v1', '/v1', '/manage/v1', '/api', '/manage', '/admin', '/.env', '/.git/config', '/api/auth/sign-in/email',
  '/manage/v1/none', '/api/v1/none', '/wall/v1/none', '/locker/v1/none', '/wall/v1/live', '/locker/v1/lockers/1/live',
] // prettier-ignore

const LINKS = /^https?:\/\/[^/]+(\/.*)$/

export function draftPage(random: Random, around: Surroundings, metricsToken: string): Draft {
  const said = ['link', 'url', 'page_url', 'image_url', 'image', 'logo', 'src'].flatMap((name) =>
    around.harvest.take(name),
  )
  const known = said.flatMap((one) => {
    const path = String(one).startsWith(around.url) ? LINKS.exec(String(one))?.[1] : String(one)
    return path?.startsWith('/') === true && !/[^!-~]/.test(path) ? [path] : []
  })
  const path = known.length > 0 && random.chance(0.4) ? random.pick(known) : random.pick(PATHS)
  const draft: Draft = {
    what: `page ${path.slice(0, 40)}`,
    operation: null,
    method: random.chance(0.85) ? 'GET' : random.pick(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']),
    path,
    query: [],
    headers: [],
    body: undefined,
  }
  if (path === '/metrics' && random.chance(0.5)) draft.headers.push(['Authorization', `Bearer ${metricsToken}`])
  if (random.chance(0.1)) draft.headers.push(...bySession(random.pick(around.callers.people), around.url))
  return draft
}
