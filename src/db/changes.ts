// Polls for what other processes changed, a few times a second: one cheap query while nothing happens.
//
// Rows carry the ID of the transaction that wrote them. A look asks for rows whose transaction its previous look could
// not see yet, by PostgreSQL's own record of what was committed then: those that were under way, by their IDs, and
// those that began later. So a transaction that commits late is not missed, one that stays open for long makes no look
// more expensive, and no row is read twice.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './open.ts'

/** A point in the history of the database; what was written since then is to be applied. */
export type Since = {
  /** Nothing is known of what was before: what is not there any more is to be forgotten. */
  isEverything: boolean
  /** True for a row that was written since then. */
  isNewer: RawBuilder<boolean>
  /** The same in parts, each of which an index on `changed_xid` can answer. */
  parts: RawBuilder<boolean>[]
}

export const EVERYTHING: Since = { isEverything: true, isNewer: sql<boolean>`true`, parts: [sql<boolean>`true`] }

export class ChangeFeed {
  readonly #db: Db
  readonly #table: 'apps' | 'offers'
  #seen: Seen

  private constructor(db: Db, table: 'apps' | 'offers', seen: Seen) {
    this.#db = db
    this.#table = table
    this.#seen = seen
  }

  /** Begins now: what is read after this, together with later looks, is complete. */
  static async open(db: Db, table: 'apps' | 'offers'): Promise<ChangeFeed> {
    const { rows } = await sql<Seen>`SELECT ${seen(table)}`.execute(db)
    return new ChangeFeed(db, table, rows[0] as Seen)
  }

  /** Calls `take` if anything changed since the last look. If that fails, the next look reports it again. */
  async look(take: (since: Since) => Promise<void>): Promise<void> {
    const before = this.#seen
    const since = sinceSnapshot(before.snapshot)
    const { rows } = await sql<Seen & { isOlder: boolean; isChanged: boolean }>`
      SELECT ${seen(this.#table)},
        pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmin(${before.snapshot}::pg_snapshot) AS "isOlder",
        EXISTS (SELECT FROM ${sql.table(this.#table)} WHERE ${since.isNewer}) AS "isChanged"`.execute(this.#db)
    const [now] = rows
    if (now === undefined) return
    if (now.isOlder || now.source !== before.source) await take(EVERYTHING)
    else if (now.isChanged) await take(since)
    this.#seen = { snapshot: now.snapshot, source: now.source }
  }
}

/**
 * What was committed, and where: this start of this server, this database, and this table, which a restored dump
 * recreates.
 */
type Seen = { snapshot: string; source: string }

// A restarted server may have been restored, or may have taken over from one that had not replicated everything.
const seen = (table: string) => sql`pg_current_snapshot()::text AS snapshot,
  concat_ws('/', pg_postmaster_start_time(), (SELECT oid FROM pg_database WHERE datname = current_database()),
    ${table}::regclass::oid) AS source`

/** A snapshot is written `xmin:xmax:` and the ids under way between them. */
function sinceSnapshot(snapshot: string): Since {
  const [, xmax = '0', underWay = ''] = snapshot.split(':')
  // A restored row can have an id that this server has not come to yet; it was read when everything was.
  const parts = [sql<boolean>`(changed_xid >= ${xmax}::xid8 AND changed_xid < pg_snapshot_xmax(pg_current_snapshot()))`]
  if (underWay !== '') parts.unshift(sql<boolean>`changed_xid = ANY (${`{${underWay}}`}::xid8[])`)
  return { isEverything: false, isNewer: sql<boolean>`(${sql.join(parts, sql` OR `)})`, parts }
}
