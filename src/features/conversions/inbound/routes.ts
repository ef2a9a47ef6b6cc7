// Where advertisers send confirmations: /postback, by GET or POST, as a query, a form or JSON.
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { BatchWriter } from '../../../db/batch-writer.ts'
import { isUnavailable, isRowError } from '../../../db/pg-errors.ts'
import type { Db } from '../../../db/open.ts'
import { asciiJson } from '../../../lib/ascii-json.ts'
import { plainAddress } from '../../../lib/ip-address.ts'
import { hasValidChecksum } from '../../../lib/tokens.ts'
import { uuid7, uuid7Time } from '../../../lib/uuid7.ts'
import { compressionOf } from '../../../http/compression.ts'
import { addressOf } from '../../../http/gate.ts'
import type { RateLimiter } from '../../../http/rate-limit.ts'
import { callOfRequest } from '../../../http/request-ids.ts'
import { jsonReply } from '../../../http/openapi.ts'
import { oneOf, shape } from '../../../http/shape.ts'
import { findAdvertisersByTokens, type TokenSearch } from '../../accounts/advertisers.ts'
import { isSigned } from '../../accounts/call-signature.ts'
import { STATUSES as CONVERSION_STATUSES } from '../conversions.ts'
import { isAllowedFrom } from './allowed-addresses.ts'
import { keepRefusedCall } from './calls.ts'
import type { CallOutcome, InboundCall } from './inbound-call.ts'
import { type CallResult as Answer, confirmCall, type ApplyCommand, TOO_MANY } from './confirm.ts'
import { createCallLimits, KEPT_OF_STRANGER } from './limits.ts'
import { maskToken } from './mask-token.ts'
import { WaitingRoom } from './open-calls.ts'
import { COMPRESSED, compressedBody, MAX_TEXT, parseCall, type RawParameters, TOO_LONG } from './parameters.ts'
import { RepeatedCalls } from './repeated-calls.ts'

export type InboundRoutesOptions = {
  db: Db
  applyCommand: ApplyCommand
  hashToken: (token: string) => readonly string[]
  secretKey: string
  publicUrl: string
  limiter: RateLimiter
  countryOf: (ip: string) => string | null
}

type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  inboundId: string
  receivedAt: Date
  query: string
  body: string
  /** Why the body was not read, if so. */
  unread: 'too_long' | 'compressed' | null
  raw: RawParameters | null
  asText: boolean
}
type Body = Pick<Arrival, 'body' | 'unread'>

const Outcome = shape('ConfirmationOutcome', {
  outcome: oneOf([...CONVERSION_STATUSES, 'duplicate', 'ignored', 'unmatched', 'invalid', 'refused']),
  reason: Type.Union([Type.String(), Type.Null()]),
  conversion_id: Type.Union([Type.String(), Type.Null()]),
  message: Type.String(),
})

const STATUSES: Partial<Record<CallOutcome['outcome'], number>> = { unmatched: 202, invalid: 400, refused: 401 }

export async function inboundRoutes(server: FastifyInstance, options: InboundRoutesOptions): Promise<void> {
  const { db, applyCommand, hashToken, countryOf, secretKey, publicUrl } = options
  const limits = createCallLimits(options.limiter)
  const bounds = { ...limits, room: new WaitingRoom(db), repeats: new RepeatedCalls() }
  const owners = createOwnerSearch(db)

  await server.register(async (scope) => {
    // Read as text whatever its content type, even an invalid one: the log stores what was sent.
    scope.removeAllContentTypeParsers()
    scope.addHook('onRequest', (request, _reply, done) => {
      request.headers['content-type'] = 'text/plain'
      done()
    })
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') throw error
      return receive(request, reply, { body: '', unread: 'too_long' })
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
          'Accepts click_id, goal, txn_id, amount, status and token as query, form or JSON. Returns the actual outcome once it is recorded; with format=text, as one word.',
        tags: ['Advertisers'],
        security: [],
        response: {
          200: jsonReply('The outcome.', Outcome),
          202: jsonReply('Unknown click; the callback is retried for three days.', Outcome),
          400: jsonReply('Something is missing or wrong.', Outcome),
          401: jsonReply('The token is wrong, or has expired.', Outcome),
          403: jsonReply('The IP address is not allowed.', Outcome),
          413: jsonReply('The body is too large.', Outcome),
          415: jsonReply('The body is compressed.', Outcome),
          429: jsonReply(
            'Too many callbacks that cannot be processed. This one was not stored: retry it later.',
            Outcome,
          ),
          503: jsonReply('We could not record this right now. Retry the callback: repeating it is safe.', Outcome),
        },
      },
      handler: (request: FastifyRequest, reply: FastifyReply) => receive(request, reply, bodyOf(request)),
    })
    scope.route(route('GET', 'confirmConversion'))
    scope.route(route('POST', 'confirmConversionByPost'))
  })

  async function receive(request: FastifyRequest, reply: FastifyReply, { body, unread }: Body): Promise<FastifyReply> {
    const query = String(request.query ?? '')
    const raw = (unread === null ? parseCall({ query, body }) : null) ?? parseCall({ query, body: '' })
    const asText = raw?.get('format')?.[0] === 'text'
    const inboundId = callOfRequest(request.id) ?? uuid7(Date.now())
    const receivedAt = new Date(uuid7Time(inboundId))
    try {
      return await admit({ request, reply, inboundId, receivedAt, query, body, unread, raw, asText })
    } catch (error) {
      if (!isUnavailable(error)) throw error
      reply.header('Retry-After', '30')
      const message = 'We could not record this right now. Retry the callback: repeating it is safe.'
      return answer(
        reply,
        503,
        { outcome: 'invalid', reason: null, conversionId: null, message },
        asText ? 'error' : null,
      )
    }
  }

  async function admit(arrival: Arrival): Promise<FastifyReply> {
    const { request, reply, receivedAt, unread, raw, asText } = arrival
    const [token = '', ...others] = new Set(raw?.get('token'))
    const isToken = others.length === 0 && hasValidChecksum(token) // an empty token need not be looked up
    const advertiser = isToken ? await owners.add({ hashes: hashToken(token), now: receivedAt }) : null
    if (advertiser === null) return refuseStranger(arrival, unread ?? 'wrong_token')
    const call = { ...callIn(arrival, MAX_TEXT), advertiserId: advertiser.advertiserId }
    if (advertiser.isExpired) return refuse(arrival, call, advertiser, 'expired_token')
    if (!isAllowedFrom(advertiser.allowedIps, request.ip)) return refuse(arrival, call, advertiser, 'wrong_address')
    const sent = { url: `${publicUrl}${request.raw.url ?? ''}`, parameters: raw ?? new Map<string, string[]>(), headers: request.headers } // prettier-ignore
    if (advertiser.signed !== null && !isSigned(secretKey, advertiser.advertiserId, advertiser.signed, sent)) return refuse(arrival, call, advertiser, 'wrong_signature') // prettier-ignore
    const result = await confirmCall(db, call, advertiser, { applyCommand, countryOf }, bounds)
    if (result.reason === 'too_many') return turnAway(arrival, result)
    const status = unread === null ? (STATUSES[result.outcome] ?? 200) : REFUSALS[unread].status
    return answer(reply, status, result, asText ? result.outcome : null)
  }

  /** A call with an invalid token is stored in short, and only so often: anyone can send it. */
  async function refuseStranger(arrival: Arrival, reason: keyof typeof REFUSALS): Promise<FastifyReply> {
    const address = addressOf(arrival.request)
    const { exceeded, resetAtMs } = await limits.countRefusal(address)
    if (exceeded) return turnAway(arrival, TOO_MANY_REFUSALS, resetAtMs - Date.now())
    if (await limits.mayKeepStrangers(address))
      await keepRefusedCall(db, callIn(arrival, KEPT_OF_STRANGER), null, refusalOf(reason), arrival.receivedAt)
    return sendRefusal(arrival, reason)
  }

  /** A call of an advertiser is stored: the mistake is the operator's or the advertiser's, and can be fixed. */
  async function refuse(
    arrival: Arrival,
    call: InboundCall,
    advertiser: Owner,
    reason: keyof typeof REFUSALS,
  ): Promise<FastifyReply> {
    if (!(await limits.mayKeep(call, reason))) return turnAway(arrival, TOO_MANY)
    await keepRefusedCall(db, call, advertiser, refusalOf(reason), call.receivedAt)
    return sendRefusal(arrival, reason)
  }
}

/**
 * What the log stores of it, up to so many characters of query and body. Built only where it is stored: masking is
 * costly.
 */
function callIn({ request, inboundId, receivedAt, query, body, unread }: Arrival, maxText: number): InboundCall {
  return {
    inboundId,
    receivedAt,
    advertiserId: null,
    method: request.method,
    query: keepable(query, maxText),
    body: keepable(body, maxText),
    isCut: unread !== null || Math.max(query.length, body.length) > maxText,
    ip: plainAddress(request.ip),
    clickId: null,
    attempts: 1,
    before: null,
  }
}

/** A compressed body is neither unpacked nor read as text: the query alone may be half of what is meant. */
function bodyOf({ body, headers }: FastifyRequest): Body {
  if (typeof body !== 'string') return { body: '', unread: null }
  const coding = compressionOf(headers)
  // Declared as compressed, but sent as plain text: read as such.
  if (coding === null || !NO_TEXT.test(body)) return { body, unread: null }
  return { body: compressedBody(coding), unread: 'compressed' }
}

/** Control characters except white space, or U+FFFD, which replaces bytes that are not UTF-8. */
const NO_TEXT = /[^\P{Cc}\s]|\ufffd/u

type Owner = Awaited<ReturnType<typeof findAdvertisersByTokens>>[number]

/** One look-up at a time for all concurrent calls: a flood of unknown tokens takes no connections from others. */
const createOwnerSearch = (db: Db) =>
  new BatchWriter<TokenSearch, Owner>((searches) => findAdvertisersByTokens(db, searches), isRowError)

const refusalOf = (reason: keyof typeof REFUSALS) => ({ outcome: 'refused', reason, conversionId: null }) as const

const REFUSALS = {
  too_long: { status: 413, message: TOO_LONG },
  compressed: { status: 415, message: COMPRESSED },
  wrong_token: { status: 401, message: 'The token is missing or wrong. It was shown when the advertiser was created.' },
  expired_token: { status: 401, message: 'This token has expired. Resend the callback with the token that replaced it.' }, // prettier-ignore
  wrong_signature: { status: 401, message: 'The signature is missing or wrong.' },
  wrong_address: { status: 403, message: "This IP address is not on the advertiser's IP allowlist." },
}
const TOO_MANY_REFUSALS: Answer = {
  outcome: 'refused',
  reason: 'too_many',
  conversionId: null,
  message: 'Too many callbacks from this IP address were refused. Try again in a minute.',
}
const WINDOW_MS = 60_000

function sendRefusal({ reply, asText }: Arrival, reason: keyof typeof REFUSALS): FastifyReply {
  const { status, message } = REFUSALS[reason]
  return answer(reply, status, { ...refusalOf(reason), message }, asText ? 'refused' : null)
}

/** Nothing was stored: the caller has to retry. */
function turnAway({ reply, asText }: Arrival, result: Answer, waitMs = WINDOW_MS): FastifyReply {
  reply.header('Retry-After', Math.max(1, Math.ceil(waitMs / 1000)))
  return answer(reply, 429, result, asText ? 'refused' : null)
}

/** As JSON, or as one word where the caller asks for that. */
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

/** Without its token and characters a database cannot store; truncated if too long. */
const keepable = (text: string, maxText: number): string =>
  maskToken(text.slice(0, maxText)).replaceAll('\0', '\ufffd').toWellFormed()
