// Where advertisers confirm: /postback, by GET or POST, as a query, a form or JSON.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { isAway } from '../../../db/faults.ts'
import type { Db } from '../../../db/open.ts'
import { asciiJson } from '../../../lib/ascii-json.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import { addressOf } from '../../../http/gate.ts'
import type { RateLimiter } from '../../../http/rate-limit.ts'
import { findAdvertiserByToken } from '../../accounts/advertisers.ts'
import { type CallOutcome, type InboundCall, keepRefusedCall } from './calls.ts'
import { confirmCall, type Settle } from './confirm.ts'
import { maskToken, parseCall, type RawParameters } from './parameters.ts'

const REFUSALS_A_MINUTE = 100
const MAX_KEPT = 8_192

export type PostbackRoutesOptions = {
  db: Db
  settle: Settle
  hashToken: (token: string) => string
  limiter: RateLimiter
  countryOf: (ip: string) => string | null
}

type Answer = CallOutcome & { message: string }

const STATUSES: Partial<Record<CallOutcome['outcome'], number>> = { unmatched: 202, invalid: 400, refused: 401 }

export async function postbackRoutes(server: FastifyInstance, options: PostbackRoutesOptions): Promise<void> {
  const { db, settle, hashToken, limiter, countryOf } = options

  await server.register(async (scope) => {
    // Read as text whatever it is called: the log keeps what came.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.route({
      method: ['GET', 'POST'],
      url: '/postback',
      exposeHeadRoute: false,
      schema: {
        operationId: 'confirmConversion',
        summary: 'Confirm a conversion, as an advertiser',
        description:
          'Takes click_id, goal, txn_id, amount, status and token, as query, form or JSON. Answers with the real outcome, after it is recorded; with format=text as one word.',
        tags: ['Advertisers'],
        security: [],
        response: {
          200: { type: 'object', description: 'The outcome.', additionalProperties: true },
          202: {
            type: 'object',
            description: 'No such click is known yet; tried again for three days.',
            additionalProperties: true,
          },
          400: { type: 'object', description: 'Something is missing or wrong.', additionalProperties: true },
          401: { type: 'object', description: 'The token is wrong.', additionalProperties: true },
          403: { type: 'object', description: 'Not from this address.', additionalProperties: true },
          429: { type: 'object', description: 'Too many calls with wrong tokens.', additionalProperties: true },
          503: { type: 'object', description: 'Nothing was recorded. Try again.', additionalProperties: true },
        },
      },
      handler: receive,
    })
  })

  async function receive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const now = new Date()
    const query = String(request.query ?? '')
    const body = typeof request.body === 'string' ? request.body : ''
    const raw = parseCall({ query, body }) ?? parseCall({ query, body: '' })
    const call: InboundCall = {
      inboundId: uuid7(now.getTime()),
      receivedAt: now,
      advertiserId: null,
      method: request.method,
      query: keepable(query),
      body: keepable(body),
      ip: ipaddr.isValid(request.ip) ? request.ip : null,
      clickId: null,
      attempts: 1,
    }
    const asText = raw?.get('format')?.[0] === 'text'
    try {
      return await admit(request, reply, call, raw, asText)
    } catch (error) {
      if (!isAway(error)) throw error
      reply.header('Retry-After', '30')
      return answer(
        reply,
        503,
        { outcome: 'invalid', reason: null, conversionId: null, message: 'Nothing was recorded. Try again.' },
        asText ? 'error' : null,
      )
    }
  }

  async function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    call: InboundCall,
    raw: RawParameters | null,
    asText: boolean,
  ): Promise<FastifyReply> {
    const [token = ''] = raw?.get('token') ?? []
    const advertiser = await findAdvertiserByToken(db, hashToken(token), call.receivedAt)
    const fault =
      advertiser === null ? 'wrong_token' : isAllowed(advertiser.allowedIps, request.ip) ? null : 'wrong_address'
    if (advertiser === null || fault !== null) {
      const status = fault === 'wrong_token' ? 401 : 403
      const message =
        fault === 'wrong_token'
          ? 'The token is missing or wrong. It was shown when the advertiser was made.'
          : 'This address is not on the list of addresses of this advertiser.'
      const allowance = await limiter.take(`postback:${addressOf(request)}`, REFUSALS_A_MINUTE)
      if (allowance.exceeded)
        return answer(
          reply,
          429,
          refused('too_many', 'Too many calls were refused from this address. Try again in a minute.'),
          asText ? 'refused' : null,
        )
      await keepRefusedCall(db, call, refused(fault, message), call.receivedAt)
      return answer(reply, status, refused(fault, message), asText ? 'refused' : null)
    }
    const result = await confirmCall(db, { ...call, advertiserId: advertiser.advertiserId }, advertiser, {
      settle,
      countryOf,
    })
    return answer(reply, STATUSES[result.outcome] ?? 200, result, asText ? result.outcome : null)
  }
}

const refused = (reason: string | null, message: string): Answer => ({
  outcome: 'refused',
  reason,
  conversionId: null,
  message,
})

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

/** Without its token, without what a database cannot keep, and not longer than is useful. */
function keepable(text: string): string {
  return maskToken(text).replaceAll('\0', '').toWellFormed().slice(0, MAX_KEPT).toWellFormed()
}

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
