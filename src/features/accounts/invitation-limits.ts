// What keeps invitations from being mails to strangers: they carry the names of a person and a company, as those typed them.
// Operators know whom they invite, so none of this is about them.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { mailboxOf } from './email.ts'

const DAY_MS = 86_400_000
const OF_TEAM = 50 // a day, also those that were replaced or revoked
const TO_MAILBOX_OF_TEAM = 3 // a day
const TO_MAILBOX = 10 // a day, of all teams: more than one alone can use up for the others

/** Invitations take turns from here on, so that limits hold. */
export async function checkInvitation(trx: Trx, publisherId: number, email: string, now: Date): Promise<void> {
  await checkReviewed(trx, publisherId)
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(LOCKS.invitations)})`.execute(trx)
  const isMailbox = sql`${mailboxOf(sql`email`)} = ${mailboxOf(sql`${email.trim()}::text`)}`
  const { rows } = await sql<{ of_team: number; to_mailbox_of_team: number; to_mailbox: number }>`
    SELECT count(*) FILTER (WHERE publisher_id = ${publisherId}) AS of_team,
           count(*) FILTER (WHERE publisher_id = ${publisherId} AND ${isMailbox}) AS to_mailbox_of_team,
           count(*) FILTER (WHERE ${isMailbox}) AS to_mailbox
    FROM invitations WHERE created_at > ${new Date(now.getTime() - DAY_MS)}`.execute(trx)
  const { of_team = 0, to_mailbox_of_team = 0, to_mailbox = 0 } = rows[0] ?? {}
  if (of_team >= OF_TEAM)
    throw new AppError(
      'RATE_LIMIT_EXCEEDED',
      `Your team has sent ${OF_TEAM} invitations within a day. Try again tomorrow, or ask the operator to invite people.`,
    )
  if (to_mailbox_of_team >= TO_MAILBOX_OF_TEAM || to_mailbox >= TO_MAILBOX)
    throw new AppError(
      'RATE_LIMIT_EXCEEDED',
      'This mailbox has had enough invitations within a day. Ask the person to check their spam folder, or try again tomorrow.',
    )
}

/** Until an operator has approved a publisher that signed up, its names are whatever a stranger typed. */
async function checkReviewed(trx: Trx, publisherId: number): Promise<void> {
  const publisher = await trx
    .selectFrom('publishers')
    .leftJoin('applications', 'applications.publisher_id', 'publishers.publisher_id')
    .select(['publishers.status', 'applications.status as application'])
    .where('publishers.publisher_id', '=', publisherId)
    .executeTakeFirst()
  if (publisher?.application === 'refused')
    throw new AppError('CONFLICT', 'Your application was refused, so you cannot invite people. Contact the operator.')
  if (publisher?.status === 'pending')
    throw new AppError(
      'CONFLICT',
      'Your account is awaiting approval. You can invite people once the operator has approved it.',
    )
}
