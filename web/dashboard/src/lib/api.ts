// Talking to the management API. Its types come from the server's own description (api-types.ts): the path of a request
// says what comes back.
import type { Replies } from './api-types.ts'
import { meetChallenge } from './challenge.ts'

/** The template type of a path: ids are any text. */
type Pattern<P extends string> = P extends `${infer A}{${string}}${infer B}` ? `${A}${string}${Pattern<B>}` : P
type Segments<P extends string> = P extends `/${infer A}/${infer B}` ? [A, ...Segments<`/${B}`>] : [P]
/** Whether the segments of a path are those of an operation, whose ids may be anything. */
type IsAt<P extends string[], O extends string[]> = P extends [infer A, ...infer B extends string[]]
  ? O extends [infer C, ...infer D extends string[]]
    ? A extends (C extends `${string}{${string}}` ? string : C)
      ? IsAt<B, D>
      : false
    : false
  : O extends []
    ? true
    : false
type Plain<P extends string> = P extends `${infer A}?${string}` ? A : P

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type PathsOf<M extends Method> = keyof Replies extends infer K ? (K extends `${M} ${infer P}` ? P : never) : never
/** What a path that is written out looks like: `/apps/3/conversions?status=approved`. */
export type Path<M extends Method> = PathsOf<M> extends infer P extends string ? `${Pattern<P>}${Query}` : never
type OperationAt<M extends Method, P extends string> = P extends string
  ? { [O in PathsOf<M>]: IsAt<Segments<Plain<P>>, Segments<O>> extends true ? `${M} ${O}` : never }[PathsOf<M>]
  : never
/** What the operation at this path answers with: a path and its type cannot disagree. */
export type DataAt<M extends Method, P extends string> =
  OperationAt<M, P> extends infer O extends keyof Replies ? Replies[O] : never

export type Details = Record<string, string>

/** What the server, or the way to it, said no with: in words for whoever reads it. */
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
  const response = await fetch(PREFIX + path, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    credentials: 'same-origin',
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'OFFLINE', method === 'GET' ? OFFLINE : NOT_ANSWERED)
  })
  const envelope = (await response.json().catch(() => null)) as Envelope | null
  if (envelope?.success === true) return envelope.data as T
  const { code = 'SERVER_ERROR', message = 'Something went wrong. Try again shortly.', details } = envelope?.error ?? {}
  if (!SIGN_IN.includes(path) && (await meetChallenge(code))) return request<T>(method, path, body, signal)
  throw new ApiError(response.status, code, message, details ?? {})
}

type Parameter = string | number | boolean | null | undefined

type Query = '' | `?${string}`

/** A query string of what is there. */
export function query(parameters: Record<string, Parameter>): Query {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '')
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

export const get = <const P extends Path<'GET'>>(path: P, signal?: AbortSignal) =>
  request<DataAt<'GET', P>>('GET', path, undefined, signal)
export const post = <const P extends Path<'POST'>>(path: P, body: unknown = {}) =>
  request<DataAt<'POST', P>>('POST', path, body)
export const put = <const P extends Path<'PUT'>>(path: P, body: unknown) => request<DataAt<'PUT', P>>('PUT', path, body)
export const patch = <const P extends Path<'PATCH'>>(path: P, body: unknown) =>
  request<DataAt<'PATCH', P>>('PATCH', path, body)
export const remove = <const P extends Path<'DELETE'>>(path: P) => request<DataAt<'DELETE', P>>('DELETE', path)
