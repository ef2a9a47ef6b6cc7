// Pages for people: HTML with a policy of its own.
import type { FastifyReply, FastifyRequest } from 'fastify'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  html: string,
  policy: string = POLICY,
): FastifyReply {
  if (request.protocol === 'https') reply.header('Strict-Transport-Security', 'max-age=31536000')
  return reply
    .type('text/html; charset=utf-8')
    .header('Content-Security-Policy', policy)
    .header('X-Content-Type-Options', 'nosniff')
    .header('Referrer-Policy', 'no-referrer')
    .header('Cache-Control', 'no-cache')
    .send(html)
}
