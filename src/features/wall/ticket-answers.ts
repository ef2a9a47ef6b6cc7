// What the publisher's people do with tickets.
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { isUuid } from '../../lib/uuid7.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { notifyWalls } from './live.ts'
import { allowAddress, mailAnswer } from './ticket-mails.ts'
import { addMessage, isWritten, noTicket } from './tickets.ts'

/** hasMail: whether the network sends mail. */
export type Answer = { key: string; text: string; hasMail: boolean }

/** Also mailed, where the user gave an address. */
export async function answerTicket(
  db: Db,
  by: Actor,
  appId: number,
  ticketId: string,
  { key, text, hasMail }: Answer,
  now: Date,
) {
  await changeTicket(db, by, appId, ticketId, async (trx, { is_test, email }) => {
    if (await isWritten(trx, ticketId, key)) return null
    const emailedTo = email === null || is_test || !hasMail ? null : await allowAddress(trx, appId, email, now)
    const messageId = await addMessage(trx, { ticketId, key, text, author: by.email, emailedTo }, now)
    if (emailedTo !== null) await mailAnswer(trx, messageId, now)
    await trx.updateTable('tickets').set({ status: 'answered', updated_at: now }).where('ticket_id', '=', ticketId).execute() // prettier-ignore
    return 'ticket.answer'
  })
}

export async function setTicketStatus(
  db: Db,
  by: Actor,
  appId: number,
  ticketId: string,
  status: 'open' | 'closed',
  now: Date,
) {
  await changeTicket(db, by, appId, ticketId, async (trx, before) => {
    if (before.status === status) return null
    await trx.updateTable('tickets').set({ status, updated_at: now }).where('ticket_id', '=', ticketId).execute()
    return status === 'closed' ? 'ticket.close' : 'ticket.reopen'
  })
}

type Changed = { is_test: boolean; email: string | null; status: string }

/** `change` returns what it did, or null for nothing. */
async function changeTicket(
  db: Db,
  by: Actor,
  appId: number,
  ticketId: string,
  change: (trx: Trx, ticket: Changed) => Promise<string | null>,
): Promise<void> {
  if (!isUuid(ticketId)) throw noTicket()
  await inTransaction(db, async (trx) => {
    const ticket = await trx
      .selectFrom('tickets')
      .innerJoin('apps', 'apps.app_id', 'tickets.app_id')
      .select(['is_test', 'user_id', 'tickets.email', 'tickets.status', 'apps.publisher_id'])
      .where('ticket_id', '=', ticketId)
      .where('tickets.app_id', '=', appId)
      .forUpdate('tickets')
      .executeTakeFirst()
    if (ticket === undefined) throw noTicket()
    const action = await change(trx, ticket)
    if (action === null) return
    const { is_test: isTest, user_id: userId, publisher_id: publisherId } = ticket
    await recordAudit(trx, by, { action, subject: ticketId, publisherId, details: { app_id: appId } })
    await notifyWalls(trx, { appId, isTest, userId })
  })
}
