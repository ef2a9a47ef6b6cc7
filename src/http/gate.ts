// The checks in front of every v1 operation, in order: API key, API secret, rate. HTTPS was checked before, for
// everything (server.ts).
//
// The key is public, so only requests with a verified secret count against it; otherwise anyone could spend a
// publisher's allowance. Failed credentials count against their IP address instead, and never block verified requests.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { AppError } from '../errors.ts'
import { flatten } from '../lib/flatten.ts'
import { addressWords, networkOf as networkIn } from '../lib/ip-address.ts'
import { HASH_LENGTH } from '../lib/tokens.ts'
import { ipOf } from './forwarded.ts'
import { closedKey, type Closure, missingKey, wrongSecret } from './key-errors.ts'
import { createQueryParser, type QueryValue } from './query.ts'
import type { Allowance, RateLimiter } from './rate-limit.ts'

const FAILURES_A_MINUTE = 100

/** One API key and what is needed to check a request that names it. */
export type Credential = {
  apiKey: string
  rateLimit: number
  /** Infinity when it does not expire; 0 when it is closed. */
  expiresAtMs: number
  /** Why it is closed whatever the time, or null. */
  closure: Closure | null
  /** One, or two while a rotation's grace lasts. */
  secrets: { hash: string; expiresAtMs: number }[]
}

export type GateOptions<C extends Credential> = {
  find: (apiKey: string) => C | undefined
  /** A secret's hash by each key that may be in use, the present one first. */
  hashSecret: (secret: string) => readonly string[]
  /** Called when a valid secret is stored in an outdated form, once per process. */
  onOldHash?: (stored: string, present: string) => void
  limiter: RateLimiter
  publicUrl: string
  /** Called when a verified secret was sent by a browser, where it must never be. */
  onLeak: (credential: C, origin: string, requestId: string) => void
  /** Called for every request that passes, so it must cost next to nothing. */
  onPass: (credential: C) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent this, once the gate let it pass. */
    credential: Credential | null
    /** Whose key this names, before anything is verified. */
    named: Credential | null
    /** When the gate was reached, by performance.now(). */
    startedAt: number
    /** What goes into the rate headers. */
    allowance?: Allowance
  }
}

export type Gate<C extends Credential> = {
  /** The checks in front of a route that takes these query parameters; reads them on the way. */
  createHook: (parameters: readonly string[], path: string) => onRequestHookHandler
  /** The credential a request passed the gate with. */
  callerOf: (request: FastifyRequest) => C
  /** What an IP address without credentials has left. */
  allowanceOf: (address: string) => Allowance
  /** Fills the rate headers of an answer that never reached the gate's counting. */
  showAllowance: (request: FastifyRequest) => void
}

export function createGate<C extends Credential>(options: GateOptions<C>): Gate<C> {
  const { find, limiter, publicUrl, onPass } = options
  const isSecret = createSecretCheck(options)

  const allowanceOf = (address: string) => limiter.peek(addressKey(address), FAILURES_A_MINUTE)
  const showAllowance = (request: FastifyRequest) => {
    request.allowance ??= limiter.peek(addressOf(request), FAILURES_A_MINUTE)
  }

  function refuse(request: FastifyRequest, error: AppError, done: (error: Error) => void): void {
    whenReady(limiter.take(addressOf(request), FAILURES_A_MINUTE), (allowance) => {
      request.allowance = allowance
      done(allowance.exceeded ? tooMany('Too many requests with wrong credentials from this IP address.') : error)
    })
  }

  const createHook = (parameters: readonly string[], path: string): onRequestHookHandler => {
    const parseQuery = createQueryParser(['apiKey', 'apiSecret', ...parameters])
    const hasId = path.includes(':')
    return (request, _reply, done) => {
      if (hasId && Object.values(request.params as Record<string, string>).includes('')) return done(noId())
      const query = parseQuery(request.query as string)
      request.query = query
      check(request, query['apiKey'], query['apiSecret'], done)
    }
  }

  function check(
    request: FastifyRequest,
    keyInQuery: QueryValue | undefined,
    secretInQuery: QueryValue | undefined,
    done: (error?: Error) => void,
  ): void {
    const now = Date.now()
    const { headers } = request
    const apiKey = agreed(keyInQuery, headers['x-api-key'])
    const credential = apiKey === null ? undefined : find(apiKey)
    request.startedAt = performance.now()
    request.named = credential ?? null
    const secret = agreed(secretInQuery, headers['x-api-secret'])
    const verified = isSecret(secret ?? '', credential, now)
    if (credential === undefined || now >= credential.expiresAtMs) {
      const error =
        credential !== undefined && verified
          ? closedKey(credential.closure, credential.expiresAtMs)
          : missingKey(request, { key: apiKey, secret, isKeyAmbiguous: isAmbiguous(keyInQuery, headers['x-api-key']) })
      return refuse(request, error, done)
    }
    if (!verified) {
      return refuse(request, wrongSecret(secret, isAmbiguous(secretInQuery, headers['x-api-secret'])), done)
    }
    request.credential = credential
    const origin = browserOrigin(request, publicUrl)
    if (origin !== null) options.onLeak(credential, origin, request.id)
    whenReady(limiter.take(credential.apiKey, credential.rateLimit), (allowance) => {
      request.allowance = allowance
      if (allowance.exceeded) return done(tooMany('This API key has used up its requests for the current minute.'))
      onPass(credential)
      done()
    })
  }
  return { createHook, allowanceOf, showAllowance, callerOf: (request) => request.credential as C }
}

/** Goes on at once with a value that is there, and later with one that is not. */
function whenReady<T>(value: T | Promise<T>, next: (value: T) => void): void {
  if (value instanceof Promise) void value.then(next)
  else next(value)
}

/** The router takes /offers/ for an offer without an id. */
const noId = () => new AppError('RESOURCE_NOT_FOUND', 'The URL has no ID. To get the list, remove the trailing slash.')

function tooMany(reason: string): AppError {
  return new AppError(
    'RATE_LIMIT_EXCEEDED',
    `${reason} Wait until the time in X-RateLimit-Reset, then back off exponentially.`,
  )
}

/** The one value that query and header agree on, or null: none given, or two that differ. */
function agreed(fromQuery: QueryValue | undefined, fromHeader: string | string[] | undefined): string | null {
  const inQuery = theOne(fromQuery)
  const inHeader = theOne(fromHeader)
  if (inQuery === undefined) return inHeader ?? null
  return inHeader === undefined || inHeader === inQuery ? inQuery : null
}

/** Given, but not as one value. */
const isAmbiguous = (fromQuery: QueryValue | undefined, fromHeader: string | string[] | undefined) =>
  (fromQuery !== undefined || fromHeader !== undefined) && agreed(fromQuery, fromHeader) === null

/** A value given once, or several times the same; null when it was given otherwise, undefined when not at all. */
function theOne(value: QueryValue | undefined): string | null | undefined {
  if (value === undefined || typeof value === 'string') return value
  if (!Array.isArray(value)) return null
  const [first] = value
  return typeof first === 'string' && value.every((other) => other === first) ? first : null
}

/**
 * Whether a secret is a credential's. A wrong one takes the same time whatever it is: one hash, two comparisons, also
 * for a key that does not exist, by each key that hashes. A right one is remembered, in memory and for as long as its credential is unchanged,
 * so that the next request costs a comparison and no hash.
 */
function createSecretCheck({ hashSecret, onOldHash }: Pick<GateOptions<Credential>, 'hashSecret' | 'onOldHash'>) {
  const nothing = Buffer.alloc(HASH_LENGTH)
  const presented = Buffer.alloc(HASH_LENGTH)
  const stored = Buffer.alloc(HASH_LENGTH)
  const proven = new WeakMap<Credential, { secret: string; expiresAtMs: number }>()

  function isProven(secret: string, credential: Credential, now: number): boolean {
    const known = proven.get(credential)
    return known !== undefined && now < known.expiresAtMs && isSame(secret, known.secret)
  }

  return (secret: string, credential: Credential | undefined, now: number): boolean => {
    if (credential !== undefined && isProven(secret, credential, now)) return true
    const hashes = hashSecret(secret)
    let match: Credential['secrets'][number] | undefined
    for (const hash of hashes) {
      presented.write(hash, 0, HASH_LENGTH, 'latin1')
      for (let i = 0; i < 2; i++) {
        const candidate = credential?.secrets[i]
        const isLive = candidate !== undefined && now < candidate.expiresAtMs
        if (isLive) stored.write(candidate.hash, 0, HASH_LENGTH, 'latin1')
        else nothing.copy(stored)
        if (timingSafeEqual(presented, stored) && isLive) match = candidate
      }
    }
    if (match === undefined || credential === undefined) return false
    if (match.hash !== hashes[0]) onOldHash?.(match.hash, hashes[0] as string)
    proven.set(credential, { secret: flatten(secret), expiresAtMs: match.expiresAtMs }) // not a part of the whole URL
    return true
  }
}

/** Compares two texts without stopping at the first difference. In JavaScript: the way to a native function costs more. */
function isSame(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/**
 * Where in a browser a request came from, or null when it did not, or came from this server's own reference page.
 * Sec-Fetch-Mode alone proves nothing: Node's fetch sends it, too.
 */
function browserOrigin({ headers }: FastifyRequest, publicUrl: string): string | null {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) return null
  if (site === 'same-origin' && (origin === undefined || origin === publicUrl)) return null
  const page = origin ?? URL.parse(headers.referer ?? '')?.origin // never the whole address: it may hold the secret
  return (page ?? `a browser (${String(site)})`).slice(0, 200)
}

/** What limits count by: one IPv4 address, or one IPv6 /64, which is what one customer of a provider has. */
export const addressOf = (request: FastifyRequest) => addressKey(clientOf(request))

/** For limits that must hold against those who have many addresses: an IPv6 /48, which anyone can have. */
export const networkOf = (request: FastifyRequest) => addressKey(clientOf(request), 48)

/** Behind a proxy that is trusted, whom the proxy names, if it names an address. */
const clientOf = (request: FastifyRequest) => {
  const ip = ipOf(request)
  return addressWords(ip) === null ? (request.socket.remoteAddress ?? '') : ip
}

const addressKey = (text: string, bits?: 48) => `address:${networkIn(text, bits)}`
