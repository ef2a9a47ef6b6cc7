// The funnel of a wall: how often it was viewed, how often offers were opened and started, and what came of it. The first
// three are counted in memory and added to the database every second; conversions are found by their clicks, which know the
// request that their link came from.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { microsToUsd } from '../../lib/money.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { WALL_REQUESTS } from '../../http/request-ids.ts'
import { IS_COUNTED } from '../clicks/clicks.ts'

const DAY_MS = 86_400_000
const KEPT_DAYS = 400

export type WallStep = 'views' | 'opened' | 'started'
type Counts = Record<WallStep, number>

export class WallCounts {
  /** By day, counted from 1970, then by app. */
  #counts = new Map<number, Map<number, Counts>>()

  note(appId: number, step: WallStep, nowMs = Date.now()): void {
    this.#of(Math.floor(nowMs / DAY_MS), appId)[step]++
  }

  async write(db: Db): Promise<void> {
    if (this.#counts.size === 0) return
    const counts = this.#counts
    this.#counts = new Map()
    const rows = [...counts].flatMap(([day, apps]) =>
      [...apps].map(([app_id, counted]) => ({ app_id, day: dayOf(day * DAY_MS), ...counted })),
    )
    try {
      // In one order on every node: no deadlock.
      await sql`INSERT INTO wall_days (app_id, day, views, opened, started)
        SELECT r.* FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r (app_id bigint, day date, views bigint, opened bigint, started bigint)
        ORDER BY app_id, day
        ON CONFLICT (app_id, day) DO UPDATE SET views = wall_days.views + excluded.views,
          opened = wall_days.opened + excluded.opened, started = wall_days.started + excluded.started`.execute(db)
    } catch (error) {
      for (const [day, apps] of counts)
        for (const [appId, lost] of apps) {
          const kept = this.#of(day, appId)
          for (const step of STEPS) kept[step] += lost[step]
        }
      throw error
    }
  }

  #of(day: number, appId: number): Counts {
    let apps = this.#counts.get(day)
    if (apps === undefined) this.#counts.set(day, (apps = new Map()))
    let counts = apps.get(appId)
    if (counts === undefined) apps.set(appId, (counts = { views: 0, opened: 0, started: 0 }))
    return counts
  }
}

const STEPS: readonly WallStep[] = ['views', 'opened', 'started']
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Of the last `days` days of UTC, today included. */
export async function readFunnel(db: Db, appId: number, days: number, now: Date) {
  const firstMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS - (days - 1) * DAY_MS
  const [counted, converted] = await Promise.all([
    sql<Counts>`SELECT coalesce(sum(views), 0)::bigint AS views, coalesce(sum(opened), 0)::bigint AS opened,
        coalesce(sum(started), 0)::bigint AS started
      FROM wall_days WHERE app_id = ${appId} AND day >= ${dayOf(firstMs)}::date`.execute(db),
    sql<{ completed: number; payout_micros: number }>`SELECT count(DISTINCT v.click_id) AS completed,
        coalesce(sum(v.payout_micros) FILTER (WHERE v.status = 'approved'), 0)::bigint AS payout_micros
      FROM conversions v JOIN (SELECT click_id, request_id FROM clicks WHERE ${IS_COUNTED}) c USING (click_id)
      WHERE v.app_id = ${appId} AND NOT v.is_test AND v.conversion_id >= ${uuid7Floor(firstMs)}::uuid
        AND v.status IN ('pending', 'approved') AND c.request_id LIKE ${`${WALL_REQUESTS}%`}`.execute(db),
  ])
  const { views = 0, opened = 0, started = 0 } = counted.rows[0] ?? {}
  const { completed = 0, payout_micros = 0 } = converted.rows[0] ?? {}
  const payout = microsToUsd(payout_micros)
  return { days, views, opened, started, completed, payout, payout_per_thousand_views: views === 0 ? null : Math.round((payout / views) * 1e7) / 1e4 } // prettier-ignore
}

export async function forgetOldWallDays(db: Db, now: Date): Promise<void> {
  await sql`DELETE FROM wall_days WHERE day < ${dayOf(now.getTime() - KEPT_DAYS * DAY_MS)}::date`.execute(db)
}
