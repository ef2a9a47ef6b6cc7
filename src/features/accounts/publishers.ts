import type { Db } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/faults.ts'
import { OperatorError } from '../../errors.ts'

export type Publisher = { publisher_id: number; name: string; created_at: Date }

export async function createPublisher(db: Db, name: string): Promise<Publisher> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of a publisher must have 1 to 200 characters.')
  try {
    return await db.insertInto('publishers').values({ name }).returningAll().executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`There is a publisher "${name}" already.`)
    throw error
  }
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
    .select(['publishers.publisher_id', 'publishers.name', 'publishers.created_at'])
    .select((is) => is.fn.count<number>('apps.app_id').as('apps'))
    .groupBy('publishers.publisher_id')
    .orderBy('publishers.publisher_id')
    .execute()
}
