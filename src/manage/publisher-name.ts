import type { Db } from '../db/open.ts'
import { readPublisherNames } from '../features/accounts/publishers.ts'
import { notThere } from './gate.ts'

/** Operators reach every number; not behind each is a publisher. */
export async function publisherName(db: Db, publisherId: number): Promise<string> {
  const name = (await readPublisherNames(db, [publisherId])).get(publisherId)
  if (name === undefined) throw notThere('There is no such publisher.')
  return name
}
