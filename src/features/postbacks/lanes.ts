// Lanes follow what came of their postbacks: they widen, narrow, open their circuit, and are paused.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { type Finished, laneOf } from './queue.ts'
import { afterResults, isHopeless, type Lane } from './schedule.ts'

const GONE = 410

/** Test sends are looked at by whoever sends them: they do not close a lane. */
export async function settleLanes(db: Db, results: readonly Finished[], now: Date): Promise<void> {
  const live = results.filter(({ claimed }) => claimed.scenario === null)
  const well: number[] = []
  for (const [appId, ofLane] of Map.groupBy(live, ({ claimed }) => claimed.app_id)) {
    const delivered = ofLane.filter((one) => one.ok).length
    const told = { delivered, failed: ofLane.length - delivered }
    const [first] = ofLane
    if (told.failed === 0 && first?.claimed.lane !== undefined && isSettled(first.claimed.lane, told, now))
      well.push(appId)
    else {
      const isGone = ofLane.some((one) => one.status === GONE)
      await db.transaction().execute((trx) => settleLane(trx, appId, told, isGone, now))
    }
  }
  if (well.length === 0) return
  // Most lanes were wide and well when these were claimed, and are still: nothing is written then.
  await sql`
    UPDATE postback_lanes SET failures = 0, failing_since = NULL, open_until = NULL
    WHERE app_id = ANY (${well}::bigint[]) AND failures > 0`.execute(db)
}

function isSettled(lane: Lane, told: { delivered: number; failed: number }, now: Date): boolean {
  return afterResults(lane, told, now, 0).width === lane.width && lane.failures === 0 && lane.openUntil === null
}

async function settleLane(
  trx: Trx,
  appId: number,
  told: { delivered: number; failed: number },
  isGone: boolean,
  now: Date,
): Promise<void> {
  const row = await trx
    .selectFrom('postback_lanes')
    .select(['width', 'failures', 'failing_since', 'open_until', 'paused_at'])
    .where('app_id', '=', appId)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) return
  const lane = afterResults(laneOf(row), told, now, Math.random())
  const reason = isGone ? 'gone' : isHopeless(lane, now) ? 'failing' : null
  const isNew = reason !== null && row.paused_at === null
  await trx
    .updateTable('postback_lanes')
    .set({
      width: lane.width,
      failures: lane.failures,
      failing_since: lane.failingSince,
      open_until: lane.openUntil,
      ...(isNew ? { paused_at: now, pause_reason: reason } : {}),
    })
    .where('app_id', '=', appId)
    .execute()
  if (isNew) await tellOfPause(trx, appId, reason)
}

const PAUSES = {
  gone: 'Your server answered 410 (gone) to a postback, so nothing more is sent to this address.',
  failing: 'Every postback to this address has failed for five days, so nothing more is sent to it.',
} as const

async function tellOfPause(trx: Trx, appId: number, reason: keyof typeof PAUSES): Promise<void> {
  await sql`
    INSERT INTO notices (app_id, kind, message)
    VALUES (${appId}, 'postbacks_paused', ${`${PAUSES[reason]} What is queued is kept. Mend the address, then save it again or resume it.`})`.execute(
    trx,
  )
}

/** Null: nothing was ever to be sent for this app. */
export async function findLane(db: Db, appId: number): Promise<{ hasAddress: boolean } | null> {
  const lane = await db
    .selectFrom('postback_lanes')
    .leftJoin('postback_settings', 'postback_settings.app_id', 'postback_lanes.app_id')
    .select('url')
    .where('postback_lanes.app_id', '=', appId)
    .executeTakeFirst()
  return lane === undefined ? null : { hasAddress: lane.url !== null }
}

/** What is queued is kept, and waits. False when there is no lane, or it was paused already. */
export async function pauseLane(db: Db, appId: number, now: Date): Promise<boolean> {
  const paused = await db
    .updateTable('postback_lanes')
    .set({ paused_at: now, pause_reason: 'operator' })
    .where('app_id', '=', appId)
    .where('paused_at', 'is', null)
    .executeTakeFirst()
  return paused.numUpdatedRows > 0n
}
