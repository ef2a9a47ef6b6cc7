// What the rows of a report are called: the names of apps, publishers, offers and advertisers.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { ReportGrouping } from './network-report.ts'

/** `owner`: the publisher of an app, the advertiser of an offer. */
export type RowName = { name: string; owner: string | null }

const NAMED: Partial<Record<ReportGrouping, string>> = {
  app: 'SELECT app_id AS id, a.name, p.name AS owner FROM apps a JOIN publishers p USING (publisher_id)',
  offer: 'SELECT offer_id AS id, o.name, a.name AS owner FROM offers o JOIN advertisers a USING (advertiser_id)',
  publisher: 'SELECT publisher_id AS id, name, NULL AS owner FROM publishers',
  advertiser: 'SELECT advertiser_id AS id, name, NULL AS owner FROM advertisers',
}

export async function readNames(
  db: Db,
  groupBy: ReportGrouping,
  ids: readonly number[],
): Promise<Map<number, RowName>> {
  const named = NAMED[groupBy]
  if (named === undefined || ids.length === 0) return new Map()
  const { rows } = await sql<RowName & { id: number }>`
    SELECT id, name, owner FROM (${sql.raw(named)}) named WHERE id = ANY (${[...ids]}::bigint[])`.execute(db)
  return new Map(rows.map(({ id, name, owner }) => [id, { name, owner }]))
}
