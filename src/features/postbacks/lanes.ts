// Lanes adapt to the results of their postbacks: they widen, narrow, open their circuit, and are paused.
//
// No delivery waits for a lane: one that is locked, by a claim or by something that hangs, is updated later. A result
// counts only for the settings it was sent with: an old URL says nothing about a new one.
import { sql } from 'kysely'
import { arrayLiteral } from '../../db/arrays.ts'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import type { Finished } from './claims.ts'
import { laneOf } from './queue.ts'
import { afterResults, isHopeless, type Lane, signOf } from './schedule.ts'

const GONE = 410

/** What one attempt means for its lane. */
export type LaneSign = {
  appId: number
  settingsVersion: number
  /**
   * `hindered`: we could not send, so the server's state is unknown. The circuit opens, but the lane is not paused for
   * it.
   */
  sign: 'works' | 'fails' | 'gone' | 'hindered'
  /** The lane when this was claimed. */
  lane: Lane | undefined
}

/** Test sends do not count, nor does what was not sent; refused replays and single refused messages close no lane. */
export function laneSigns(results: readonly Finished[]): LaneSign[] {
  return results.flatMap((result): LaneSign[] => {
    const { claimed, settingsVersion } = result
    if (claimed.scenario !== null || settingsVersion === null) return []
    const found = signOf(result)
    const failure = claimed.is_replay ? 'refuses' : result.isOwnError === true ? 'hindered' : 'fails'
    const sign = result.status === GONE ? 'gone' : found === 'fails' ? failure : found
    return sign === 'refuses' ? [] : [{ appId: claimed.app_id, settingsVersion, sign, lane: claimed.lane }]
  })
}

/** Returns the results that must be applied later, because their lane was locked. */
export async function updateLanes(db: Db, signs: readonly LaneSign[], now?: Date): Promise<LaneSign[]> {
  const byApp = Map.groupBy(signs, (one) => one.appId)
  for (const appId of await findUnchanged(db, byApp)) byApp.delete(appId)
  if (byApp.size === 0) return []
  return briefly(db, async (trx) => {
    const rows = await lockLanes(trx, [...byApp.keys()], now)
    const changed = rows.map((row) => ({ ...row, ...change(row, byApp.get(row.app_id) ?? []) }))
    await write(trx, changed)
    for (const { app_id, newPause } of changed) if (newPause !== null) await tellOfPause(trx, app_id, newPause)
    for (const { app_id } of rows) byApp.delete(app_id)
    return [...byApp.values()].flat()
  })
}

/** Most lanes were wide and healthy when these were claimed, and still are: then nothing is written. */
async function findUnchanged(db: Db, byApp: ReadonlyMap<number, LaneSign[]>): Promise<number[]> {
  const well = [...byApp].filter(([, signs]) => signs.every(isNothingNew)).map(([appId]) => appId)
  if (well.length === 0) return []
  const failing = await db
    .selectFrom('postback_lanes')
    .select('app_id')
    .where((is) => is('app_id', '=', is.fn.any(is.val(well))))
    .where('failures', '>', 0)
    .execute()
  return well.filter((appId) => !failing.some((row) => row.app_id === appId))
}

const isNothingNew = ({ sign, lane }: LaneSign): boolean =>
  sign === 'works' &&
  lane !== undefined &&
  lane.failures === 0 &&
  lane.openUntil === null &&
  afterResults(lane, { delivered: 1, failed: 0 }, new Date(0), 0).width === lane.width

type LaneRow = Awaited<ReturnType<typeof lockLanes>>[number]

async function lockLanes(trx: Trx, appIds: number[], now: Date | undefined) {
  return trx
    .selectFrom('postback_lanes')
    .select(['app_id', 'width', 'failures', 'failing_since', 'last_failure_at', 'open_until', 'paused_at'])
    .select('settings_version')
    .select(sql<Date>`coalesce(${now ?? null}::timestamptz, now())`.as('at'))
    .where((is) => is('app_id', '=', is.fn.any(is.val(appIds))))
    .forUpdate()
    .skipLocked()
    .execute()
}

function change(row: LaneRow, signs: readonly LaneSign[]): { lane: Lane; newPause: keyof typeof PAUSES | null } {
  const current = signs.filter((one) => one.settingsVersion === row.settings_version)
  const count = (sign: LaneSign['sign']) => current.filter((one) => one.sign === sign).length
  const hindered = count('hindered')
  const results = { delivered: count('works'), failed: count('fails') + count('gone') + hindered }
  const lane = afterResults(laneOf(row), results, row.at, Math.random())
  if (hindered > 0 && lane.failingSince !== null) lane.failingSince = row.at // these days of failures are ours
  const reason = count('gone') > 0 ? 'gone' : results.failed > 0 && isHopeless(lane, row.at) ? 'failing' : null
  return { lane, newPause: row.paused_at === null ? reason : null }
}

async function write(trx: Trx, rows: readonly (LaneRow & ReturnType<typeof change>)[]): Promise<void> {
  if (rows.length === 0) return
  type Cell = number | string | Date | null
  const column = (pick: (row: (typeof rows)[number]) => Cell) => arrayLiteral(rows.map(pick))
  await sql`
    UPDATE postback_lanes l SET width = new.width, failures = new.failures, failing_since = new.failing_since,
      last_failure_at = new.last_failure_at, open_until = new.open_until,
      paused_at = coalesce(l.paused_at, new.paused_at), pause_reason = coalesce(l.pause_reason, new.pause_reason)
    FROM unnest(${column((row) => row.app_id)}::bigint[], ${column((row) => row.lane.width)}::integer[],
      ${column((row) => row.lane.failures)}::integer[], ${column((row) => row.lane.failingSince)}::timestamptz[],
      ${column((row) => row.lane.lastFailureAt)}::timestamptz[], ${column((row) => row.lane.openUntil)}::timestamptz[],
      ${column((row) => (row.newPause === null ? null : row.at))}::timestamptz[], ${column((row) => row.newPause)}::text[])
      AS new (app_id, width, failures, failing_since, last_failure_at, open_until, paused_at, pause_reason)
    WHERE l.app_id = new.app_id`.execute(trx)
}

const PAUSES = {
  gone: 'Your server answered a postback with 410 (gone), so postbacks to this URL are paused.',
  failing: 'Every postback to this URL has failed for five days, so postbacks are paused.',
} as const

async function tellOfPause(trx: Trx, appId: number, reason: keyof typeof PAUSES): Promise<void> {
  await sql`
    INSERT INTO notices (app_id, kind, message)
    VALUES (${appId}, 'postbacks_paused', ${`${PAUSES[reason]} Queued postbacks are kept. Fix the URL or your server, then save the settings again or resume.`})`.execute(
    trx,
  )
}

/** Null: this app never had anything to send. */
export async function findLane(db: Db, appId: number): Promise<{ hasAddress: boolean } | null> {
  const lane = await db
    .selectFrom('postback_lanes')
    .leftJoin('postback_settings', 'postback_settings.app_id', 'postback_lanes.app_id')
    .select('url')
    .where('postback_lanes.app_id', '=', appId)
    .executeTakeFirst()
  return lane === undefined ? null : { hasAddress: lane.url !== null }
}

/**
 * Queued postbacks are kept until an operator resumes the lane. A lane paused by failures can be held, too: then its
 * publisher can no longer resume it. False when there is no lane, or it was held already.
 */
export async function pauseLane(trx: Trx, by: Actor, appId: number, now: Date): Promise<boolean> {
  const paused = await trx
    .updateTable('postback_lanes')
    .set({ paused_at: now, pause_reason: 'operator' })
    .where('app_id', '=', appId)
    .where((is) => is.or([is('pause_reason', 'is', null), is('pause_reason', '<>', 'operator')]))
    .returning('publisher_id')
    .executeTakeFirst()
  if (paused === undefined) return false
  const { publisher_id: publisherId } = paused
  await recordAudit(trx, by, { action: 'postback_lane.pause', subject: appId, publisherId })
  return true
}
