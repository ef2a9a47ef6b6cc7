// What the rows of a report are called: the names of apps, publishers, offers and advertisers.
import type { Db } from '../../db/open.ts'
import type { ReportGrouping } from './network-report.ts'

/** `owner`: the publisher of an app, the advertiser of an offer. */
export type RowName = { name: string; owner: string | null }

export async function readNames(
  db: Db,
  groupBy: ReportGrouping,
  ids: readonly number[],
): Promise<Map<number, RowName>> {
  if (ids.length === 0) return new Map()
  const rows = await namesOf(db, groupBy, ids)
  return new Map(rows.map(({ id, name, owner }) => [id, { name, owner }]))
}

async function namesOf(db: Db, groupBy: ReportGrouping, ids: readonly number[]) {
  if (groupBy === 'app')
    return db
      .selectFrom('apps')
      .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
      .select(['app_id as id', 'apps.name', 'publishers.name as owner'])
      .where('app_id', 'in', ids)
      .execute()
  if (groupBy === 'offer')
    return db
      .selectFrom('offers')
      .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
      .select(['offer_id as id', 'offers.name', 'advertisers.name as owner'])
      .where('offer_id', 'in', ids)
      .execute()
  if (groupBy === 'publisher') {
    const rows = await db.selectFrom('publishers').select(['publisher_id as id', 'name']).where('publisher_id', 'in', ids).execute() // prettier-ignore
    return rows.map((row) => ({ ...row, owner: null }))
  }
  if (groupBy !== 'advertiser') return []
  const rows = await db.selectFrom('advertisers').select(['advertiser_id as id', 'name']).where('advertiser_id', 'in', ids).execute() // prettier-ignore
  return rows.map((row) => ({ ...row, owner: null }))
}
