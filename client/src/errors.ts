/** The six codes of the API, and three for a call that got no answer from it. */
export type ErrorCode =
  | 'INVALID_API_KEY'
  | 'INVALID_API_SECRET'
  | 'INVALID_REQUEST'
  | 'RATE_LIMIT_EXCEEDED'
  | 'RESOURCE_NOT_FOUND'
  | 'SERVER_ERROR'
  /** There is no connection, or it broke before the response was complete. */
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  /** Something else answered: a proxy, a redirect, another server. */
  | 'UNEXPECTED_RESPONSE'

type Facts = {
  status?: number | null
  details?: Record<string, string> | null
  requestId?: string | null
  retryAfter?: number | null
  cause?: unknown
}

/** Every error of a call, except for what an aborted `signal` gives as its reason. */
export class OfferdeckError extends Error {
  readonly code: ErrorCode
  /** The HTTP status, or null without a response. */
  readonly status: number | null
  /** With `INVALID_REQUEST` and `RESOURCE_NOT_FOUND`: what is wrong, by parameter, each a sentence. */
  readonly details: Record<string, string> | null
  /** Include it when you ask for help. */
  readonly requestId: string | null
  /** Seconds to wait before the next attempt, if the server said so. */
  readonly retryAfter: number | null

  constructor(code: ErrorCode, message: string, { status, details, requestId, retryAfter, cause }: Facts = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'OfferdeckError'
    this.code = code
    this.status = status ?? null
    this.details = details ?? null
    this.requestId = requestId ?? null
    this.retryAfter = retryAfter ?? null
  }
}
