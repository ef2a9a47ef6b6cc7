// Invitations: links that let a person create an account, once. Only a hash of the link's token is stored.
import { randomBytes } from 'node:crypto'
import { type ExpressionBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import type { DB as Tables } from '../../db/tables.ts'
import { AppError, OperatorError } from '../../errors.ts'
import { base62, createSecretHash, createSecretHashes, withChecksum } from '../../lib/tokens.ts'
import { type Actor, checkStillMay, recordAudit } from './audit.ts'
import { holderOf, releaseAddress } from './email-verification.ts'
import { queueMail } from './mails.ts'
import {
  addPerson,
  checkPerson,
  countPeople,
  isOfTeam,
  normalEmail,
  type Person,
  type Position,
  type Role,
  type Team,
} from './people.ts'
import { noteSignInPlace } from './sign-in-places.ts'

const VALID_MS = 7 * 86_400_000
const MAX_OPEN = 50

/** `email` null: the person who opens the link chooses it. */
export type NewInvitation = Position & {
  email: string | null
  invitedBy: string | null
  /** Its link is emailed to the address, and shown nowhere else. */
  mailed?: boolean
}

export type Invitation = {
  invitation_id: number
  email: string | null
  role: Role
  publisher_id: number | null
  advertiser_id: number | null
  mailed: boolean
  created_at: Date
  expires_at: Date
}

/** What became of its mail. none: it is handed over. retrying: our mail server did not take it. refused: theirs never will. */
export const MAIL_STATUSES = ['none', 'queued', 'sent', 'retrying', 'refused'] as const
export type MailStatus = (typeof MAIL_STATUSES)[number]

/** Shown once; only a hash is kept. */
export type IssuedInvitation = Invitation & { token: string }

const COLUMNS = [
  'invitation_id',
  'email',
  'role',
  'publisher_id',
  'advertiser_id',
  'mailed',
  'created_at',
  'expires_at',
] as const

export async function invite(
  trx: Trx,
  by: Actor,
  secretKey: string,
  invitation: NewInvitation,
  now: Date,
): Promise<IssuedInvitation> {
  const { row, token } = newRow(secretKey, invitation, now)
  await checkStillMay(trx, by) // before invitations are locked: disabling a person locks that person first, too
  if (row.email !== null) await replaceInvitations(trx, row.email, invitation, now)
  const made = await trx.insertInto('invitations').values(row).returning(COLUMNS).executeTakeFirstOrThrow()
  if (row.mailed) await queueMail(trx, { kind: 'invitation', about: made.invitation_id, expiresAt: row.expires_at })
  const { email, role, publisherId } = invitation
  const entry = { action: 'invitation.create', subject: made.invitation_id, publisherId, details: { email, role } }
  await recordAudit(trx, by, entry)
  return { ...(made as Invitation), token }
}

export function createInvitationToken(secretKey: string): { token: string; hash: string } {
  const token = withChecksum(`inv_${base62(randomBytes(32), 43)}`)
  return { token, hash: createSecretHash(secretKey)(token) }
}

function newRow(secretKey: string, wanted: NewInvitation, now: Date) {
  const { email, role, publisherId, advertiserId = null, invitedBy, mailed = false } = wanted
  const { token, hash } = createInvitationToken(secretKey)
  const row = {
    token_hash: hash,
    email: email === null ? null : normalEmail(email),
    role,
    publisher_id: publisherId,
    advertiser_id: advertiserId,
    invited_by: invitedBy,
    mailed,
    created_at: now,
    expires_at: new Date(now.getTime() + VALID_MS),
  }
  return { row, token }
}

/** One link per email address: the latest. The number of open ones is limited. */
async function replaceInvitations(trx: Trx, email: string, team: Team, now: Date): Promise<void> {
  const ofTeam = trx.updateTable('invitations').set({ revoked_at: now }).where(isOfTeam(team))
  await ofTeam.where('email', '=', email).where(isOpen(now)).execute()
  if ((await listInvitations(trx, team, now)).length >= MAX_OPEN)
    throw new AppError('CONFLICT', `There are already ${MAX_OPEN} open invitations. Revoke some first.`)
}

export const invitationUrl = (publicUrl: string, token: string) => `${publicUrl}/join#${token}`

/** What can still be accepted. The first operator's link, which has no address, is void once there is an account. */
export const isOpen = (now: Date) => (is: ExpressionBuilder<Tables, 'invitations'>) =>
  is.and([
    is('accepted_at', 'is', null),
    is('revoked_at', 'is', null),
    is('expires_at', '>', now),
    is.or([is('email', 'is not', null), is.not(is.exists(is.selectFrom('people').select('people.id')))]),
  ])

const open = (db: Db, now: Date) => db.selectFrom('invitations').select(COLUMNS).where(isOpen(now))

/** Null when it was used, revoked, has expired, or never was. */
export async function findInvitation(db: Db, secretKey: string, token: string, now: Date): Promise<Invitation | null> {
  const row = await open(db, now).where('token_hash', 'in', createSecretHashes(secretKey)(token)).executeTakeFirst()
  return (row as Invitation | undefined) ?? null
}

/** Those that can still be accepted, of one team. */
export async function listInvitations(db: Db, team: Team, now: Date) {
  const rows = await open(db, now)
    .select((is) =>
      is
        .selectFrom('mails')
        .select(
          sql<string>`CASE WHEN status = 'queued' AND failure IS NOT NULL THEN 'retrying' ELSE status END`.as('mail'),
        )
        .where('kind', '=', 'invitation')
        .whereRef('about', '=', sql`invitation_id::text`)
        .as('mail'),
    )
    .where(isOfTeam(team))
    .orderBy('invitation_id', 'desc')
    .execute()
  return rows.map(({ mail, ...invitation }) => ({
    ...(invitation as Invitation),
    mail: (mail === null ? 'none' : mail === 'failed' ? 'refused' : mail) as MailStatus,
  }))
}

/** False when there is no such invitation of this team that could still be accepted. */
export async function revokeInvitation(
  trx: Trx,
  by: Actor,
  invitationId: number,
  team: Team,
  now: Date,
): Promise<boolean> {
  await checkStillMay(trx, by) // first, as in invite
  const revoked = await trx
    .updateTable('invitations')
    .set({ revoked_at: now })
    .where('invitation_id', '=', invitationId)
    .where(isOfTeam(team))
    .where(isOpen(now))
    .executeTakeFirst()
  if (revoked.numUpdatedRows === 0n) return false
  await recordAudit(trx, by, { action: 'invitation.revoke', subject: invitationId, publisherId: team.publisherId })
  return true
}

export type Acceptance = {
  token: string
  name: string
  email: string | null
  password: string
  ip: string
  requestId?: string
}

/** Creates the account and consumes the invitation: a second person with the same link gets null. */
export async function acceptInvitation(
  db: Db,
  secretKey: string,
  { token, name, email, password, ip, requestId }: Acceptance,
  now: Date,
): Promise<Person | null> {
  const open = await findInvitation(db, secretKey, token, now)
  if (open === null) return null
  const address = open.email ?? email
  if (address === null) throw new OperatorError('An email address is required.', 'email')
  const { role, publisher_id: publisherId, advertiser_id: advertiserId } = open
  const person = await checkPerson({ name, email: address, password, role, publisherId, advertiserId })
  return db.transaction().execute(async (trx) => {
    const used = await trx
      .updateTable('invitations')
      .set({ accepted_at: now })
      .where('token_hash', 'in', createSecretHashes(secretKey)(token))
      .where(isOpen(now))
      .executeTakeFirst()
    if (used.numUpdatedRows === 0n) return null
    await makeRoom(trx, { email: person.email, mailed: open.mailed, ip, requestId }, now)
    const joined = await addPerson(trx, person, open.mailed)
    await noteSignInPlace(trx, joined.id, ip, now) // where one joins is no surprise
    await recordAudit(
      trx,
      { id: joined.id, email: joined.email, ip, requestId },
      { action: 'person.join', subject: joined.id, publisherId, details: { role } },
    )
    return joined
  })
}

/** Opening an emailed link verifies the address: an account that never verified it gives way. */
async function makeRoom(
  trx: Trx,
  { email, mailed, ...origin }: { email: string; mailed: boolean; ip: string; requestId?: string | undefined },
  now: Date,
) {
  const { holder, personId } = await holderOf(trx, email)
  if (holder === 'none' || personId === null) return
  if (holder === 'taken' || !mailed)
    throw new AppError(
      'CONFLICT',
      'This email address already has an account. Ask for an invitation to another address.',
    )
  await releaseAddress(trx, { personId, ...origin }, now)
}

/** The first operator's link, or null once there is an account. Created at every start: the previous one is void. */
export async function inviteFirstOperator(db: Db, secretKey: string, now: Date): Promise<string | null> {
  return db.transaction().execute(async (trx) => {
    // Serializes two starts at once, and keeps accounts from being created meanwhile.
    await sql`LOCK TABLE invitations IN SHARE ROW EXCLUSIVE MODE`.execute(trx)
    if ((await countPeople(trx)) > 0) return null
    await trx
      .updateTable('invitations')
      .set({ revoked_at: now })
      .where('role', '=', 'operator')
      .where('email', 'is', null)
      .where('accepted_at', 'is', null)
      .execute()
    const { row, token } = newRow(secretKey, { role: 'operator', publisherId: null, email: null, invitedBy: null }, now)
    await trx.insertInto('invitations').values(row).execute()
    return token
  })
}
