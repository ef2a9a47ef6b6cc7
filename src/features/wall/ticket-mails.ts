// Mails about tickets: to the publisher's people who may answer, when a ticket begins to wait for them, and to a user who
// gave an address, with each answer. Nothing is mailed about test tickets.
//
// An address is whatever was typed on a wall. So nothing is sent there but what a person wrote as an answer, and little of
// that in a day: neither a user nor a publisher can fill a stranger's mailbox.
import { sql } from 'kysely'
import { LOCK_CLASSES } from '../../db/locks.ts'
import type { Trx } from '../../db/open.ts'
import { queueMail, type Writer } from '../accounts/mails.ts'
import type { AppUser } from '../offers/completions.ts'
import { ANSWER_TEXTS } from './answer-texts.ts'
import { readWallSettings } from './settings.ts'
import { chooseLanguage } from '../../lib/languages.ts'
import { TEXTS } from './texts/texts.ts'
import type { TICKET_KINDS } from './ticket-schema.ts'

const DAY_MS = 86_400_000
const TICKETS_A_DAY = 50 // of an app: with more, its team looks at the list
const ANSWERS_TO_MAILBOX_A_DAY = 5
const ANSWERS_OF_APP_A_DAY = 200
const ANSWERS = ['publisher_owner', 'publisher_developer'] as const // who may, by manage/access.ts

/** Of a ticket that waits from now on. One that waited already was mailed then. */
export async function notifyPeople(trx: Trx, user: AppUser, ticketId: string, now: Date): Promise<void> {
  if (user.isTest) return
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) FROM (SELECT FROM tickets WHERE app_id = ${user.appId} AND NOT is_test
      AND created_at > ${new Date(now.getTime() - DAY_MS)} LIMIT ${sql.lit(TICKETS_A_DAY + 1)}) AS opened`.execute(trx)
  if ((rows[0]?.count ?? 0) > TICKETS_A_DAY) return
  await queueMail(trx, { kind: 'ticket', about: ticketId, expiresAt: new Date(now.getTime() + DAY_MS) })
}

/** Once it is stored with the address. */
export const mailAnswer = (trx: Trx, messageId: string, now: Date) =>
  queueMail(trx, { kind: 'ticket_answer', about: messageId, expiresAt: new Date(now.getTime() + 3 * DAY_MS) })

const mailboxOf = (address: ReturnType<typeof sql>) => sql`lower(regexp_replace(${address}, '[+][^@]*@', '@'))`

/** The address, unless too much went there, or was mailed for the app. Answers with one take turns, so that this holds. */
export async function allowAddress(trx: Trx, appId: number, address: string, now: Date): Promise<string | null> {
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.ticketMails}::integer, 0)`.execute(trx)
  const since = new Date(now.getTime() - DAY_MS)
  const { rows } = await sql<{ to_mailbox: number; of_app: number }>`
    SELECT (SELECT count(*) FROM ticket_messages WHERE emailed_to IS NOT NULL
              AND ${mailboxOf(sql`emailed_to`)} = ${mailboxOf(sql`${address}::text`)} AND created_at > ${since}) AS to_mailbox,
           (SELECT count(*) FROM tickets t JOIN ticket_messages m USING (ticket_id)
              WHERE t.app_id = ${appId} AND t.email IS NOT NULL AND t.updated_at > ${since}
              AND m.emailed_to IS NOT NULL AND m.created_at > ${since}) AS of_app`.execute(trx)
  const [{ to_mailbox, of_app } = { to_mailbox: 0, of_app: 0 }] = rows
  return to_mailbox < ANSWERS_TO_MAILBOX_A_DAY && of_app < ANSWERS_OF_APP_A_DAY ? address : null
}

type Network = { publicUrl: string }

const KINDS: Record<(typeof TICKET_KINDS)[number], string> = {
  not_credited: 'a reward that is missing',
  question: 'a question',
  other: 'something else',
}

/** Without the user's words, which could pass for ours. */
export const ticketWriter = ({ publicUrl }: Network): Writer => ({
  async findRecipients(trx, ticketId) {
    const ticket = await findWaiting(trx, ticketId)
    if (ticket === undefined) return []
    const people = await trx
      .selectFrom('people')
      .select('email')
      .where('publisher_id', '=', ticket.publisher_id)
      .where('role', 'in', ANSWERS)
      .where('disabled_at', 'is', null)
      .orderBy('created_at')
      .execute()
    return people.map(({ email }) => email)
  },
  async write(trx, ticketId) {
    const ticket = await findWaiting(trx, ticketId)
    if (ticket === undefined) return null
    const { app, app_id, offer, was_dealt_with, kind } = ticket
    const facts = [
      `About: ${KINDS[kind as keyof typeof KINDS]}`,
      ...(offer === null ? [] : [`Offer: ${offer}`]),
      `App: ${app} (${app_id})`,
    ]
    const said = was_dealt_with ? 'wrote again to a ticket' : 'opened a ticket'
    return {
      subject: `${app}: a user ${said}`,
      text:
        `A user of your wall ${said}.\n\n${facts.join('\n')}\n\n` +
        `Read and answer it: ${publicUrl}/apps/${app_id}/tickets/${ticketId}\n\n` +
        `You get no other email about this ticket until someone on your team has answered or closed it.\n`,
    }
  },
})

/** Not of a publisher that was suspended: none of its members may answer. */
const findWaiting = (trx: Trx, ticketId: string) =>
  trx
    .selectFrom('tickets')
    .innerJoin('apps', 'apps.app_id', 'tickets.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .leftJoin('offers', 'offers.offer_id', 'tickets.offer_id')
    .select(['tickets.app_id', 'apps.name as app', 'apps.publisher_id', 'tickets.kind', 'offers.name as offer'])
    .select(
      sql<boolean>`EXISTS (SELECT FROM ticket_messages m WHERE m.ticket_id = tickets.ticket_id AND author IS NOT NULL)
        OR EXISTS (SELECT FROM audit_log a WHERE a.subject = tickets.ticket_id::text AND a.action = 'ticket.close')`.as(
        'was_dealt_with',
      ),
    )
    .where('ticket_id', '=', ticketId)
    .where('tickets.status', '=', 'open')
    .where('publishers.status', '!=', 'suspended')
    .executeTakeFirst()

export const answerWriter = (): Writer => ({
  async findRecipients(trx, messageId) {
    const answer = await findAnswer(trx, messageId)
    return answer?.emailed_to == null ? [] : [answer.emailed_to]
  },
  async write(trx, messageId) {
    const answer = await findAnswer(trx, messageId)
    if (answer === undefined) return null
    const { app, text, app_id } = answer
    const language = chooseLanguage(answer.lang ?? undefined)
    const { subject, intro, back, why } = ANSWER_TEXTS[language]
    const values: Record<string, string> = { app, help: TEXTS[language].help }
    const fill = (words: string) => words.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
    const site = await findSite(trx, app_id)
    const way = [fill(back), ...(site === null ? [] : [site])].join('\n')
    return { subject: fill(subject), text: `${fill(intro)}\n\n${text}\n\n${way}\n\n${fill(why)}\n` }
  },
})

/** Not for a publisher that was suspended meanwhile. */
const findAnswer = (trx: Trx, messageId: string) =>
  trx
    .selectFrom('ticket_messages')
    .innerJoin('tickets', 'tickets.ticket_id', 'ticket_messages.ticket_id')
    .innerJoin('apps', 'apps.app_id', 'tickets.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['emailed_to', 'text', 'lang', 'tickets.app_id', 'apps.name as app'])
    .where('message_id', '=', messageId)
    .where('publishers.status', '!=', 'suspended')
    .executeTakeFirst()

/** Where the wall is, if it may only be in one place. */
async function findSite(trx: Trx, appId: number): Promise<string | null> {
  const { parents } = await readWallSettings(trx, appId)
  const [site = '*', ...others] = parents
  return others.length > 0 || site.includes('*') ? null : site
}
