// What an operator should look at, in numbers.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'

const DAY_MS = 86_400_000
const UNMATCHED_DAYS = 7

export type Attention = { pendingConversions: number; unmatchedCalls: number; pausedLanes: number }

/** Calls count for a week: later nobody can do anything about them, and only the last partitions are looked into. */
export async function countAttention(db: Db, now: Date): Promise<Attention> {
  const since = uuid7Floor(now.getTime() - UNMATCHED_DAYS * DAY_MS)
  const { rows } = await sql<Attention>`SELECT
    (SELECT count(*) FROM conversions WHERE status = 'pending' AND NOT is_test) AS "pendingConversions",
    (SELECT count(*) FROM inbound_calls WHERE outcome = 'unmatched' AND inbound_id >= ${since}::uuid) AS "unmatchedCalls",
    (SELECT count(*) FROM postback_lanes WHERE paused_at IS NOT NULL) AS "pausedLanes"`.execute(db)
  return rows[0] ?? { pendingConversions: 0, unmatchedCalls: 0, pausedLanes: 0 }
}
