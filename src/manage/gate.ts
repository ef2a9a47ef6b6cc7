// Who may pass to the management API: a session of the dashboard, or a token of a program; then what the path names
// must be within reach.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Scope } from '../features/accounts/access-tokens.ts'
import { isOperatorRole, type Role } from '../features/accounts/people.ts'
import { AppError } from '../errors.ts'
import { addressOf } from '../http/gate.ts'
import { createQueryParser } from '../http/query.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { isForKind, needsSession, type Operation, refusalOf, rolesOf, scopesOf } from './access.ts'

const A_MINUTE = 600 // for a person: a page asks for a handful of things
const UNKNOWN_A_MINUTE = 60 // for an IP address whose requests have no valid session
const PROOF_MS = 15 * 60_000
const CLOCKS_MS = 60_000 // how far the clocks of two nodes may be apart

/** The signed-in person. */
export type Caller = {
  id: string
  name: string
  email: string
  role: Role
  publisherId: number | null
  advertiserId: number | null
  hasSecondFactor: boolean
  /** Null for a program with a token. */
  session: { id: string; provenAt: Date } | null
  /** Null for a session. */
  token: { id: number; name: string; scopes: readonly Scope[]; mayComeFrom: (ip: string) => boolean } | null
  /** Cookies for a session that was prolonged by this request. */
  renewed: string[]
}

export type ManagedApp = { appId: number; publisherId: number }

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation
  }
  interface FastifyRequest {
    caller: Caller | null
    managedApp: ManagedApp | null
    managedPublisherId: number | null
  }
}

export type ManageGateOptions = {
  publicUrl: string
  limiter: RateLimiter
  /** Whether operators must have a second factor. */
  requireSecondFactor: boolean
  findByToken: (token: string) => Promise<Caller | null>
  findBySession: (request: FastifyRequest) => Promise<Caller | null>
  findApp: (appId: number) => Promise<ManagedApp | null>
}

/** Puts the checks in front of every route that is added to `manage` from now on. */
export function guardManage(manage: FastifyInstance, options: ManageGateOptions): void {
  const { publicUrl, limiter, requireSecondFactor, findByToken, findBySession, findApp } = options

  async function identify(request: FastifyRequest): Promise<Caller | null> {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (token !== undefined) return findByToken(token)
    // A page of another site could make a browser send the cookie along; it cannot make it send our Origin.
    if (isWrite(request) && request.headers.origin !== publicUrl)
      throw new AppError('NOT_ALLOWED', `Changes must come from the pages of ${publicUrl}.`)
    return findBySession(request)
  }

  async function count(request: FastifyRequest, caller: Caller | null): Promise<void> {
    const allowance =
      // A stolen token used from elsewhere does not use up its owner's allowance.
      caller === null || caller.token?.mayComeFrom(request.ip) === false
        ? await limiter.take(`manage ${addressOf(request)}`, UNKNOWN_A_MINUTE)
        : await limiter.take(`manage ${caller.id}`, A_MINUTE)
    request.allowance = allowance
    if (allowance.exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many requests. Wait a minute and try again.')
  }

  async function reach(request: FastifyRequest, caller: Caller): Promise<void> {
    const { app_id, publisher_id, advertiser_id } = request.params as Record<string, string | undefined>
    if (app_id !== undefined) {
      const app = isId(app_id) ? await findApp(Number(app_id)) : null
      if (app === null || !mayReach(caller, app.publisherId)) throw notThere()
      request.managedApp = app
      request.managedPublisherId = app.publisherId
    }
    if (publisher_id !== undefined) {
      if (!isId(publisher_id) || !mayReach(caller, Number(publisher_id))) throw notThere()
      if (app_id !== undefined && request.managedPublisherId !== Number(publisher_id)) throw notThere()
      request.managedPublisherId = Number(publisher_id)
    }
    if (advertiser_id !== undefined && !mayReachAdvertiser(caller, advertiser_id)) throw notThere()
  }

  manage.addHook('onRoute', (route) => {
    const { properties = {} } = (route.schema?.querystring ?? {}) as { properties?: object }
    const parseQuery = createQueryParser(Object.keys(properties))
    const operation = route.config?.operation
    if (operation === undefined) throw new Error(`${route.url} does not say who may use it.`)
    const roles = rolesOf(operation)
    route.onRequest = async (request) => {
      request.query = parseQuery(request.query as string)
      const caller = await identify(request)
      await count(request, caller)
      request.caller = caller
      if (operation.access === 'anyone') return
      if (caller === null)
        throw new AppError('NOT_SIGNED_IN', 'Sign in first, or send a valid token as Authorization: Bearer.')
      checkToken(operation, caller, request.ip)
      if (requireSecondFactor && isOperatorRole(caller.role) && !caller.hasSecondFactor && !operation.isForSetUp)
        throw new AppError('SECOND_FACTOR_REQUIRED', 'This network requires two-factor sign-in: set it up first.')
      if (!isForKind(operation, caller.role)) throw notThere()
      await reach(request, caller)
      if (roles !== null && !roles.includes(caller.role))
        throw new AppError('NOT_ALLOWED', refusalOf(operation, caller.role))
      if (operation.isSensitive) checkProof(caller, Date.now())
    }
  })
}

function checkToken(operation: Operation, { token }: Caller, ip: string): void {
  if (token === null) return
  if (!token.mayComeFrom(ip))
    throw new AppError('NOT_ALLOWED', `This token cannot be used from ${ip}: that address is not on its IP allowlist.`)
  if (needsSession(operation))
    throw new AppError('NOT_ALLOWED', 'An API token cannot do this. Sign in to the dashboard.')
  const scopes = scopesOf(operation)
  if (scopes !== null && !scopes.some((scope) => token.scopes.includes(scope)))
    throw new AppError('NOT_ALLOWED', `This token lacks a required scope: ${scopes.join(' or ')}.`)
}

function checkProof({ session, hasSecondFactor }: Caller, now: number): void {
  const age = now - (session?.provenAt.getTime() ?? 0)
  if (age <= PROOF_MS && age >= -CLOCKS_MS) return // one from the future would hold until then
  const what = hasSecondFactor ? 'a code of your second factor' : 'your password'
  throw new AppError('PROOF_REQUIRED', `Confirm that it is you: enter ${what} again.`)
}

const isWrite = ({ method }: FastifyRequest) => method !== 'GET' && method !== 'HEAD'
const isId = (text: string) => /^\d{1,15}$/.test(text)

const mayReach = ({ role, publisherId }: Caller, wanted: number) => isOperatorRole(role) || publisherId === wanted

const mayReachAdvertiser = ({ role, advertiserId }: Caller, wanted: string) =>
  isId(wanted) && (isOperatorRole(role) || advertiserId === Number(wanted))

/** The same for what does not exist and for what belongs to another publisher or advertiser. */
export const notThere = (what = 'Not found, or you do not have access.') => new AppError('RESOURCE_NOT_FOUND', what)
