// Tickets as the publisher's people see them.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { cutPage } from '../../http/paging.ts'
import { isUuid } from '../../lib/uuid7.ts'
import { latestOf } from '../users/users.ts'
import { listMessages, noTicket, placeOf, type TicketStatus } from './tickets.ts'
import type { TICKET_KINDS } from './ticket-schema.ts'

const CONVERSIONS = 10
const MOST_COUNTED = 100

/** Filters are combined with AND; an absent one is ignored. */
export type TicketFilter = { appId: number; isTest: boolean; status?: TicketStatus; userId?: string; before?: string }

export type ListedTicket = {
  ticket_id: string
  user_id: string
  kind: (typeof TICKET_KINDS)[number]
  offer_id: number | null
  offer_name: string | null
  status: TicketStatus
  country: string | null
  device: string | null
  os: string | null
  created_at: Date
  updated_at: Date
}

const COLUMNS = sql.raw(
  't.ticket_id, t.user_id, t.kind, t.offer_id, o.name AS offer_name, t.status, t.country, t.device, t.os, t.created_at, t.updated_at',
)

/** Newest first. */
export async function listTickets(db: Db, filter: TicketFilter, limit: number) {
  const { appId, isTest, status, userId, before } = filter
  const known: RawBuilder<boolean>[] = [sql`t.app_id = ${appId}`, sql`t.is_test = ${isTest}`]
  if (status !== undefined) known.push(sql`t.status = ${status}`)
  if (userId !== undefined) known.push(sql`t.user_id = ${userId}`)
  if (before !== undefined) known.push(sql`(t.created_at, t.ticket_id) < ${placeOf(before)}`)
  const { rows } = await sql<ListedTicket>`
    SELECT ${COLUMNS} FROM tickets t LEFT JOIN offers o USING (offer_id) WHERE ${sql.join(known, sql` AND `)}
    ORDER BY t.created_at DESC, t.ticket_id DESC LIMIT ${limit + 1}::integer`.execute(db)
  return cutPage(rows, limit, ({ ticket_id }) => ticket_id)
}

/** At most 100: beyond that it is many. */
export async function countOpenTickets(db: Db, appId: number, isTest: boolean): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM (SELECT FROM tickets WHERE app_id = ${appId} AND is_test = ${isTest} AND status = 'open'
      LIMIT ${sql.lit(MOST_COUNTED)}) AS counted`.execute(db)
  return rows[0]?.count ?? 0
}

type OfTicket = { conversion_id: string; goal_name: string; status: string; created_at: Date }

/** With its messages, and what the user did with that offer. */
export async function readTicket(db: Db, appId: number, ticketId: string) {
  if (!isUuid(ticketId)) throw noTicket()
  const { rows } = await sql<ListedTicket & { is_test: boolean; click_id: string | null; email: string | null }>`
    SELECT ${COLUMNS}, t.is_test, t.click_id, t.email FROM tickets t LEFT JOIN offers o USING (offer_id)
    WHERE t.ticket_id = ${ticketId}::uuid AND t.app_id = ${appId}`.execute(db)
  const [ticket] = rows
  if (ticket === undefined) throw noTicket()
  const messages = await listMessages(db, [ticketId])
  const user = { appId, isTest: ticket.is_test, userId: ticket.user_id }
  const { rows: conversions } = await sql<OfTicket>`
    SELECT c.conversion_id, g.name AS goal_name, c.status, c.created_at
    FROM ${latestOf('conversions', user)} AS c JOIN goals g USING (goal_id) WHERE c.offer_id = ${ticket.offer_id}
    ORDER BY c.conversion_id DESC LIMIT ${sql.lit(CONVERSIONS)}`.execute(db)
  return {
    ...ticket,
    clicked_at: await readClickTime(db, ticket.click_id),
    conversions,
    messages: messages.map(({ ticket_id: _ticket, ...message }) => message),
  }
}

/** Null once the click is deleted. */
async function readClickTime(db: Db, clickId: string | null): Promise<Date | null> {
  if (clickId === null) return null
  const click = await db.selectFrom('clicks').select('clicked_at').where('click_id', '=', clickId).executeTakeFirst()
  return click?.clicked_at ?? null
}
