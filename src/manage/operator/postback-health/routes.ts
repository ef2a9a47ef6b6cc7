// Postback health over all apps, and pausing or resuming each lane.
import type { Trx } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import { countLanes, listLanes, readDay, readHealth, readP95 } from '../../../features/postbacks/health.ts'
import { findLane, pauseLane } from '../../../features/postbacks/lanes.ts'
import { resumeLane } from '../../../features/postbacks/settings.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams, OK, Ok } from '../../shapes.ts'
import { LaneList, LaneQuery } from './schema.ts'

const TAG = 'Postback health'

export function postbackHealthRoutes(routes: ManageRoutes, { db, wakePostbacks }: ManageContext): void {
  routes.get('/postback-lanes', {
    id: 'listPostbackLanes',
    summary: 'List the postback health of every app',
    about: 'Apps with delivery problems first, with queue and circuit breaker.',
    tag: TAG,
    access: 'operator',
    query: LaneQuery,
    reply: LaneList,
    async run({ query: { state, search, limit = 50, offset = 0 } }) {
      const now = new Date()
      const { lanes: found, total } = await listLanes(db, { state, search, limit, offset }, now)
      const appIds = found.map(({ app_id }) => app_id)
      const [health, day, p95] = await Promise.all([
        readHealth(db, appIds),
        readDay(db, appIds, now),
        readP95(db, appIds, now),
      ])
      return {
        lanes: found.map((lane) => {
          const { queued = 0, oldest_due_at = null, dead = 0 } = health.get(lane.app_id) ?? {}
          const { delivered_24h = 0, failed_24h = 0, last_error = null } = day.get(lane.app_id) ?? {}
          const p95_ms = p95.get(lane.app_id) ?? null
          return { ...lane, queued, oldest_due_at, dead, delivered_24h, failed_24h, p95_ms, last_error }
        }),
        total,
        counts: await countLanes(db, now),
      }
    },
  })

  async function laneOf(trx: Trx, appId: number) {
    const lane = await findLane(trx, appId)
    if (lane === null) throw notThere('This app has no postbacks.')
    return lane
  }

  routes.post('/postback-lanes/:app_id/pause', {
    id: 'pausePostbackLane',
    summary: "Pause an app's postbacks",
    about: 'Postbacks are queued until you resume.',
    tag: TAG,
    access: 'operator',
    params: AppParams,
    reply: Ok,
    async run({ app: { appId }, by }) {
      await db.transaction().execute(async (trx) => {
        await laneOf(trx, appId)
        if (!(await pauseLane(trx, by, appId, new Date())))
          throw new AppError('CONFLICT', 'These postbacks are already paused.')
      })
      return OK
    },
  })

  routes.post('/postback-lanes/:app_id/resume', {
    id: 'resumePostbackLane',
    summary: "Resume an app's postbacks",
    about: 'Closes the circuit breaker and sends what was queued.',
    tag: TAG,
    access: 'operator',
    params: AppParams,
    reply: Ok,
    async run({ app: { appId }, by }) {
      await db.transaction().execute(async (trx) => {
        const { hasAddress } = await laneOf(trx, appId)
        if (!hasAddress)
          throw new AppError('CONFLICT', 'This app has no postback URL. The publisher must set one first.')
        await resumeLane(trx, by, appId, 'operator')
      })
      wakePostbacks()
      return OK
    },
  })
}
