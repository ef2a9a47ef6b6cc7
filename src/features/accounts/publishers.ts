import type { Db } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/faults.ts'
import { OperatorError } from '../../errors.ts'

export type Publisher = { publisher_id: number; name: string; email: string | null; created_at: Date }

/** `email` is where notices go. */
export async function createPublisher(db: Db, name: string, email: string | null = null): Promise<Publisher> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of a publisher must have 1 to 200 characters.')
  checkEmail(email)
  try {
    return await db.insertInto('publishers').values({ name, email }).returningAll().executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`There is a publisher "${name}" already.`)
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
    throw new OperatorError(`There is no publisher ${publisherId}. "offerdeck publisher list" shows them.`)
}

function checkEmail(email: string | null): void {
  if (email !== null && (email.length > 254 || !/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(email)))
    throw new OperatorError(`"${email}" is not an e-mail address.`)
}

export async function findPublisher(db: Db, name: string): Promise<Publisher> {
  const found = await db.selectFrom('publishers').selectAll().where('name', '=', name).executeTakeFirst()
  if (found === undefined) {
    throw new OperatorError(
      `There is no publisher "${name}". Make it with: offerdeck publisher create --name "${name}"`,
    )
  }
  return found
}

export async function listPublishers(db: Db) {
  return db
    .selectFrom('publishers')
    .leftJoin('apps', 'apps.publisher_id', 'publishers.publisher_id')
    .select(['publishers.publisher_id', 'publishers.name', 'publishers.email', 'publishers.created_at'])
    .select((is) => is.fn.count<number>('apps.app_id').as('apps'))
    .groupBy('publishers.publisher_id')
    .orderBy('publishers.publisher_id')
    .execute()
}
