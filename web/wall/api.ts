// The wall's own API, asked as the viewer of this page.
import type { NewTicket, NewTicketMessage } from '../../src/features/wall/ticket-schema.ts'
import {
  type ActivityPage,
  type Image,
  look,
  type Offer,
  type OfferList,
  type Ticket,
  type TicketList,
  viewer,
} from './boot.ts'

const TIMEOUT_MS = 15_000
const UPLOAD_MS = 90_000

export class ApiError extends Error {
  readonly status: number
  readonly field: string | undefined

  constructor(status: number, message: string, field?: string) {
    super(message)
    this.status = status
    this.field = field
  }
}

/** The signature has expired, its secret or the key was replaced, or the app was closed: trying again does not help. */
export const isOver = (error: unknown): boolean =>
  error instanceof ApiError && ['exp', 'sig', 'apiKey'].includes(error.field ?? '')

const given = (names: readonly string[]) => names.flatMap((name) => (viewer.query[name] === undefined ? [] : [[name, viewer.query[name]] as const])) // prettier-ignore

/** With who asks, and those of the page's parameters that the path knows. */
function urlOf(path: string, names: readonly string[], more: Record<string, string> = {}): string {
  const { apiKey, userId } = viewer
  const query = { apiKey, userId, ...Object.fromEntries(given(['exp', 'sig', ...names])), ...more }
  const known = Object.entries(query).filter(([, value]) => value !== '')
  return `/wall/v1${path}?${new URLSearchParams(known).toString()}`
}

/** That the page is in. */
const lang = look.language

const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4']

async function ask<T>(url: string, body?: object): Promise<T> {
  const sent = body && { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const signal = AbortSignal.timeout(body ? UPLOAD_MS : TIMEOUT_MS)
  const response = await fetch(url, { credentials: 'omit', signal, ...sent })
  type Answer = { data: T; error?: { message: string; details: Record<string, string> | null } }
  const answer = (await response.json()) as Answer
  if (answer.error)
    throw new ApiError(response.status, answer.error.message, Object.keys(answer.error.details ?? {})[0])
  return answer.data
}

export const listOffers = (filter: Record<string, string>): Promise<OfferList> =>
  ask(urlOf('/offers', [...SUB_IDS, 'country', 'platform'], { ...filter, lang }))

export const findOffer = async (offerId: number): Promise<Offer> =>
  (await ask<{ offer: Offer }>(urlOf(`/offers/${offerId}`, SUB_IDS, { lang }))).offer

/** For the publisher's funnel: whether it arrives changes nothing here. */
export const countOpened = (): void => void navigator.sendBeacon(urlOf('/opened', []))

export const listActivity = (cursor: string, limit: number): Promise<ActivityPage> =>
  ask(urlOf('/activity', [], { cursor, limit: String(limit), lang }))

export const liveUrl = (): string => urlOf('/live', [])

export const listTickets = (cursor = ''): Promise<TicketList> => ask(urlOf('/tickets', [], { cursor, lang }))

export type SentTicket = NewTicketMessage & Partial<NewTicket>

/** A new ticket, or a message to one. */
export async function sendTicket(message: SentTicket, ticketId?: string): Promise<Ticket> {
  const path = ticketId === undefined ? '/tickets' : `/tickets/${ticketId}/messages`
  return (await ask<{ ticket: Ticket }>(urlOf(path, [], { lang }), message)).ticket
}

export const readImage = (ticketId: string, messageId: string): Promise<Image> =>
  ask(urlOf(`/tickets/${ticketId}/messages/${messageId}/image`, []))
