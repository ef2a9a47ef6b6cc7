// One call of the API: an operation, its attempts, and what they come to.
import type { Operations } from './api-types.ts'
import { type ErrorCode, OfferdeckError } from './errors.ts'
import { mayRetry, readRetryAfter, waitMs } from './retries.ts'
import { sleep, withTimeout } from './timing.ts'

export type CallOptions = {
  /** Ends the call: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** For all attempts and the waits between them together. 30,000 by default. */
  timeoutMs?: number | undefined
  /** For a single attempt. 10,000 by default. */
  attemptTimeoutMs?: number | undefined
  /** How many times a call that failed is repeated at most. 4 by default. */
  retries?: number | undefined
}

export type ClientOptions = Omit<CallOptions, 'signal'> & {
  /** The URL of the network, such as https://offers.example.com */
  baseUrl: string
  /** `pk_live_…` or `pk_test_…` */
  apiKey: string
  /** `sk_live_…` or `sk_test_…`. Never send it to a browser. */
  apiSecret: string
  /** Sends the requests, instead of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

export type Operation = keyof Operations
export type Query<O extends Operation> = Operations[O]['query']
export type Body<O extends Operation> = Operations[O]['body']
export type Reply<O extends Operation> = Operations[O]['reply']

type Sent<O extends Operation> = Partial<Pick<Operations[O], 'path' | 'query' | 'body'>> & {
  /** With it a write is safe to repeat. */
  idempotencyKey?: string
}

/** Resolves with the `data` of the response. */
export type Call = <O extends Operation>(operation: O, sent: Sent<O>, options?: CallOptions) => Promise<Reply<O>>

type Envelope = {
  success?: boolean
  data?: unknown
  error?: { code: ErrorCode; message: string; details: Record<string, string> | null }
  meta?: { request_id: string }
}

export function createCall({ baseUrl, apiKey, apiSecret, fetch: given, ...defaults }: ClientOptions): Call {
  const prefix = `${readBaseUrl(baseUrl)}/api/v1`
  const credentials = {
    'x-api-key': headerValue('apiKey', apiKey),
    'x-api-secret': headerValue('apiSecret', apiSecret),
  }

  return async <O extends Operation>(operation: O, sent: Sent<O>, options: CallOptions = {}) => {
    const [method = '', path = ''] = operation.split(' ')
    const { idempotencyKey, body } = sent
    const headers: Record<string, string> = { ...credentials }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['idempotency-key'] = headerValue('idempotencyKey', idempotencyKey)
    const url = prefix + fillPath(path, sent.path ?? {}) + queryText(sent.query ?? {})
    // A redirect could send the secret to another host.
    const init: RequestInit = { method, headers, redirect: 'manual' }
    if (body !== undefined) init.body = JSON.stringify(body)
    const send = (signal: AbortSignal) => (given ?? fetch)(url, { ...init, signal })
    const isRepeatable = method === 'GET' || idempotencyKey !== undefined
    return (await attemptUntilDone(send, isRepeatable, { ...defaults, ...withoutUndefined(options) })) as Reply<O>
  }
}

type Send = (signal: AbortSignal) => Promise<Response>

async function attemptUntilDone(send: Send, isRepeatable: boolean, options: CallOptions): Promise<unknown> {
  const { signal, timeoutMs = 30_000, attemptTimeoutMs = 10_000, retries = 4 } = options
  const endMs = Date.now() + timeoutMs
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted()
    const answer = await attempt(send, Math.min(attemptTimeoutMs, endMs - Date.now()), signal)
    if (!(answer instanceof OfferdeckError)) return answer.data
    const wait = waitMs(attempts, answer.retryAfter, Math.random())
    if (attempts > retries || !mayRetry(answer, isRepeatable) || Date.now() + wait >= endMs) throw answer
    await sleep(wait, signal)
  }
}

async function attempt(
  send: Send,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<{ data: unknown } | OfferdeckError> {
  const result = await withTimeout(ms, signal, async (inner) => {
    const response = await send(inner)
    return { response, text: await response.text() }
  })
  if ('value' in result) return readAnswer(result.value.response, result.value.text)
  const { error, isLate } = result
  if (isLate) return new OfferdeckError('TIMEOUT', `The server did not respond within ${Math.round(ms)} ms.`)
  signal?.throwIfAborted()
  return new OfferdeckError('CONNECTION_FAILED', 'The server could not be reached, or the connection broke.', {
    cause: error,
  })
}

function readAnswer(response: Response, text: string): { data: unknown } | OfferdeckError {
  const { status, headers } = response
  const { success, data, error, meta } = parseEnvelope(text)
  if (response.ok && success === true) return { data }
  const requestId = meta?.request_id ?? headers.get('x-request-id')
  const facts = { status, requestId, retryAfter: readRetryAfter(headers.get('retry-after'), Date.now()) }
  if (typeof error?.code === 'string')
    return new OfferdeckError(error.code, error.message, { ...facts, details: error.details })
  return new OfferdeckError(
    'UNEXPECTED_RESPONSE',
    `${describeStatus(status)} Check baseUrl, and what stands in front of it.`,
    facts,
  )
}

const describeStatus = (status: number) =>
  status >= 300 && status < 400
    ? `The server redirects (HTTP ${status}), and the client does not follow.`
    : `HTTP ${status} came without a response of the API.`

function parseEnvelope(text: string): Envelope {
  try {
    return (JSON.parse(text) as Envelope | null) ?? {}
  } catch {
    return {}
  }
}

function readBaseUrl(baseUrl: string): string {
  const problem = 'baseUrl must be the URL of the network, such as https://offers.example.com'
  let url
  try {
    url = new URL(baseUrl)
  } catch {
    throw new TypeError(`${problem}.`)
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`${problem}.`)
  if (url.username + url.password + url.search + url.hash !== '') throw new TypeError(`${problem}, and nothing more.`)
  return url.href.replace(/\/+$/, '')
}

/** Checked here, because `fetch` repeats a value that it refuses in its error: a secret with a line break would be logged. */
function headerValue(name: string, value: string): string {
  if (typeof value !== 'string' || !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new TypeError(`${name} must be text of printable ASCII, without spaces or line breaks at its ends.`)
  return value
}

function fillPath(path: string, values: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? '')
    // As a part of a URL these lead elsewhere.
    if (['', '.', '..'].includes(value)) throw new TypeError(`${name} must not be empty, "." or "..".`)
    return encodeURIComponent(value)
  })
}

function queryText(query: object): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(withoutUndefined(query))) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search.toString()}`
}

const withoutUndefined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
