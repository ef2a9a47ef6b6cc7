// Talking to the management API. A path, its method, its query, its body and what comes back cannot disagree: see
// operations.ts.
import { meetChallenge } from './challenge.ts'
import type { Body, Method, Path, Query, Reply } from './operations.ts'

export type Details = Record<string, string>

/** What the server, or the way to it, said no with: in words for the person at the page. */
export class ApiError extends Error {
  readonly code: string
  readonly details: Details
  readonly status: number

  constructor(status: number, code: string, message: string, details: Details = {}) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

type Envelope = { success: boolean; data?: unknown; error?: { code: string; message: string; details: Details | null } }

const PREFIX = '/manage/v1'
const SIGN_IN = ['/session', '/session/two-factor']
const OFFLINE = 'The server cannot be reached. Check your connection. This page retries automatically.'
const NOT_ANSWERED = 'The server did not respond. Your input is still here: check your connection and try again.'

export async function request<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal)
  const envelope = (await response.json().catch(() => null)) as Envelope | null
  if (envelope?.success === true) return envelope.data as T
  if (await mayRepeat(path, envelope)) return request<T>(method, path, body, signal)
  throw errorOf(response, envelope)
}

const send = (method: string, path: string, body?: unknown, signal?: AbortSignal) =>
  fetch(PREFIX + path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials: 'same-origin',
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'OFFLINE', method === 'GET' ? OFFLINE : NOT_ANSWERED)
  })

async function mayRepeat(path: string, envelope: Envelope | null): Promise<boolean> {
  return !SIGN_IN.includes(path) && meetChallenge(envelope?.error?.code ?? '')
}

function errorOf(response: Response, envelope: Envelope | null): ApiError {
  const { code = 'SERVER_ERROR', message = 'Something went wrong. Try again shortly.', details } = envelope?.error ?? {}
  return new ApiError(response.status, code, message, details ?? {})
}

/** A file that a request with a body answers with. */
export const postForFile = <const P extends Path<'POST'>>(path: P, body: Body<'POST', P>) => requestFile(path, body)

async function requestFile(path: string, body: unknown): Promise<Blob> {
  const response = await send('POST', path, body)
  if (response.ok) return response.blob()
  const envelope = (await response.json().catch(() => null)) as Envelope | null
  if (await mayRepeat(path, envelope)) return requestFile(path, body)
  throw errorOf(response, envelope)
}

type Values = Readonly<Record<string, string | number | boolean | null | undefined>>

/** A path with its query: what is null or empty is left out. */
export function withQuery(path: string, values: Values = {}): string {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== '')
  if (given.length === 0) return path
  return `${path}?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

/** Where a browser gets a file from. */
export const fileUrl = <const P extends Path<'GET'>>(path: P, query: Query<'GET', P>) =>
  PREFIX + withQuery(path, query as Values)

export const get = <const P extends Path<'GET'>>(path: P, query?: Query<'GET', P>, signal?: AbortSignal) =>
  request<Reply<'GET', P>>('GET', withQuery(path, query as Values), undefined, signal)
export const remove = <const P extends Path<'DELETE'>>(path: P, query?: Query<'DELETE', P>) =>
  request<Reply<'DELETE', P>>('DELETE', withQuery(path, query as Values))

/** Left out where the operation takes no body, or all of it is optional. */
type Sent<M extends Method, P extends string> =
  Body<M, P> extends infer B ? (B extends undefined ? [] : object extends B ? [body?: B] : [body: B]) : never

export const post = <const P extends Path<'POST'>>(path: P, ...[body = {}]: Sent<'POST', P>) =>
  request<Reply<'POST', P>>('POST', path, body)
export const put = <const P extends Path<'PUT'>>(path: P, ...[body = {}]: Sent<'PUT', P>) =>
  request<Reply<'PUT', P>>('PUT', path, body)
export const patch = <const P extends Path<'PATCH'>>(path: P, ...[body = {}]: Sent<'PATCH', P>) =>
  request<Reply<'PATCH', P>>('PATCH', path, body)
