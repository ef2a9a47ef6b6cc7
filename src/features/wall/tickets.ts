// Tickets: what a signed user of a wall asks, and what the publisher's people answer.
//
//   open -> answered, by an answer -> open, when the user writes again; closed and opened again by the publisher's people.
//   A closed ticket opens again when its user writes.
//
// The offer is the only thing the page says about what happened. The click is looked up here, among the user's own.
import { sql } from 'kysely'
import { LOCK_CLASSES } from '../../db/locks.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError, badRequest } from '../../errors.ts'
import { cutPage } from '../../http/paging.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { rfc3339 } from '../../lib/time.ts'
import { isUuid, uuid7, uuid7Time } from '../../lib/uuid7.ts'
import type { Visitor } from '../clicks/visitor.ts'
import type { AppUser } from '../offers/completions.ts'
import { checkImage, IMAGE_TYPES } from '../offers/images.ts'
import { stripMetadata } from '../../lib/strip-metadata.ts'
import { latestOf } from '../users/users.ts'
import { nameIn } from './activity.ts'
import type { Language } from '../../lib/languages.ts'
import { notifyPeople } from './ticket-mails.ts'
import type { NewTicket, NewTicketMessage, TICKET_KINDS, TICKET_STATUSES, WallTicket } from './ticket-schema.ts'

const MAX_OPEN = 10
const MAX_MESSAGES = 200
const MESSAGES_A_DAY = 20 // of a user, in one ticket
const IMAGES_A_DAY = 10 // of a user

export type TicketStatus = (typeof TICKET_STATUSES)[number]
type Row = {
  ticket_id: string
  kind: (typeof TICKET_KINDS)[number]
  offer_id: number | null
  offer_name: string | null
  status: TicketStatus
  created_at: Date
  updated_at: Date
}
type Seen = Pick<Visitor, 'country' | 'device' | 'os'>

/** A user's writes take turns, so that the limits hold, and a repeated submit finds the first. */
async function lockUser(trx: Trx, { appId, isTest, userId }: AppUser): Promise<void> {
  const key = hashNumber(`${appId}|${isTest}|${userId}`) % 0x7fff_ffff
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.tickets}::integer, ${key}::integer)`.execute(trx)
}

const ofUser = (db: Db, { appId, isTest, userId }: AppUser) =>
  db.selectFrom('tickets').where('tickets.app_id', '=', appId).where('is_test', '=', isTest).where('user_id', '=', userId) // prettier-ignore

/** For one more that waits for an answer. */
async function checkOpen(trx: Trx, user: AppUser): Promise<void> {
  const { count } = await ofUser(trx, user).select(sql<number>`count(*)`.as('count')).where('status', '=', 'open').executeTakeFirstOrThrow() // prettier-ignore
  if (count >= MAX_OPEN)
    throw badRequest({ text: `You have ${MAX_OPEN} open tickets. Wait for an answer, or write to one of them.` })
}

export function openTicket(db: Db, user: AppUser, seen: Seen, wanted: NewTicket, now: Date): Promise<string> {
  const { kind, offer_id: offerId, email, lang, key } = wanted
  return inTransaction(db, async (trx) => {
    await lockUser(trx, user)
    const first = await ofUser(trx, user).select('ticket_id').where('submit_key', '=', key).executeTakeFirst()
    if (first !== undefined) return first.ticket_id
    await checkOpen(trx, user)
    const clickId = offerId === undefined ? null : await findOwnClick(trx, user, offerId)
    const ticket_id = uuid7(now.getTime())
    const { country, device, os } = seen
    const of = { app_id: user.appId, is_test: user.isTest, user_id: user.userId, submit_key: key }
    const about = {
      kind,
      offer_id: offerId ?? null,
      click_id: clickId,
      email: email ?? null,
      lang: lang ?? null,
      country,
      device,
      os,
    }
    await trx
      .insertInto('tickets')
      .values({ ticket_id, ...of, ...about, status: 'open', created_at: now, updated_at: now })
      .execute()
    await addOfUser(trx, user, ticket_id, wanted, now)
    await notifyPeople(trx, user, ticket_id, now)
    return ticket_id
  })
}

/** The latest of this offer; null when it is too old to be stored, but led to a conversion. */
async function findOwnClick(trx: Trx, user: AppUser, offerId: number): Promise<string | null> {
  for (const table of ['clicks', 'conversions'] as const) {
    const { rows } = await sql<{ click_id: string | null }>`
      SELECT click_id FROM ${latestOf(table, user)} AS latest WHERE offer_id = ${offerId}
      ORDER BY ${sql.ref(table === 'clicks' ? 'click_id' : 'conversion_id')} DESC LIMIT 1`.execute(trx)
    if (rows[0] !== undefined) return rows[0].click_id
  }
  throw badRequest({ offer_id: 'You have not started this offer.' })
}

export async function writeToTicket(
  db: Db,
  user: AppUser,
  ticketId: string,
  message: NewTicketMessage,
  now: Date,
): Promise<void> {
  if (!isUuid(ticketId)) throw noTicket()
  await inTransaction(db, async (trx) => {
    await lockUser(trx, user)
    const ticket = await ofUser(trx, user).select('status').where('ticket_id', '=', ticketId).forUpdate().executeTakeFirst() // prettier-ignore
    if (ticket === undefined) throw noTicket()
    if (await isWritten(trx, ticketId, message.key)) return
    if (ticket.status !== 'open') await checkOpen(trx, user)
    await addOfUser(trx, user, ticketId, message, now)
    await trx
      .updateTable('tickets')
      .set({ status: 'open', updated_at: now })
      .where('ticket_id', '=', ticketId)
      .execute()
    if (ticket.status !== 'open') await notifyPeople(trx, user, ticketId, now)
  })
}

async function addOfUser(
  trx: Trx,
  user: AppUser,
  ticketId: string,
  message: NewTicketMessage,
  now: Date,
): Promise<void> {
  const { key, text, image } = message
  const since = new Date(now.getTime() - 86_400_000)
  const { count } = await trx
    .selectFrom('ticket_messages')
    .select(sql<number>`count(*)`.as('count'))
    .where('ticket_id', '=', ticketId)
    .where('author', 'is', null)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  if (count >= MESSAGES_A_DAY) throw badRequest({ text: `You can write ${MESSAGES_A_DAY} messages a day to a ticket.` })
  const message_id = await addMessage(trx, { ticketId, key, text, author: null }, now)
  if (image === undefined) return
  const uploaded = Buffer.from(image, 'base64')
  const format = checkImage(uploaded, 'image')
  const content = stripMetadata(uploaded, format)
  const { uploads } = await ofUser(trx, user)
    .innerJoin('ticket_messages', 'ticket_messages.ticket_id', 'tickets.ticket_id')
    .innerJoin('ticket_images', 'ticket_images.message_id', 'ticket_messages.message_id')
    .select(sql<number>`count(*)`.as('uploads'))
    .where('ticket_images.created_at', '>', since)
    .executeTakeFirstOrThrow()
  if (uploads >= IMAGES_A_DAY) throw badRequest({ image: `You can upload ${IMAGES_A_DAY} images a day.` })
  await trx.insertInto('ticket_images').values({ message_id, type: IMAGE_TYPES[format.extension], content, created_at: now }).execute() // prettier-ignore
}

type Message = { ticketId: string; key: string; text: string; author: string | null; emailedTo?: string | null }

/** The ticket is locked, or new. */
export async function addMessage(trx: Trx, message: Message, now: Date): Promise<string> {
  const { ticketId, key, text, author, emailedTo = null } = message
  const { count } = await trx.selectFrom('ticket_messages').select(sql<number>`count(*)`.as('count')).where('ticket_id', '=', ticketId).executeTakeFirstOrThrow() // prettier-ignore
  if (count >= MAX_MESSAGES)
    throw badRequest({ text: `A ticket has ${MAX_MESSAGES} messages at most. Open a new one.` })
  const message_id = uuid7(now.getTime())
  await trx.insertInto('ticket_messages').values({ message_id, ticket_id: ticketId, submit_key: key, author, text, emailed_to: emailedTo, created_at: now }).execute() // prettier-ignore
  return message_id
}

export async function isWritten(trx: Trx, ticketId: string, key: string): Promise<boolean> {
  const found = await trx.selectFrom('ticket_messages').select('message_id').where('ticket_id', '=', ticketId).where('submit_key', '=', key).executeTakeFirst() // prettier-ignore
  return found !== undefined
}

const noImage = () => new AppError('RESOURCE_NOT_FOUND', 'There is no such image.')
export const noTicket = () => new AppError('RESOURCE_NOT_FOUND', 'There is no such ticket.')

/** Of a ticket in lists, which are in the order of creation times: its ID has it, too. */
export const placeOf = (ticketId: string) => sql`(${new Date(uuid7Time(ticketId))}, ${ticketId}::uuid)`

/** Of a user, newest first. */
export async function listTicketsOfUser(
  db: Db,
  user: AppUser,
  language: Language,
  limit: number,
  before: string | undefined,
) {
  let query = ofUser(db, user)
    .leftJoin('offers', 'offers.offer_id', 'tickets.offer_id')
    .select(['ticket_id', 'tickets.kind', 'tickets.offer_id', nameIn(language, 'offers').as('offer_name')])
    .select(['tickets.status', 'tickets.created_at', 'tickets.updated_at'])
  if (before !== undefined) query = query.where(sql<boolean>`(tickets.created_at, ticket_id) < ${placeOf(before)}`)
  const rows = (await query.orderBy('tickets.created_at', 'desc').orderBy('ticket_id', 'desc').limit(limit + 1).execute()) as Row[] // prettier-ignore
  const { page, nextCursor } = cutPage(rows, limit, ({ ticket_id }) => ticket_id)
  return { tickets: await presentTickets(db, page), next_cursor: nextCursor }
}

export async function findTicketOfUser(
  db: Db,
  user: AppUser,
  language: Language,
  ticketId: string,
): Promise<WallTicket> {
  const row = await ofUser(db, user)
    .leftJoin('offers', 'offers.offer_id', 'tickets.offer_id')
    .select(['ticket_id', 'tickets.kind', 'tickets.offer_id', nameIn(language, 'offers').as('offer_name')])
    .select(['tickets.status', 'tickets.created_at', 'tickets.updated_at'])
    .where('ticket_id', '=', ticketId)
    .executeTakeFirst()
  const [ticket] = row === undefined ? [] : await presentTickets(db, [row as Row])
  if (ticket === undefined) throw noTicket()
  return ticket
}

async function presentTickets(db: Db, rows: readonly Row[]): Promise<WallTicket[]> {
  const messages = await listMessages(db, rows.map(({ ticket_id }) => ticket_id)) // prettier-ignore
  return rows.map((row) => ({
    ...row,
    created_at: rfc3339(row.created_at),
    updated_at: rfc3339(row.updated_at),
    messages: messages
      .filter(({ ticket_id }) => ticket_id === row.ticket_id)
      .map(({ message_id, author, text, has_image, created_at }) => {
        return { message_id, is_mine: author === null, text, has_image, created_at: rfc3339(created_at) }
      }),
  }))
}

/** Oldest first. */
export const listMessages = (db: Db, ticketIds: string[]) =>
  db
    .selectFrom('ticket_messages')
    .leftJoin('ticket_images', 'ticket_images.message_id', 'ticket_messages.message_id')
    .select(['ticket_messages.ticket_id', 'ticket_messages.message_id', 'author', 'text', 'ticket_messages.created_at'])
    .select(sql<boolean>`ticket_images.message_id IS NOT NULL`.as('has_image'))
    .select(sql<boolean>`emailed_to IS NOT NULL`.as('is_emailed'))
    .where('ticket_messages.ticket_id', 'in', ticketIds.length === 0 ? [NO_TICKET] : ticketIds)
    .orderBy('ticket_messages.message_id')
    .execute()

const NO_TICKET = '00000000-0000-0000-0000-000000000000'

/** `userId` is left out for the publisher's people, who see the images of all users of their app. */
export async function readTicketImage(
  db: Db,
  { appId, isTest, userId }: { appId: number; isTest?: boolean; userId?: string },
  ticketId: string,
  messageId: string,
): Promise<{ type: string; content: string }> {
  if (!isUuid(ticketId) || !isUuid(messageId)) throw noImage()
  let query = db
    .selectFrom('ticket_images')
    .innerJoin('ticket_messages', 'ticket_messages.message_id', 'ticket_images.message_id')
    .innerJoin('tickets', 'tickets.ticket_id', 'ticket_messages.ticket_id')
    .select(['type', 'content'])
    .where('ticket_images.message_id', '=', messageId)
    .where('tickets.ticket_id', '=', ticketId)
    .where('app_id', '=', appId)
  if (isTest !== undefined) query = query.where('is_test', '=', isTest)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  const image = await query.executeTakeFirst()
  if (image === undefined) throw noImage()
  return { type: image.type, content: image.content.toString('base64') }
}
