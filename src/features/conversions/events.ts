// The feed of conversion events. An event gets its position after it is committed, by one process at a time: a position
// is never filled later, so a reader that has read up to a position has missed nothing before it.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import { markTime } from '../../db/mark-time.ts'
import type { Db } from '../../db/open.ts'
import { rfc3339 } from '../../lib/time.ts'
import { presentConversion, type PublicConversion } from './conversions.ts'

const BATCH = 5_000

/**
 * The number up to which no event waits for its position, nor ever will. Rows deleted below it are not scanned again:
 * while an old snapshot is open, PostgreSQL cannot vacuum them.
 *
 * A number may be taken early and committed late. So the last number taken at some time counts as passed once every
 * transaction of that time has ended, and nothing up to it waits.
 */
export class Passed {
  #number = 0
  #lastTaken = 0
  #next: { number: number; mark: bigint } | null = null

  get number(): number {
    return this.#number
  }

  /** Read in one statement: the oldest running transaction, the last number, the first that waits. */
  look({ xmin, taken, first }: Seen): void {
    if (taken < this.#lastTaken) {
      this.#number = 0 // the database was restored
      this.#next = null
    }
    this.#lastTaken = taken
    const next = this.#next
    if (next === null || BigInt(xmin) < next.mark || (first !== null && first <= next.number)) return
    this.#number = next.number
    this.#next = null
  }

  /** Whether numbers were taken beyond those passed, so that a later `mark` is needed. */
  get needsMark(): boolean {
    return this.#next === null && this.#lastTaken > this.#number
  }

  /** A time after the last look, by `markTime`. */
  mark(id: string): void {
    this.#next = { number: this.#lastTaken, mark: BigInt(id) }
  }
}

type Seen = { xmin: string; taken: number; first: number | null }

/** Gives every committed event without a position the next one; returns how many there were. */
export async function numberEvents(db: Db, passed = new Passed()): Promise<number> {
  const { rows } = await sql<Seen>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
      (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM waiting_events_event_no_seq) AS taken,
      (SELECT event_no FROM waiting_events WHERE event_no > ${passed.number} ORDER BY event_no LIMIT 1) AS first`.execute(
    db,
  )
  const [seen] = rows
  if (seen !== undefined) passed.look(seen)
  if (passed.needsMark) passed.mark(await markTime(db))
  if (seen === undefined || seen.first === null) return 0
  return db.transaction().execute(async (trx) => {
    if (!(await tryLock(trx, LOCKS.eventFeed))) return 0
    const numbered = await sql`
      WITH next AS (
        DELETE FROM waiting_events WHERE event_no = ANY (ARRAY(
          SELECT event_no FROM waiting_events WHERE event_no > ${passed.number} ORDER BY event_no LIMIT ${BATCH}))
        RETURNING *
      )
      INSERT INTO event_feed (conversion_id, sequence, app_id, is_test)
      SELECT conversion_id, sequence, app_id, is_test FROM next ORDER BY event_no`.execute(trx)
    return Number(numbered.numAffectedRows ?? 0)
  })
}

/**
 * A status change, and the conversion as it was then. `sign` is -1 where reversed amounts are sent as negative;
 * `request_id` is null where no request caused it.
 */
export type ConversionEvent = {
  event_id: string
  created_at: Date
  request_id: string | null
  conversion: PublicConversion
  sign: 1 | -1
}
export type FeedEvent = ConversionEvent & { seq: number }
export type NamedEvent = ConversionEvent & { offerName: string; goalName: string }

/** The events of one app in order, after a position. */
export async function readEvents(
  db: Db,
  of: { appId: number; isTest: boolean },
  after: number,
  limit: number,
): Promise<FeedEvent[]> {
  const rows = await selectEvents(db)
    .innerJoin('event_feed as f', (on) =>
      on.onRef('f.conversion_id', '=', 'e.conversion_id').onRef('f.sequence', '=', 'e.sequence'),
    )
    .select('f.seq')
    .where('f.app_id', '=', of.appId)
    .where('f.is_test', '=', of.isTest)
    .where('f.seq', '>', after)
    .orderBy('f.seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ seq: row.seq, ...eventOf(row) }))
}

/** These events, with offer and goal names. The plan is cached: the caller makes sure that rows are found by index. */
export async function readEventsOf(
  db: Db,
  wanted: readonly { conversion_id: string; sequence: number }[],
): Promise<NamedEvent[]> {
  const ids = wanted.map((one) => one.conversion_id)
  const sequences = wanted.map((one) => one.sequence)
  const query = selectEvents(db)
    .innerJoin('offers as o', 'o.offer_id', 'c.offer_id')
    .innerJoin('goals as g', 'g.goal_id', 'c.goal_id')
    .select(['o.name as offer_name', 'g.name as goal_name'])
    .where(
      sql<boolean>`(e.conversion_id, e.sequence) IN (SELECT * FROM unnest(${ids}::uuid[], ${sequences}::integer[]))`,
    )
  const { rows } = await sql<EventRow & { offer_name: string; goal_name: string }>`/* events-named */ ${query}`.execute(
    db,
  )
  return rows.map((row) => ({ ...eventOf(row), offerName: row.offer_name, goalName: row.goal_name }))
}

const selectEvents = (db: Db) =>
  db
    .selectFrom('conversion_events as e')
    .innerJoin('conversions as c', 'c.conversion_id', 'e.conversion_id')
    .leftJoin('postback_settings as s', 's.app_id', 'e.app_id')
    .select(ALWAYS)
    .select(THEN)
    .select(['e.created_at as moved_at', 'e.request_id', 's.negative_reversals'])

type EventRow = Awaited<ReturnType<ReturnType<typeof selectEvents>['execute']>>[number]

function eventOf(row: EventRow): ConversionEvent {
  const conversion = row as PublicConversion
  const isTakenBack = conversion.status === 'reversed' && row.negative_reversals !== false
  const { event_id, moved_at: created_at, request_id } = row
  return { event_id, created_at, request_id, conversion, sign: isTakenBack ? -1 : 1 }
}

/** The last position of the feed that was given away, be it before the database was restored. */
export async function readFeedEnd(db: Db): Promise<number> {
  const { rows } = await sql<{ end: number }>`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS end FROM event_feed_seq_seq`.execute(db)
  return rows[0]?.end ?? 0
}

/** Columns that never change. */
const ALWAYS = [
  'c.conversion_id',
  'c.app_id',
  'c.offer_id',
  'c.goal_id',
  'c.user_id',
  'c.is_test',
  'c.source',
  'c.created_at',
] as const

/** Columns as they were then. */
const THEN = [
  'e.sequence',
  'e.event_id',
  'e.actor',
  'e.status',
  'e.status_reason',
  'e.publisher_transaction_id',
  'e.payout_micros',
  'e.revenue_micros',
  'e.currency',
  'e.rate_micros',
  'e.rounding',
  'e.multiplier_ppm',
  'e.locker_id',
  'e.aff_sub',
  'e.aff_sub2',
  'e.aff_sub3',
  'e.aff_sub4',
  'e.click_id',
  'e.click_at',
  'e.ip',
  'e.country',
  'e.device',
  'e.hold_until',
  'e.approved_at',
  'e.rejected_at',
  'e.reversed_at',
] as const

/** An event as it is sent, in the feed and in postbacks. */
export function presentEvent({ event_id, created_at, conversion, sign }: ConversionEvent) {
  const data = presentConversion(conversion)
  return {
    id: event_id,
    type: `conversion.${conversion.status}`,
    created_at: rfc3339(created_at),
    sequence: conversion.sequence,
    data: { ...data, payout: sign * data.payout, payout_local: sign * data.payout_local },
  }
}
