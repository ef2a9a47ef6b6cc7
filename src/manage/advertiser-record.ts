import type { Db } from '../db/open.ts'
import { type Advertiser, findAdvertiserName, getAdvertiser } from '../features/accounts/advertisers.ts'
import { notThere } from './gate.ts'

/** Operators reach every number; not behind each is an advertiser. None is ever deleted. */
export async function findAdvertiserOf(db: Db, advertiserId: number): Promise<Advertiser> {
  if ((await findAdvertiserName(db, advertiserId)) === null) throw notThere('There is no such advertiser.')
  return getAdvertiser(db, advertiserId)
}
