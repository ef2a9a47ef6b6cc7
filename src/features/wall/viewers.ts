// Who looks at a wall: the app by its public key, the user by the ID in the request, signed or not.
//
// The key is public and the page is in a browser, so requests here count against the user and the IP address, never
// against the key: a hostile page cannot use up what the publisher's server may ask for.
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Db } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { addressOf, networkOf } from '../../http/gate.ts'
import { createQueryParser } from '../../http/query.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { goOn } from '../../lib/go-on.ts'
import { hashText } from '../../lib/hash-text.ts'
import type { AppCredential, Credentials } from '../apps/credentials.ts'
import type { WallSettings } from './settings-schema.ts'
import type { WallSettingsReader } from './settings.ts'
import { checkSignature, type SignatureProblem } from './signature.ts'
import { createSigningSecretsReader } from './signing-secrets.ts'

const A_MINUTE_BY_USER = 120
const A_MINUTE_BY_ADDRESS = 3_000
/** A search reads every offer, so it costs a hundred times as much as a page. */
const SEARCHES_A_MINUTE = 60

/** `expiresAtMs` is that of the signature. */
export type Viewer = {
  credential: AppCredential
  userId: string
  isSigned: boolean
  expiresAtMs: number
  settings: WallSettings
}

type Named = { apiKey: string; userId: string; exp?: string | undefined; sig?: string | undefined }

export type Viewers = {
  /** Parses these query parameters, and counts the request against its IP address. */
  createHook: (parameters: readonly string[]) => onRequestHookHandler
  /** Counts a search against its network. */
  countSearch(request: FastifyRequest): Promise<void>
  /** The viewer whom a validated request names, at once in nearly all cases. Throws what the page has to show. */
  identify(request: FastifyRequest, named: Named): Viewer | Promise<Viewer>
  /** The same for what only a signed user may see. */
  identifySigned(request: FastifyRequest, named: Named): Promise<Viewer>
  /** Whether the same request would be let in now, too. */
  isStillSigned(named: Named): Promise<boolean>
}

export type ViewersOptions = {
  db: Db
  secretKey: string
  credentials: Credentials
  limiter: RateLimiter
  settingsOf: WallSettingsReader
}

export function createViewers({ db, secretKey, credentials, limiter, settingsOf }: ViewersOptions): Viewers {
  const secretsOf = createSigningSecretsReader(db, secretKey)
  type Taken = AppError | undefined

  /** Counts a request; returns the error where it is one too many. */
  function take(request: FastifyRequest, key: string, limit: number, whose: string): Taken | Promise<Taken> {
    return goOn(limiter.take(key, limit), (allowance) => {
      request.allowance = allowance
      if (!allowance.exceeded) return undefined
      return new AppError('RATE_LIMIT_EXCEEDED', `Too many requests ${whose}. Wait a minute, then try again.`)
    })
  }

  function isSignedBy(credential: AppCredential, named: Named, nowMs: number): boolean | Promise<boolean> {
    const { userId, exp, sig } = named
    if (exp === undefined && sig === undefined) return false
    if (exp === undefined || sig === undefined) throw unsigned('incomplete')
    return goOn(secretsOf(credential, nowMs), (values) => {
      const user = { apiKey: credential.apiKey, userId, expiresAtS: Number(exp) }
      const problem = checkSignature(values, user, sig, Math.floor(nowMs / 1000))
      if (problem !== null) throw unsigned(problem)
      return true
    })
  }

  function credentialOf({ apiKey }: Named, nowMs: number): AppCredential {
    const credential = credentials.find(apiKey)
    if (credential === undefined || nowMs >= credential.expiresAtMs) throw unknownKey()
    if (credential.kind === 'tracking') throw noWall()
    return credential
  }

  function identify(request: FastifyRequest, named: Named): Viewer | Promise<Viewer> {
    const nowMs = Date.now()
    const credential = credentialOf(named, nowMs)
    const { appId, isTest } = credential
    const { userId } = named
    const user = `${appId}|${isTest}|${hashText(userId)}|${addressOf(request)}`
    const expiresAtMs = Number(named.exp ?? 0) * 1000
    return goOn(take(request, `wall:${user}`, A_MINUTE_BY_USER, 'of this user'), (tooMany) => {
      if (tooMany !== undefined) throw tooMany
      return goOn(isSignedBy(credential, named, nowMs), (isSigned) =>
        goOn(settingsOf(appId), (settings) => {
          if (!isSigned && settings.require_signature) throw unsigned('required')
          return { credential, userId, isSigned, expiresAtMs, settings }
        }),
      )
    })
  }

  return {
    identify,
    async countSearch(request) {
      const key = `wall-search:${networkOf(request)}`
      const tooMany = await take(request, key, SEARCHES_A_MINUTE, 'with a search from this network')
      if (tooMany !== undefined) throw tooMany
    },
    async identifySigned(request, named) {
      const viewer = await identify(request, named)
      if (!viewer.isSigned) throw unsigned('needed')
      return viewer
    },
    async isStillSigned(named) {
      const nowMs = Date.now()
      try {
        return await isSignedBy(credentialOf(named, nowMs), named, nowMs)
      } catch (error) {
        if (error instanceof AppError) return false
        throw error
      }
    },
    createHook(parameters) {
      const parse = createQueryParser(parameters)
      return (request, _reply, done) => {
        request.query = parse(request.query as string)
        void goOn(take(request, `wall:${addressOf(request)}`, A_MINUTE_BY_ADDRESS, 'from this IP address'), done)
      }
    },
  }
}

/** What happened to a key is said to its publisher alone: the page is for everyone. */
function unknownKey(): AppError {
  const message = 'The API key is unknown, or no longer valid. Check it against the credentials of your app.'
  return new AppError('INVALID_API_KEY', message, { apiKey: message })
}

function noWall(): AppError {
  const message = 'This app is for servers only (kind "tracking"), and has no wall. Change its kind to "reward".'
  return new AppError('RESOURCE_NOT_FOUND', message, { apiKey: message })
}

type Unsigned = SignatureProblem | 'incomplete' | 'required' | 'needed'

export const EXPIRED = 'The signature has expired. Create a new one on your server.'
export const UNSIGNED = 'This wall is shown to signed users only. Send exp and sig, created on your server with the signing secret of the app.' // prettier-ignore

const PROBLEMS: Record<Unsigned, [field: string, message: string]> = {
  incomplete: ['sig', 'Send exp and sig together, or neither.'],
  required: ['sig', UNSIGNED],
  needed: ['sig', 'This is for signed users only. Send exp and sig.'],
  expired: ['exp', EXPIRED],
  too_long: ['exp', 'The signature may be valid for a day at most.'],
  wrong: ['sig', 'The signature does not belong to this user, key and time.'],
}

function unsigned(problem: Unsigned): AppError {
  const [field, message] = PROBLEMS[problem]
  return new AppError('INVALID_REQUEST', message, { [field]: message })
}
