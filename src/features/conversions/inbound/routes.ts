// Where advertisers confirm: /postback, by GET or POST, as a query, a form or JSON.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { Type } from 'typebox'
import { isAway } from '../../../db/faults.ts'
import type { Db } from '../../../db/open.ts'
import { asciiJson } from '../../../lib/ascii-json.ts'
import { plainAddress } from '../../../lib/ip-address.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import { addressOf } from '../../../http/gate.ts'
import type { RateLimiter } from '../../../http/rate-limit.ts'
import { findAdvertiserByToken } from '../../accounts/advertisers.ts'
import { oneOf } from '../../offers/schema.ts'
import { STATUSES as CONVERSION_STATUSES } from '../conversions.ts'
import { type CallOutcome, type InboundCall, keepRefusedCall } from './calls.ts'
import { confirmCall, type Settle } from './confirm.ts'
import { maskToken, MAX_TEXT, parseCall, type RawParameters, TOO_LONG } from './parameters.ts'

const REFUSALS_A_MINUTE = 100

export type InboundRoutesOptions = {
  db: Db
  settle: Settle
  hashToken: (token: string) => string
  limiter: RateLimiter
  countryOf: (ip: string) => string | null
}

type Answer = CallOutcome & { message: string }

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
  const { db, settle, hashToken, limiter, countryOf } = options

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
          401: outcomeReply('The token is wrong.'),
          403: outcomeReply('Not from this address.'),
          413: outcomeReply('The body is too large.'),
          429: outcomeReply('Too many calls with wrong tokens.'),
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
    const advertiser = await findAdvertiserByToken(db, hashToken(others.length === 0 ? token : ''), call.receivedAt)
    if (advertiser === null) return refuse(arrival, wasRead ? 'wrong_token' : 'too_long')
    if (!isAllowed(advertiser.allowedIps, request.ip)) return refuse(arrival, 'wrong_address')
    const result = await confirmCall(db, { ...call, advertiserId: advertiser.advertiserId }, advertiser, {
      settle,
      countryOf,
    })
    const status = wasRead ? (STATUSES[result.outcome] ?? 200) : 413
    return answer(reply, status, result, asText ? result.outcome : null)
  }

  /** What is refused is written down, but only so often: anybody can send it. */
  async function refuse(
    { request, reply, call, asText }: Arrival,
    fault: keyof typeof REFUSALS,
  ): Promise<FastifyReply> {
    const { exceeded, resetAtMs } = await limiter.take(`postback:${addressOf(request)}`, REFUSALS_A_MINUTE)
    const reason = exceeded ? 'too_many' : fault
    const { status, message } = REFUSALS[reason]
    const result = { outcome: 'refused', reason, conversionId: null } as const
    if (exceeded) reply.header('Retry-After', Math.max(1, Math.ceil((resetAtMs - Date.now()) / 1000)))
    else await keepRefusedCall(db, call, result, call.receivedAt)
    return answer(reply, status, { ...result, message }, asText ? 'refused' : null)
  }
}

const REFUSALS = {
  too_long: { status: 413, message: TOO_LONG },
  wrong_token: { status: 401, message: 'The token is missing or wrong. It was shown when the advertiser was made.' },
  wrong_address: { status: 403, message: 'This address is not on the list of addresses of this advertiser.' },
  too_many: { status: 429, message: 'Too many calls were refused from this address. Try again in a minute.' },
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

function isAllowed(allowed: readonly string[], ip: string): boolean {
  if (allowed.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return allowed.some((text) => {
    const [range, bits] = ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : [ipaddr.process(text), null]
    if (range.kind() !== address.kind()) return false
    return bits === null
      ? address.toString() === range.toString()
      : address.match([range, bits] as [ipaddr.IPv4, number])
  })
}
