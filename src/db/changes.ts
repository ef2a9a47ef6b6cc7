// Tells a process what other processes changed, by asking a few times a second: one cheap query while nothing happens.
//
// Rows carry the id of the transaction that wrote them. A look asks for rows not older than the oldest transaction that
// was still running at the look before, so a transaction that commits late is not missed; rows seen twice are the same.
import { sql } from 'kysely'
import type { Db } from './open.ts'

export type ChangedTable = 'apps' | 'offers'

/** Marks a point in the history of the database: all that committed before it has been seen. */
export type Watermark = string

export async function currentWatermark(db: Db): Promise<Watermark> {
  const { rows } = await sql<{ xmin: string }>`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin`.execute(db)
  return rows[0]?.xmin ?? '0'
}

export type Look = { watermark: Watermark; changed: Record<ChangedTable, boolean> }

/** Which tables changed since `watermark`, and the mark for the next look. */
export async function lookForChanges(db: Db, watermark: Watermark): Promise<Look> {
  const { rows } = await sql<{ xmin: string; apps: boolean; offers: boolean }>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
      EXISTS (SELECT FROM apps WHERE changed_xid >= ${watermark}::xid8) AS apps,
      EXISTS (SELECT FROM offers WHERE changed_xid >= ${watermark}::xid8) AS offers`.execute(db)
  const { xmin = watermark, apps = false, offers = false } = rows[0] ?? {}
  return { watermark: xmin, changed: { apps, offers } }
}
