// The audit log: every change that a person made, with who, what, when and from where. Never changed.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import type { Role } from './people.ts'

/** Who did it. `id` null: nobody was signed in, such as somebody who accepts an invitation. */
export type Doer = {
  id: string | null
  email: string
  ip: string | null
  /** What somebody who is signed in was let through as. It must still be so when the change is recorded. */
  role?: Role | null
  /** The token that a program used. */
  via?: string | null
}

export type Deed = {
  /** noun.verb */
  action: string
  /** The noun's id. */
  subject: string | number
  /** Whom it concerns, where it concerns one publisher. */
  publisherId?: number | null
  /** What is worth knowing. Never a secret. */
  details?: Record<string, unknown>
}

/**
 * In the transaction of the change: neither is there without the other. Whoever was disabled or given another role since
 * they were let through changes nothing. Returns its audit_id.
 */
export async function recordDeed(trx: Trx, by: Doer, deed: Deed): Promise<number> {
  await checkStillMay(trx, by)
  const { details, ...row } = rowOf(by, deed)
  const { audit_id } = await trx
    .insertInto('audit_log')
    .values({ ...row, details: JSON.stringify(details) })
    .returning('audit_id')
    .executeTakeFirstOrThrow()
  return audit_id
}

/** Locked until the transaction ends, so that whoever disables them meanwhile comes after it, or before all of it. */
async function checkStillMay(trx: Trx, { id, role }: Doer): Promise<void> {
  if (id === null || role === undefined || role === null) return
  const person = await trx
    .selectFrom('people')
    .select(['role', 'disabled_at'])
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst()
  if (person?.role !== role || person.disabled_at !== null)
    throw new AppError('NOT_ALLOWED', 'Your account may no longer do that.')
}

/**
 * For a change that is not made in one transaction of ours: an import in pieces, a call that is settled elsewhere, what
 * better-auth writes. To be called before the change, so that a crash leaves an entry rather than none.
 */
export const recordDeedAlone = (db: Db, by: Doer, deed: Deed): Promise<number> =>
  inTransaction(db, (trx) => recordDeed(trx, by, deed))

/** What a deed did to many, one by one: the history of each, and left out where whole deeds are listed. */
export async function recordParts(trx: Trx, by: Doer, auditId: number, parts: Deed[]): Promise<void> {
  const rows = parts.map((part) => ({ ...rowOf(by, part), part_of: auditId }))
  await sql`
    INSERT INTO audit_log (person_id, who, ip, via, action, subject, publisher_id, details, part_of)
    SELECT person_id, who, ip, via, action, subject, publisher_id, details, part_of
    FROM json_populate_recordset(NULL::audit_log, ${JSON.stringify(rows)})`.execute(trx)
}

const rowOf = (by: Doer, { action, subject, publisherId = null, details = {} }: Deed) => ({
  person_id: by.id,
  who: by.email,
  ip: by.ip,
  via: by.via ?? null,
  action,
  subject: String(subject),
  publisher_id: publisherId,
  details,
})

/** Every part narrows; what is absent does not. */
export type DeedFilter = {
  publisherId?: number
  /** noun. or noun.verb */
  action?: string
  subject?: string
  who?: string
  before?: number
}

/** Newest first. Parts of deeds only where it is about one subject. */
export async function listDeeds(db: Db, filter: DeedFilter, limit: number) {
  let query = db
    .selectFrom('audit_log')
    .select(['audit_id', 'created_at', 'who', 'action', 'subject', 'publisher_id', 'details', 'ip', 'via'])
  if (filter.publisherId !== undefined) query = query.where('publisher_id', '=', filter.publisherId)
  if (filter.action !== undefined)
    query = query.where('action', 'like', `${filter.action.replaceAll(/[%_\\]/g, '\\$&')}%`)
  query =
    filter.subject === undefined ? query.where('part_of', 'is', null) : query.where('subject', '=', filter.subject)
  if (filter.who !== undefined) query = query.where('who', '=', filter.who.toLowerCase())
  if (filter.before !== undefined) query = query.where('audit_id', '<', filter.before)
  return query.orderBy('audit_id', 'desc').limit(limit).execute()
}
