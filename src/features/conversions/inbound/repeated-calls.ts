// Repeated calls about one click that change nothing. A holder of a token can send them without end, so the first ones
// of a day are stored in full, and the others only counted on the last of those.
import { sql } from 'kysely'
import type { Trx } from '../../../db/open.ts'
import { Cache } from '../../../lib/cache.ts'

const KEPT_WHOLE = 20
const DAY_MS = 86_400_000
const MAX_SUBJECTS = 50_000

type Kept = { count: number; lastId: string; sinceMs: number }

/** As far as this process knows: each process stores the first ones by itself. */
export class RepeatedCalls {
  readonly #kept = new Cache<string, Kept>(MAX_SUBJECTS)

  /** The logged call that counts one more, or null: the call is to be stored itself. */
  findFull(subject: string, nowMs: number): string | null {
    const kept = this.#kept.get(subject)
    return kept === undefined || kept.count < KEPT_WHOLE || nowMs - kept.sinceMs > DAY_MS ? null : kept.lastId
  }

  /** Call this for a call that changed nothing and was stored. */
  note(subject: string, inboundId: string, nowMs: number): void {
    const before = this.#kept.get(subject)
    const isOld = before === undefined || nowMs - before.sinceMs > DAY_MS
    const { count, sinceMs } = isOld ? { count: 0, sinceMs: nowMs } : before
    this.#kept.set(subject, { count: count + 1, lastId: inboundId, sinceMs })
  }
}

/** Counts repeats on logged calls, one for each time an ID is given. */
export async function countRepeats(trx: Trx, inboundIds: readonly string[], now: Date): Promise<void> {
  for (const [inboundId, repeats] of Map.groupBy(inboundIds.toSorted(), (id) => id))
    await sql`
      UPDATE inbound_calls SET repeats = coalesce(repeats, 0) + ${repeats.length}::integer, repeated_at = ${now}::timestamptz
      WHERE inbound_id = ${inboundId}::uuid`.execute(trx)
}
