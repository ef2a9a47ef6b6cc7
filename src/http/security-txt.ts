// Where to report a vulnerability (RFC 9116).
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { rfc3339 } from '../lib/time.ts'

const PATH = '/.well-known/security.txt'
const DAY_MS = 86_400_000
/** A copy older than this is not to be relied on. The RFC wants less than a year. */
const EXPIRES_DAYS = 180

export function securityTxtRoute(server: FastifyInstance, config: Config): void {
  server.get(PATH, { schema: { hide: true } }, async (_request, reply) => {
    const text = securityTxt(config, Date.now())
    if (text === null) throw new AppError('RESOURCE_NOT_FOUND', 'This network has published no security contact.')
    return reply.type('text/plain; charset=utf-8').header('Cache-Control', 'public, max-age=3600').send(text)
  })
}

/** Null without a contact. It changes once a day, so that caches may keep it. */
function securityTxt({ securityContact, publicUrl }: Config, nowMs: number): string | null {
  if (securityContact === null) return null
  const expiresMs = Math.floor(nowMs / DAY_MS) * DAY_MS + EXPIRES_DAYS * DAY_MS
  const lines = [`Contact: ${securityContact}`, `Expires: ${rfc3339(new Date(expiresMs))}`, 'Preferred-Languages: en']
  // The RFC allows no other scheme.
  if (publicUrl.startsWith('https:')) lines.push(`Canonical: ${publicUrl}${PATH}`)
  return `${lines.join('\n')}\n`
}
