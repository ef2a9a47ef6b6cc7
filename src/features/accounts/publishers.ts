import { type Db, inTransaction } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { containing, idOf } from '../../db/search.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import type { Reference } from '../../lib/reference.ts'
import { type Actor, recordAudit } from './audit.ts'
import { checkEmail } from './email.ts'

export type Publisher = { publisher_id: number; name: string; email: string | null; status: string; created_at: Date }

const COLUMNS = ['publisher_id', 'name', 'email', 'status', 'created_at'] as const

/** `email` is where notices go. */
export async function createPublisher(
  db: Db,
  by: Actor,
  name: string,
  email: string | null = null,
): Promise<Publisher> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of a publisher must have 1 to 200 characters.', 'name')
  checkEmail(email)
  try {
    return await inTransaction(db, async (trx) => {
      const values = { name, email }
      const made = await trx.insertInto('publishers').values(values).returning(COLUMNS).executeTakeFirstOrThrow()
      const { publisher_id: publisherId } = made
      await recordAudit(trx, by, { action: 'publisher.create', subject: publisherId, publisherId, details: values })
      return made
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`A publisher "${name}" already exists.`, 'name')
    throw error
  }
}

export async function setPublisherEmail(db: Db, by: Actor, publisherId: number, email: string | null): Promise<void> {
  checkEmail(email)
  await inTransaction(db, async (trx) => {
    const before = await trx
      .selectFrom('publishers')
      .select('email')
      .where('publisher_id', '=', publisherId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (before === undefined) throw new NoSuch('publisher', publisherId)
    await trx.updateTable('publishers').set({ email }).where('publisher_id', '=', publisherId).execute()
    const details = { email, email_before: before.email }
    await recordAudit(trx, by, { action: 'publisher.change', subject: publisherId, publisherId, details })
  })
}

/** Those with this ID or this name. */
export async function matchPublishers(db: Db, { id, name }: Reference): Promise<Publisher[]> {
  return db
    .selectFrom('publishers')
    .select(COLUMNS)
    .where((is) => is.or([is('publisher_id', '=', id), is('name', '=', name)]))
    .execute()
}

export async function listPublishers(db: Db) {
  return db
    .selectFrom('publishers')
    .leftJoin('apps', 'apps.publisher_id', 'publishers.publisher_id')
    .select([
      'publishers.publisher_id',
      'publishers.name',
      'publishers.email',
      'publishers.status',
      'publishers.created_at',
    ])
    .select((is) => is.fn.count<number>('apps.app_id').as('apps'))
    .groupBy('publishers.publisher_id')
    .orderBy('publishers.publisher_id')
    .execute()
}

/** Those that there are. */
export async function readPublisherNames(db: Db, publisherIds: readonly number[]): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('publishers')
    .select(['publisher_id', 'name'])
    .where((is) => is('publisher_id', '=', is.fn.any(is.val(publisherIds))))
    .execute()
  return new Map(rows.map(({ publisher_id, name }) => [publisher_id, name]))
}

/** Newest first. `search` is part of a name or an email address, or an ID. */
export async function searchPublishers(
  db: Db,
  { search, status, before }: { search?: string; status?: string; before?: number },
  limit: number,
) {
  let query = db
    .selectFrom('publishers')
    .select(COLUMNS)
    .select((is) =>
      is
        .selectFrom('apps')
        .select((count) => count.fn.countAll<number>().as('apps'))
        .whereRef('apps.publisher_id', '=', 'publishers.publisher_id')
        .as('apps'),
    )
  if (search !== undefined) {
    const pattern = containing(search)
    query = query.where((is) =>
      is.or([is('name', 'ilike', pattern), is('email', 'ilike', pattern), is('publisher_id', '=', idOf(search))]),
    )
  }
  if (status !== undefined) query = query.where('status', '=', status)
  if (before !== undefined) query = query.where('publisher_id', '<', before)
  return query.orderBy('publisher_id', 'desc').limit(limit).execute()
}

export async function readPublisher(db: Db, publisherId: number): Promise<Publisher | null> {
  const found = await db
    .selectFrom('publishers')
    .select(COLUMNS)
    .where('publisher_id', '=', publisherId)
    .executeTakeFirst()
  return found ?? null
}
