import type { Db } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/faults.ts'
import { OperatorError } from '../../errors.ts'

export type Advertiser = { advertiser_id: number; name: string; created_at: Date }

export async function createAdvertiser(db: Db, name: string): Promise<Advertiser> {
  if (name.trim() === '' || name.length > 200)
    throw new OperatorError('The name of an advertiser must have 1 to 200 characters.')
  try {
    return await db.insertInto('advertisers').values({ name }).returningAll().executeTakeFirstOrThrow()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`There is an advertiser "${name}" already.`)
    throw error
  }
}

export async function listAdvertisers(db: Db) {
  return db
    .selectFrom('advertisers')
    .leftJoin('offers', 'offers.advertiser_id', 'advertisers.advertiser_id')
    .select(['advertisers.advertiser_id', 'advertisers.name', 'advertisers.created_at'])
    .select((is) => is.fn.count<number>('offers.offer_id').as('offers'))
    .groupBy('advertisers.advertiser_id')
    .orderBy('advertisers.advertiser_id')
    .execute()
}
