// Who may pass: the checks in front of every v1 operation, in their order: HTTPS, API key, API secret, rate.
//
// The key is public, so only requests whose secret verified count against it; otherwise anybody could spend a
// publisher's allowance. Failed credentials count against their address instead, and never block verified requests.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import ipaddr from 'ipaddr.js'
import { AppError } from '../errors.ts'
import type { Query } from './query.ts'
import type { Allowance, RateLimiter } from './rate-limit.ts'

const FAILURES_A_MINUTE = 100
const HASH_LENGTH = 43 // of a base64url SHA-256

/** One API key and what is needed to check a request that names it. */
export type Credential = {
  apiKey: string
  rateLimit: number
  /** Infinity when it does not expire; 0 when it is revoked. */
  expiresAtMs: number
  /** One, or two while a rotation's grace lasts. */
  secrets: { hash: string; expiresAtMs: number }[]
}

export type GateOptions<C extends Credential> = {
  find: (apiKey: string) => C | undefined
  hashSecret: (secret: string) => string
  limiter: RateLimiter
  requireHttps: boolean
  publicUrl: string
  /** Told when a verified secret came from a browser, where it must never be. */
  onLeak: (credential: C, origin: string) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent this, once the gate let it pass. */
    credential: Credential | null
    /** What goes into the rate headers. */
    allowance: Allowance | null
  }
}

export type Gate<C extends Credential> = {
  hook: onRequestHookHandler
  /** The credential a request passed the gate with. */
  callerOf: (request: FastifyRequest) => C
  /** Fills the rate headers of an answer that never reached the gate's counting. */
  showAllowance: (request: FastifyRequest) => void
}

export function createGate<C extends Credential>(options: GateOptions<C>): Gate<C> {
  const { find, limiter, publicUrl } = options
  const isSecret = createSecretCheck(options.hashSecret)

  const showAllowance = (request: FastifyRequest) => {
    request.allowance ??= limiter.peek(addressKey(request), FAILURES_A_MINUTE)
  }

  function refuse(request: FastifyRequest, error: AppError, done: (error: Error) => void): void {
    settle(limiter.take(addressKey(request), FAILURES_A_MINUTE), (allowance) => {
      request.allowance = allowance
      done(allowance.exceeded ? tooMany('Too many requests with wrong credentials came from this address.') : error)
    })
  }

  const hook: onRequestHookHandler = (request: FastifyRequest, _reply: FastifyReply, done) => {
    if (options.requireHttps && request.protocol !== 'https') {
      return done(new AppError('INVALID_REQUEST', 'This API answers over HTTPS only. The credentials of this request travelled in the clear: rotate the secret.'))
    }
    const now = Date.now()
    const query = request.query as Query
    const apiKey = agreed(query['apiKey'], request.headers['x-api-key'])
    const credential = apiKey === null ? undefined : find(apiKey)
    const secret = agreed(query['apiSecret'], request.headers['x-api-secret'])
    const verified = isSecret(secret ?? '', credential, now)
    if (credential === undefined || now >= credential.expiresAtMs) {
      return refuse(request, new AppError('INVALID_API_KEY', 'The API key is missing, unknown, expired or revoked. Send it as apiKey or X-API-Key.'), done)
    }
    if (!verified) {
      return refuse(request, new AppError('INVALID_API_SECRET', 'The API secret is missing or does not belong to this API key. Send it as apiSecret or X-API-Secret.'), done)
    }
    request.credential = credential
    const origin = browserOrigin(request, publicUrl)
    if (origin !== null) options.onLeak(credential, origin)
    settle(limiter.take(credential.apiKey, credential.rateLimit), (allowance) => {
      request.allowance = allowance
      if (allowance.exceeded) done(tooMany('This API key has used up its requests for the current minute.'))
      else done()
    })
  }
  return { hook, showAllowance, callerOf: (request) => request.credential as C }
}

/** Goes on at once with a value that is there, and later with one that is not. */
function settle<T>(value: T | Promise<T>, next: (value: T) => void): void {
  if (value instanceof Promise) void value.then(next)
  else next(value)
}

function tooMany(reason: string): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', `${reason} Wait until the time in X-RateLimit-Reset, then back off exponentially.`)
}

/** The one value that query and header agree on, or null: none given, or two that differ. */
function agreed(fromQuery: Query[string], fromHeader: string | string[] | undefined): string | null {
  let value: string | null = null
  for (const given of [fromQuery, fromHeader].flat()) {
    if (given === undefined) continue
    if (typeof given !== 'string' || (value !== null && given !== value)) return null
    value = given
  }
  return value
}

/** Takes the same time whatever is presented: one hash, two comparisons, also for a key that does not exist. */
function createSecretCheck(hashSecret: (secret: string) => string) {
  const nothing = Buffer.alloc(HASH_LENGTH)
  const presented = Buffer.alloc(HASH_LENGTH)
  const stored = Buffer.alloc(HASH_LENGTH)
  return (secret: string, credential: Credential | undefined, now: number): boolean => {
    presented.write(hashSecret(secret), 0, HASH_LENGTH, 'latin1')
    let matches = false
    for (let i = 0; i < 2; i++) {
      const candidate = credential?.secrets[i]
      const isLive = candidate !== undefined && now < candidate.expiresAtMs
      if (isLive) stored.write(candidate.hash, 0, HASH_LENGTH, 'latin1')
      else nothing.copy(stored)
      if (timingSafeEqual(presented, stored) && isLive) matches = true
    }
    return matches
  }
}

/** Where in a browser a request came from, or null when it did not, or came from this server's own reference page. */
function browserOrigin(request: FastifyRequest, publicUrl: string): string | null {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  if (origin === undefined && site === undefined && mode === undefined) return null
  if (site === 'same-origin' && (origin === undefined || origin === publicUrl)) return null
  return (origin ?? request.headers.referer ?? `a browser (${site ?? mode})`).slice(0, 200)
}

/** One IPv4 address or one IPv6 /64, which is what one customer of a provider has. */
function addressKey(request: FastifyRequest): string {
  const text = ipaddr.isValid(request.ip) ? request.ip : (request.socket.remoteAddress ?? '')
  if (!ipaddr.isValid(text)) return 'address:unknown'
  const address = ipaddr.process(text)
  return address.kind() === 'ipv4' ? `address:${address}` : `address:${address.toNormalizedString().split(':').slice(0, 4).join(':')}/64`
}
