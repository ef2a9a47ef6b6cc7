// When a call is attempted again.
//
// A request that may have been received is repeated only if that is safe: a GET, or a write with an Idempotency-Key. Any
// request is repeated when it certainly had no effect: 429, or no connection was made.
import type { OfferdeckError } from './errors.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 8_000

/**
 * How long to wait after so many failed attempts. `Retry-After` is a minimum: the jitter comes on top of it, so that
 * callers that were refused together do not return together. `jitter` is in [0, 1).
 */
export function waitMs(attempts: number, retryAfter: number | null, jitter: number): number {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS)
  return retryAfter === null ? backoff * (0.5 + jitter / 2) : retryAfter * 1_000 + backoff * jitter
}

export function mayRetry(error: OfferdeckError, isRepeatable: boolean): boolean {
  const { code, status, cause } = error
  if (status === 429) return true
  if (code === 'CONNECTION_FAILED' && wasNeverSent(cause)) return true
  return isRepeatable && (code === 'CONNECTION_FAILED' || code === 'TIMEOUT' || (status !== null && status >= 500))
}

/** As Node and Bun name it. Other runtimes do not say: there, the request may have been received. */
const NO_CONNECTION = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused']

function wasNeverSent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return (typeof code === 'string' && NO_CONNECTION.includes(code)) || wasNeverSent(cause)
}

/** Of the header: seconds, or a date. Null if it is neither. */
export function readRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1_000))
}
