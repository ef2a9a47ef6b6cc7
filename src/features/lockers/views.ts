// How often the pages of lockers are shown: counted in memory, and added to the database now and then.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

export class LockerViews {
  #counts = new Map<number, number>()

  note(lockerId: number): void {
    this.#counts.set(lockerId, (this.#counts.get(lockerId) ?? 0) + 1)
  }

  async write(db: Db): Promise<void> {
    if (this.#counts.size === 0) return
    const counts = [...this.#counts]
    this.#counts = new Map()
    try {
      await sql`
        WITH seen AS (SELECT * FROM unnest(${counts.map(([id]) => id)}::bigint[], ${counts.map(([, n]) => n)}::bigint[]) AS s (locker_id, n)),
          locked AS (SELECT locker_id FROM lockers WHERE locker_id IN (SELECT locker_id FROM seen) ORDER BY locker_id FOR NO KEY UPDATE)
        UPDATE lockers l SET views = views + s.n FROM seen s JOIN locked USING (locker_id) WHERE l.locker_id = s.locker_id`.execute(
        db,
      )
    } catch (error) {
      for (const [id, n] of counts) this.#counts.set(id, (this.#counts.get(id) ?? 0) + n)
      throw error
    }
  }
}
