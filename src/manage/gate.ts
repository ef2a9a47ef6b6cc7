// Who may pass to the management API: a session of the dashboard, or a token of a program; then what the path names
// must be within reach.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Role } from '../features/accounts/people.ts'
import { isOperatorRole } from '../features/accounts/people.ts'
import { AppError } from '../errors.ts'
import { addressOf } from '../http/gate.ts'
import { createQueryParser } from '../http/query.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import type { Access } from './route.ts'

const A_MINUTE = 600 // for a person: a page asks for a handful of things
const UNKNOWN_A_MINUTE = 60 // for an address whose requests come without a valid session

/** Whoever is signed in. */
export type Caller = {
  id: string
  name: string
  email: string
  role: Role
  publisherId: number | null
  /** Null for a program with a token. */
  sessionId: string | null
  /** Cookies for a session that was prolonged by this request. */
  renewed: string[]
}

export type ManagedApp = { appId: number; publisherId: number }

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
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
  findByToken: (token: string) => Promise<Caller | null>
  findBySession: (request: FastifyRequest) => Promise<Caller | null>
  findApp: (appId: number) => Promise<ManagedApp | null>
}

/** Puts the checks in front of every route that is added to `manage` from now on. */
export function guardManage(manage: FastifyInstance, options: ManageGateOptions): void {
  const { publicUrl, limiter, findByToken, findBySession, findApp } = options

  async function identify(request: FastifyRequest): Promise<Caller | null> {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (token !== undefined) return findByToken(token)
    // A page of another site could make a browser send the cookie along; it cannot make it say our Origin.
    if (isWrite(request) && request.headers.origin !== publicUrl)
      throw new AppError('NOT_ALLOWED', `Requests that change something must come from the pages of ${publicUrl}.`)
    return findBySession(request)
  }

  async function count(request: FastifyRequest, caller: Caller | null): Promise<void> {
    const allowance =
      caller === null
        ? await limiter.take(`manage ${addressOf(request)}`, UNKNOWN_A_MINUTE)
        : await limiter.take(`manage ${caller.id}`, A_MINUTE)
    request.allowance = allowance
    if (allowance.exceeded) throw new AppError('RATE_LIMIT_EXCEEDED', 'Too many requests. Wait a minute and try again.')
  }

  async function reach(request: FastifyRequest, caller: Caller): Promise<void> {
    const { app_id, publisher_id } = request.params as Record<string, string | undefined>
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
  }

  manage.addHook('onRoute', (route) => {
    const { properties = {} } = (route.schema?.querystring ?? {}) as { properties?: object }
    const parseQuery = createQueryParser(Object.keys(properties))
    const access = route.config?.access
    if (access === undefined) throw new Error(`${route.url} does not say who may use it.`)
    route.onRequest = async (request) => {
      request.query = parseQuery(request.query as string)
      const caller = await identify(request)
      await count(request, caller)
      request.caller = caller
      if (access === 'anyone') return
      if (caller === null)
        throw new AppError('NOT_SIGNED_IN', 'Sign in first, or send a valid token as Authorization: Bearer.')
      if (access === 'session' && caller.sessionId === null)
        throw new AppError('NOT_ALLOWED', 'A token may not do that: sign in to the dashboard.')
      const isOperator = isOperatorRole(caller.role)
      if (access === 'operator' && !isOperator) throw notThere()
      await reach(request, caller)
      if (access === 'owner' && caller.role === 'publisher_member')
        throw new AppError('NOT_ALLOWED', 'Only an owner of this publisher may do that. Ask one of them.')
      if (caller.role === 'operator_reader' && access !== 'person' && access !== 'session' && isWrite(request))
        throw new AppError('NOT_ALLOWED', 'Your account may look at everything and change nothing.')
    }
  })
}

const isWrite = ({ method }: FastifyRequest) => method !== 'GET' && method !== 'HEAD'
const isId = (text: string) => /^\d{1,15}$/.test(text)

const mayReach = ({ role, publisherId }: Caller, wanted: number) => isOperatorRole(role) || publisherId === wanted

/** The same for what does not exist and for what is somebody else's. */
export const notThere = (what = 'There is nothing here, or it is not yours.') =>
  new AppError('RESOURCE_NOT_FOUND', what)
