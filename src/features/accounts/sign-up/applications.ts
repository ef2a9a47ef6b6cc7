// Applications of publishers that signed up, as operators review them. Who decides is the status of the publisher: an
// application is decided with it (apps/permissions.ts), in one transaction that holds the publisher.
import type { Db, Trx } from '../../../db/open.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { queueMail } from '../mails.ts'
import type { Answer } from './answers.ts'

export const APPLICATION_STATUSES = ['waiting', 'approved', 'refused'] as const
export type ApplicationStatus = (typeof APPLICATION_STATUSES)[number]

const MAIL_MS = 3 * 86_400_000

export type Application = {
  application_id: number
  publisher_id: number
  publisher: string
  status: ApplicationStatus
  name: string
  email: string
  company: string
  website: string
  created_at: Date
  verified_at: Date
  decided_at: Date | null
  decided_by: string | null
  reason: string | null
}

const verified = (db: Db) =>
  db
    .selectFrom('applications')
    .innerJoin('publishers', 'publishers.publisher_id', 'applications.publisher_id')
    .select([
      'application_id',
      'applications.publisher_id',
      'publishers.name as publisher',
      'applications.status',
      'applications.name',
      'applications.email',
      'company',
      'website',
      'applications.created_at',
      'verified_at',
      'decided_at',
      'decided_by',
      'reason',
    ])

/** Those whose address is verified, newest first. */
export async function listApplications(
  db: Db,
  { status, before }: { status?: ApplicationStatus; before?: number },
  limit: number,
): Promise<Application[]> {
  let query = verified(db)
  query = status === undefined ? query : query.where('applications.status', '=', status)
  query = before === undefined ? query : query.where('application_id', '<', before)
  return (await query.orderBy('application_id', 'desc').limit(limit).execute()) as Application[]
}

/** Null for a publisher that did not sign up. */
export async function readApplication(db: Db, publisherId: number) {
  const found = await verified(db)
    .select(['answers', 'ip'])
    .where('applications.publisher_id', '=', publisherId)
    .executeTakeFirst()
  return (found as (Application & { answers: Answer[]; ip: string | null }) | undefined) ?? null
}

export async function countWaiting(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('applications')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('status', '=', 'waiting')
    .executeTakeFirstOrThrow()
  return count
}

/** active approves, also what was refused before; suspended refuses. */
export async function settleApplication(
  trx: Trx,
  by: Actor,
  publisherId: number,
  { status, reason }: { status: 'pending' | 'active' | 'suspended'; reason: string | null },
): Promise<void> {
  if (status === 'pending') return
  const isApproved = status === 'active'
  const decided = await trx
    .updateTable('applications')
    .set((is) => ({
      status: isApproved ? 'approved' : 'refused',
      reason: isApproved ? null : reason,
      decided_by: by.email,
      decided_at: is.fn('now'),
    }))
    .where('publisher_id', '=', publisherId)
    .where('status', 'in', isApproved ? ['waiting', 'refused'] : ['waiting'])
    .returning('application_id')
    .executeTakeFirst()
  if (decided === undefined) return
  const { application_id } = decided
  const expiresAt = new Date(Date.now() + MAIL_MS)
  await queueMail(trx, { kind: 'application_decision', about: application_id, expiresAt })
  const action = isApproved ? 'application.approve' : 'application.refuse'
  const details = isApproved ? {} : { reason }
  await recordAudit(trx, by, { action, subject: publisherId, publisherId, details })
}
