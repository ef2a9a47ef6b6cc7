// Pages for people: HTML with a policy of its own.
import type { FastifyReply } from 'fastify'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function sendPage(
  reply: FastifyReply,
  html: string,
  { policy = POLICY, cacheControl = 'no-cache' } = {},
): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', policy)
    .header('Cache-Control', cacheControl)
    .send(html)
}
