// The audit log: every change that a person made, with who, what, when and from where. Never changed.
import type { Db } from '../../db/open.ts'

/** Who did it. `id` null: nobody was signed in, such as somebody who accepts an invitation. */
export type Doer = { id: string | null; email: string; ip: string | null }

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

/** In the transaction of the change where there is one, else right after it. */
export async function recordDeed(db: Db, by: Doer, { action, subject, publisherId = null, details = {} }: Deed) {
  await db
    .insertInto('audit_log')
    .values({
      person_id: by.id,
      who: by.email,
      ip: by.ip,
      action,
      subject: String(subject),
      publisher_id: publisherId,
      details: JSON.stringify(details),
    })
    .execute()
}

/** Every part narrows; what is absent does not. */
export type DeedFilter = {
  publisherId?: number
  /** noun. or noun.verb */
  action?: string
  subject?: string
  who?: string
  before?: number
}

/** Newest first. */
export async function listDeeds(db: Db, filter: DeedFilter, limit: number) {
  let query = db
    .selectFrom('audit_log')
    .select(['audit_id', 'created_at', 'who', 'action', 'subject', 'publisher_id', 'details', 'ip'])
  if (filter.publisherId !== undefined) query = query.where('publisher_id', '=', filter.publisherId)
  if (filter.action !== undefined)
    query = query.where('action', 'like', `${filter.action.replaceAll(/[%_\\]/g, '\\$&')}%`)
  if (filter.subject !== undefined) query = query.where('subject', '=', filter.subject)
  if (filter.who !== undefined) query = query.where('who', '=', filter.who.toLowerCase())
  if (filter.before !== undefined) query = query.where('audit_id', '<', filter.before)
  return query.orderBy('audit_id', 'desc').limit(limit).execute()
}
