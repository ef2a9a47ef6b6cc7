// Tells a process what other processes changed, by asking a few times a second: one cheap query while nothing happens.
//
// Rows carry the id of the transaction that wrote them. A look asks for the rows whose transaction its previous look
// could not see yet, by PostgreSQL's own record of what was committed then. So a transaction that commits late is not
// missed, one that stays open for long costs nothing, and no row is read twice.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './open.ts'

/** A point in the history of the database, and which tables have rows that are newer. */
export type Since = {
  apps: boolean
  offers: boolean
  /** True for a row of such a table when it was written since then. */
  isNewer: RawBuilder<boolean>
  /** The id of the oldest transaction that may have written one. */
  oldestXid: string
}

const EVERYTHING = sql<boolean>`true`

export class ChangeFeed {
  readonly #db: Db
  #snapshot: string

  private constructor(db: Db, snapshot: string) {
    this.#db = db
    this.#snapshot = snapshot
  }

  /** Begins now: what is read after this, and what later looks tell, is all there is. */
  static async open(db: Db): Promise<ChangeFeed> {
    const { rows } = await sql<{ snapshot: string }>`SELECT pg_current_snapshot()::text AS snapshot`.execute(db)
    return new ChangeFeed(db, rows[0]?.snapshot ?? '')
  }

  readonly everything: Since = { apps: true, offers: true, isNewer: EVERYTHING, oldestXid: '0' }

  /** Calls `take` if anything changed since the last look. When that fails, the next look tells it again. */
  async look(take: (since: Since) => Promise<void>): Promise<void> {
    const before = this.#snapshot
    const isNewer = sql<boolean>`(changed_xid >= pg_snapshot_xmin(${before}::pg_snapshot)
      AND changed_xid < pg_snapshot_xmax(pg_current_snapshot())
      AND NOT pg_visible_in_snapshot(changed_xid, ${before}::pg_snapshot))`
    const { rows } = await sql<{ snapshot: string; isOlder: boolean; xmin: string; apps: boolean; offers: boolean }>`
      SELECT pg_current_snapshot()::text AS snapshot,
        pg_snapshot_xmin(${before}::pg_snapshot)::text AS xmin,
        pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmin(${before}::pg_snapshot) AS "isOlder",
        EXISTS (SELECT FROM apps WHERE ${isNewer}) AS apps,
        EXISTS (SELECT FROM offers WHERE ${isNewer}) AS offers`.execute(this.#db)
    const [now] = rows
    if (now === undefined) return
    // A server that knows less than before was restored, or has taken over from one that had not told it everything.
    if (now.isOlder) await take(this.everything)
    else if (now.apps || now.offers) await take({ apps: now.apps, offers: now.offers, isNewer, oldestXid: now.xmin })
    this.#snapshot = now.snapshot
  }
}
