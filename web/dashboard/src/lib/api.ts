// Talking to the management API. Its shapes are those of the server: only their types are taken from there.
import type { TSchema, Static } from 'typebox'
import { meetChallenge } from './challenge.ts'

/** As it comes over the wire: times are text. */
export type Json<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [K in keyof T]: Json<T[K]> }
      : T
export type Reply<S extends TSchema> = Json<Static<S>>

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

/** A query string of what is there. */
export function query(parameters: Record<string, Parameter>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== '')
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

export const get = <T>(path: string, signal?: AbortSignal) => request<T>('GET', path, undefined, signal)
export const post = <T>(path: string, body: unknown = {}) => request<T>('POST', path, body)
export const put = <T>(path: string, body: unknown) => request<T>('PUT', path, body)
export const patch = <T>(path: string, body: unknown) => request<T>('PATCH', path, body)
export const remove = <T>(path: string) => request<T>('DELETE', path)
