// The wall's own API, asked as the viewer of this page.
import { type ActivityPage, type OfferList, viewer } from './boot.ts'

const TIMEOUT_MS = 15_000

export class ApiError extends Error {
  readonly status: number
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** The signature is for what is private; `signed` leaves it out where it is of no use. */
export function urlOf(path: string, more: Record<string, string> = {}): string {
  const { embed: _embed, ...query } = viewer.query
  return `/wall/v1${path}?${new URLSearchParams({ apiKey: viewer.apiKey, userId: viewer.userId, ...query, ...more }).toString()}`
}

async function ask<T>(url: string): Promise<T> {
  const response = await fetch(url, { credentials: 'omit', signal: AbortSignal.timeout(TIMEOUT_MS) })
  type Answer = { data: T; error?: { message: string; details: Record<string, string> | null } }
  const answer = (await response.json()) as Answer
  if (answer.error)
    throw new ApiError(response.status, answer.error.message, Object.keys(answer.error.details ?? {})[0])
  return answer.data
}

export const listOffers = (filter: Record<string, string>): Promise<OfferList> => ask(urlOf('/offers', filter))

export function listActivity(cursor?: string): Promise<ActivityPage> {
  const { exp = '', sig = '' } = viewer.query
  const query = { apiKey: viewer.apiKey, userId: viewer.userId, exp, sig, ...(cursor === undefined ? {} : { cursor }) }
  return ask(`/wall/v1/activity?${new URLSearchParams(query).toString()}`)
}

export function liveUrl(): string {
  const { exp = '', sig = '' } = viewer.query
  return `/wall/v1/live?${new URLSearchParams({ apiKey: viewer.apiKey, userId: viewer.userId, exp, sig }).toString()}`
}
