import type { Db } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { OperatorError } from '../../errors.ts'

export type Publisher = { publisher_id: number; name: string; email: string | null; status: string; created_at: Date }

const COLUMNS = ['publisher_id', 'name', 'email', 'status', 'created_at'] as const

/** `email` is where notices go. */
export async function createPublisher(db: Db, name: string, email: string | null = null): Promise<Publisher> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of a publisher must have 1 to 200 characters.')
  checkEmail(email)
  try {
    return await db.insertInto('publishers').values({ name, email }).returning(COLUMNS).executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`A publisher "${name}" already exists.`)
    throw error
  }
}

export async function setPublisherEmail(db: Db, publisherId: number, email: string | null): Promise<void> {
  checkEmail(email)
  const changed = await db
    .updateTable('publishers')
    .set({ email })
    .where('publisher_id', '=', publisherId)
    .executeTakeFirst()
  if (changed.numUpdatedRows === 0n)
    throw new OperatorError(`There is no publisher ${publisherId}. List publishers with: offerdeck publisher list`)
}

export function checkEmail(email: string | null): void {
  if (email !== null && (email.length > 254 || !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(email)))
    throw new OperatorError(`"${email}" is not an e-mail address.`)
}

export async function findPublisher(db: Db, name: string): Promise<Publisher> {
  const found = await db.selectFrom('publishers').select(COLUMNS).where('name', '=', name).executeTakeFirst()
  if (found === undefined) {
    throw new OperatorError(
      `There is no publisher "${name}". Create it with: offerdeck publisher create --name "${name}"`,
    )
  }
  return found
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
    const pattern = `%${search.replaceAll(/[%_\\]/g, '\\$&')}%`
    query = query.where((is) =>
      is.or([
        is('name', 'ilike', pattern),
        is('email', 'ilike', pattern),
        ...(/^\d{1,15}$/.test(search) ? [is('publisher_id', '=', Number(search))] : []),
      ]),
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
