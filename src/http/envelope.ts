// Every answer of the API: the envelope around it and how it goes onto the wire.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Details, type ErrorCode, MANAGE_ERRORS } from '../errors.ts'
import { asciiJson } from '../lib/ascii-json.ts'
import type { Allowance } from './rate-limit.ts'

/** What the client may store: its own copy, asking each time whether it is still good. */
const CACHE_CONTROL = 'private, no-cache'

export const STRICT_POLICY = "default-src 'none'; frame-ancestors 'none'"

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that was sent, or null. */
    error: { code: ErrorCode; message: string; details: Details | null } | null
    /** Called with every response; it must cost next to nothing. Fastify does not add it to requests with a broken URL. */
    noteResponse?: (request: FastifyRequest, status: number) => void
  }
}

/** The end of every envelope. It stands last, so that what is before it can be prepared once and sent many times. */
export function metaJson(request: FastifyRequest, nowMs: number): string {
  return `"meta":{"timestamp":${Math.floor(nowMs / 1000)},"request_id":"${request.id}"}}`
}

export function successJson(request: FastifyRequest, data: unknown, message: string): string {
  return `{"success":true,"data":${asciiJson(data)},"message":${asciiJson(message)},${metaJson(request, Date.now())}`
}

export function errorJson(requestId: string, code: ErrorCode, message: string, details: Details | null): string {
  const meta = { timestamp: Math.floor(Date.now() / 1000), request_id: requestId }
  return asciiJson({ success: false, error: { code, message, details }, meta })
}

/** Sends ASCII JSON in one piece, past Fastify's own serialisation: this is the hot end of the hot path. */
export function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  body: string,
  more: string[] = [],
): void {
  const headers = commonHeaders(request, more)
  headers.push('Content-Type', 'application/json', 'Content-Length', String(body.length))
  reply.hijack()
  reply.raw.writeHead(status, headers)
  if (request.method === 'HEAD') reply.raw.end()
  else reply.raw.end(body, 'latin1')
  request.noteResponse?.(request, status)
}

/** Tells the client that its cached response is still valid. */
export function sendNotModified(request: FastifyRequest, reply: FastifyReply, more: string[]): void {
  reply.hijack()
  reply.raw.writeHead(304, commonHeaders(request, more))
  reply.raw.end()
  request.noteResponse?.(request, 304)
}

export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  message: string,
  details: Details | null = null,
  more: string[] = [],
): void {
  request.error = { code, message, details }
  sendJson(request, reply, MANAGE_ERRORS[code], errorJson(request.id, code, message, details), more)
}

/** Names and values in turn, the form that Node writes fastest. */
function commonHeaders(request: FastifyRequest, more: readonly string[]): string[] {
  const headers = [
    'Cache-Control', CACHE_CONTROL,
    'X-Request-Id', request.id,
    'X-Content-Type-Options', 'nosniff',
    'Content-Security-Policy', STRICT_POLICY,
    'Referrer-Policy', 'no-referrer',
    'Cross-Origin-Resource-Policy', 'same-origin',
  ] // prettier-ignore
  for (let i = 0; i < more.length; i++) headers.push(more[i] as string)
  if (isHttps(request)) headers.push(...STAY_HTTPS)
  if (request.allowance) pushAllowance(headers, request.allowance)
  return headers
}

/** For browsers that came by HTTPS: to come by nothing else. Name and value. */
export const STAY_HTTPS = ['Strict-Transport-Security', 'max-age=31536000'] as const

/** The same, for answers whose headers are an object. */
export const stayHttps = (request: FastifyRequest) => (isHttps(request) ? Object.fromEntries([STAY_HTTPS]) : {})

/** Whether the client came by HTTPS, to us or to a proxy that may say so. */
export function isHttps({ protocol }: FastifyRequest): boolean {
  return protocol !== 'http' && protocol.toLowerCase() === 'https'
}

function pushAllowance(headers: string[], { limit, remaining, resetAtMs }: Allowance): void {
  headers.push('X-RateLimit-Limit', String(limit), 'X-RateLimit-Remaining', String(remaining))
  headers.push('X-RateLimit-Reset', String(Math.ceil(resetAtMs / 1000)))
}

/** An answer to what is not even HTTP, written straight to the socket. */
export function rawBadRequest(requestId: string, code: string, allowance: Allowance): string {
  const body = errorJson(requestId, 'INVALID_REQUEST', rawProblem(code), null)
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length), 'X-Request-Id', requestId]
  pushAllowance(headers, allowance)
  const lines = headers.map((item, i) => (i % 2 === 0 ? `${item}: ` : `${item}\r\n`)).join('')
  return `HTTP/1.1 400 Bad Request\r\n${lines}Connection: close\r\n\r\n${body}`
}

function rawProblem(code: string): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request took too long to arrive.'
  if (code === 'HPE_HEADER_OVERFLOW') return 'URL and headers together must be smaller than 16 KiB.'
  return 'The request could not be read as HTTP. Non-ASCII characters in the URL must be percent-encoded.'
}
