// Where advertisers confirm: /postback, by GET or POST, as a query, a form or JSON.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isAway } from '../../../db/faults.ts'
import type { Db } from '../../../db/open.ts'
import { asciiJson } from '../../../lib/ascii-json.ts'
import { plainAddress } from '../../../lib/ip-address.ts'
import { hasValidChecksum } from '../../../lib/tokens.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import { addressOf } from '../../../http/gate.ts'
import type { RateLimiter } from '../../../http/rate-limit.ts'
import { findAdvertiserByToken } from '../../accounts/advertisers.ts'
import { oneOf } from '../../offers/schema.ts'
import { STATUSES as CONVERSION_STATUSES } from '../conversions.ts'
import { isAllowedFrom } from './allowed-addresses.ts'
import { type CallOutcome, type InboundCall, keepRefusedCall } from './calls.ts'
import { type CallResult as Answer, confirmCall, type Settle, TOO_MANY } from './confirm.ts'
import { createCallLimits } from './limits.ts'
import { WaitingRoom } from './open-calls.ts'
import { maskToken, MAX_TEXT, parseCall, type RawParameters, TOO_LONG } from './parameters.ts'

export type InboundRoutesOptions = {
  db: Db
  settle: Settle
  hashToken: (token: string) => readonly string[]
  limiter: RateLimiter
  countryOf: (ip: string) => string | null
}

type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  call: InboundCall
  raw: RawParameters | null
  asText: boolean
  /** Its body was short enough to be read. */
  wasRead: boolean
}

const outcomeReply = (description: string) =>
  Type.Object(
    {
      outcome: oneOf([...CONVERSION_STATUSES, 'duplicate', 'unmatched', 'invalid', 'refused']),
      reason: Type.Union([Type.String(), Type.Null()]),
      conversion_id: Type.Union([Type.String(), Type.Null()]),
      message: Type.String(),
    },
    { description },
  )

const STATUSES: Partial<Record<CallOutcome['outcome'], number>> = { unmatched: 202, invalid: 400, refused: 401 }

export async function inboundRoutes(server: FastifyInstance, options: InboundRoutesOptions): Promise<void> {
  const { db, settle, hashToken, countryOf } = options
  const limits = createCallLimits(options.limiter)
  const room = new WaitingRoom(db)

  await server.register(async (scope) => {
    // Read as text whatever it is called, also by a name that is none: the log keeps what came.
    scope.removeAllContentTypeParsers()
    scope.addHook('onRequest', (request, _reply, done) => {
      request.headers['content-type'] = 'text/plain'
      done()
    })
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error
      return receive(request, reply, null)
    })
    const route = (method: 'GET' | 'POST', operationId: string) => ({
      method,
      url: '/postback',
      exposeHeadRoute: false,
      bodyLimit: MAX_TEXT,
      schema: {
        operationId,
        summary: 'Confirm a conversion, as an advertiser',
        description:
          'Takes click_id, goal, txn_id, amount, status and token, as query, form or JSON. Answers with the real outcome, after it is recorded; with format=text as one word.',
        tags: ['Advertisers'],
        security: [],
        response: {
          200: outcomeReply('The outcome.'),
          202: outcomeReply('No such click is known yet; tried again for three days.'),
          400: outcomeReply('Something is missing or wrong.'),
          401: outcomeReply('The token is wrong, or has expired.'),
          403: outcomeReply('Not from this address.'),
          413: outcomeReply('The body is too large.'),
          429: outcomeReply('Too many calls that cannot be processed. This one was not kept: send it again later.'),
          503: outcomeReply('We could not record this just now. Call again: repeating it is safe.'),
        },
      },
      handler: (request: FastifyRequest, reply: FastifyReply) =>
        receive(request, reply, typeof request.body === 'string' ? request.body : ''),
    })
    scope.route(route('GET', 'confirmConversion'))
    scope.route(route('POST', 'confirmConversionByPost'))
  })

  /** A body that is too long is not read: it comes as null. */
  async function receive(request: FastifyRequest, reply: FastifyReply, body: string | null): Promise<FastifyReply> {
    const now = new Date()
    const query = String(request.query ?? '')
    const raw = parseCall({ query, body: body ?? '' }) ?? parseCall({ query, body: '' })
    const call: InboundCall = {
      inboundId: uuid7(now.getTime()),
      receivedAt: now,
      advertiserId: null,
      method: request.method,
      query: keepable(query),
      body: keepable(body ?? ''),
      isCut: body === null || query.length > MAX_TEXT,
      ip: plainAddress(request.ip),
      clickId: null,
      attempts: 1,
      before: null,
    }
    const asText = raw?.get('format')?.[0] === 'text'
    const arrival: Arrival = { request, reply, call, raw, asText, wasRead: body !== null }
    try {
      return await admit(arrival)
    } catch (error) {
      if (!isAway(error)) throw error
      reply.header('Retry-After', '30')
      const message = 'We could not record this just now. Call again: repeating it is safe.'
      return answer(
        reply,
        503,
        { outcome: 'invalid', reason: null, conversionId: null, message },
        asText ? 'error' : null,
      )
    }
  }

  async function admit(arrival: Arrival): Promise<FastifyReply> {
    const { request, reply, call, raw, asText, wasRead } = arrival
    const [token = '', ...others] = new Set(raw?.get('token'))
    const isToken = others.length === 0 && hasValidChecksum(token) // what is none need not be looked for
    const advertiser = isToken ? await findAdvertiserByToken(db, hashToken(token), call.receivedAt) : null
    if (advertiser === null) return refuseStranger(arrival, wasRead ? 'wrong_token' : 'too_long')
    const known = { ...call, advertiserId: advertiser.advertiserId }
    if (advertiser.isExpired) return refuse(arrival, known, 'expired_token')
    if (!isAllowedFrom(advertiser.allowedIps, request.ip)) return refuse(arrival, known, 'wrong_address')
    const result = await confirmCall(db, known, advertiser, { settle, countryOf }, { room, mayKeep: limits.mayKeep })
    if (result.reason === 'too_many') return turnAway(arrival, result)
    const status = wasRead ? (STATUSES[result.outcome] ?? 200) : 413
    return answer(reply, status, result, asText ? result.outcome : null)
  }

  /** A call with a wrong token is written down, but only so often: anybody can send it. */
  async function refuseStranger(arrival: Arrival, reason: keyof typeof REFUSALS): Promise<FastifyReply> {
    const { request, call } = arrival
    const address = addressOf(request)
    const { exceeded, resetAtMs } = await limits.countRefusal(address)
    if (exceeded) return turnAway(arrival, TOO_MANY_REFUSALS, resetAtMs - Date.now())
    const kept = await limits.shorten(call, address)
    if (kept !== null) await keepRefusedCall(db, kept, refusalOf(reason), call.receivedAt)
    return sendRefusal(arrival, reason)
  }

  /** A call of an advertiser is kept: it is the operator's mistake, or the advertiser's, and worth something. */
  async function refuse(arrival: Arrival, known: InboundCall, reason: keyof typeof REFUSALS): Promise<FastifyReply> {
    if (!(await limits.mayKeep(known, reason))) return turnAway(arrival, TOO_MANY)
    await keepRefusedCall(db, known, refusalOf(reason), known.receivedAt)
    return sendRefusal(arrival, reason)
  }
}

const refusalOf = (reason: keyof typeof REFUSALS) => ({ outcome: 'refused', reason, conversionId: null }) as const

const REFUSALS = {
  too_long: { status: 413, message: TOO_LONG },
  wrong_token: { status: 401, message: 'The token is missing or wrong. It was shown when the advertiser was made.' },
  expired_token: { status: 401, message: 'This token has expired. Use the one that replaced it, and send the call again.' }, // prettier-ignore
  wrong_address: { status: 403, message: 'This address is not on the list of addresses of this advertiser.' },
}
const TOO_MANY_REFUSALS: Answer = {
  outcome: 'refused',
  reason: 'too_many',
  conversionId: null,
  message: 'Too many calls were refused from this address. Try again in a minute.',
}
const WINDOW_MS = 60_000

function sendRefusal({ reply, asText }: Arrival, reason: keyof typeof REFUSALS): FastifyReply {
  const { status, message } = REFUSALS[reason]
  return answer(reply, status, { ...refusalOf(reason), message }, asText ? 'refused' : null)
}

/** Nothing was kept: whoever means it sends it again. */
function turnAway({ reply, asText }: Arrival, result: Answer, waitMs = WINDOW_MS): FastifyReply {
  reply.header('Retry-After', Math.max(1, Math.ceil(waitMs / 1000)))
  return answer(reply, 429, result, asText ? 'refused' : null)
}

/** As JSON, or as one word for those who ask for that. */
function answer(
  reply: FastifyReply,
  status: number,
  { outcome, reason, conversionId, message }: Answer,
  word: string | null,
): FastifyReply {
  reply.code(status).header('Cache-Control', 'no-store')
  if (word !== null) return reply.type('text/plain; charset=utf-8').send(word)
  return reply
    .type('application/json')
    .serializer((text: string) => text)
    .send(asciiJson({ outcome, reason, conversion_id: conversionId, message }))
}

/** Without its token and without what a database cannot keep; what is too long, cut. */
const keepable = (text: string): string => maskToken(text.slice(0, MAX_TEXT)).replaceAll('\0', '\ufffd').toWellFormed()
