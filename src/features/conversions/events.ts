// The feed of conversion events. Events get their place in it after they are committed, from one process at a time: so a
// place is never filled later, and whoever has read up to a place has missed nothing before it.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { rfc3339 } from '../../lib/time.ts'
import { type Conversion, conversionOfJson, presentConversion, type Status } from './conversions.ts'

const LOCK = 0x0ff3_0008
const BATCH = 5_000

/** Gives every event that is committed and has no place yet the next one; returns how many there were. */
export async function numberEvents(db: Db): Promise<number> {
  const waiting = await sql`SELECT FROM conversion_events WHERE seq IS NULL LIMIT 1`.execute(db)
  if (waiting.rows.length === 0) return 0
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${LOCK}) AS locked`.execute(trx)
    if (!rows[0]?.locked) return 0 // somebody else is at it
    const numbered = await sql`
      WITH next AS (
        SELECT conversion_id, sequence, nextval('event_feed') AS place
        FROM (SELECT conversion_id, sequence FROM conversion_events WHERE seq IS NULL ORDER BY event_no LIMIT ${BATCH}) waiting
      )
      UPDATE conversion_events e SET seq = next.place FROM next
      WHERE e.conversion_id = next.conversion_id AND e.sequence = next.sequence`.execute(trx)
    return Number(numbered.numAffectedRows ?? 0)
  })
}

export type FeedEvent = {
  seq: number
  event_id: string
  sequence: number
  status: Status
  created_at: Date
  conversion: Conversion
}

/** The events of one app, in their order, behind a place. */
export async function readEvents(
  db: Db,
  of: { appId: number; isTest: boolean },
  after: number,
  limit: number,
): Promise<FeedEvent[]> {
  const rows = await db
    .selectFrom('conversion_events')
    .select(['seq', 'event_id', 'sequence', 'status', 'created_at', 'snapshot'])
    .where('app_id', '=', of.appId)
    .where('is_test', '=', of.isTest)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    seq: row.seq ?? 0,
    event_id: row.event_id,
    sequence: row.sequence,
    status: row.status as Status,
    created_at: row.created_at,
    conversion: conversionOfJson(row.snapshot as Record<string, unknown>),
  }))
}

/** An event as it is told, in the feed and in a postback. */
export function presentEvent({ event_id, sequence, status, created_at, conversion }: FeedEvent) {
  return {
    id: event_id,
    type: `conversion.${status}`,
    created_at: rfc3339(created_at),
    sequence,
    data: presentConversion(conversion),
  }
}
