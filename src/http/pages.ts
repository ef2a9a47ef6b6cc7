// Pages for people: HTML with a policy of its own.
import type { FastifyReply } from 'fastify'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** No page needs any of these, and neither does what it shows. */
export const PERMISSIONS =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()'

export function sendPage(
  reply: FastifyReply,
  html: string,
  { policy = POLICY, cacheControl = 'no-cache' } = {},
): FastifyReply {
  return (
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', policy)
      .header('Permissions-Policy', PERMISSIONS)
      // For all other answers server.ts sets these; but not where a request fails before it has a route.
      .header('X-Content-Type-Options', 'nosniff')
      .header('Referrer-Policy', 'no-referrer')
      .header('Cache-Control', cacheControl)
      .send(html)
  )
}
