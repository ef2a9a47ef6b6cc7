// Bulk replays of an app's postbacks: background work that can be watched and cancelled.
import type { Static } from 'typebox'
import { AppError } from '../../../errors.ts'
import {
  cancelReplay,
  countReplayable,
  listReplays,
  readReplay,
  type ReplayFilter,
  startOnlyReplay,
} from '../../../features/postbacks/replays.ts'
import { parseTime } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { NewReplay, Replay, ReplayCount, ReplayList, ReplayParams, TAG } from './schema.ts'

const COUNTED = 10_000
const LISTED = 3

export function replayRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/apps/:app_id/postback/replayable', {
    id: 'countReplayable',
    summary: 'Count what a bulk resend would send',
    about: 'Takes the same filters as `startReplay` and sends nothing.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: NewReplay,
    reply: ReplayCount,
    async run({ app, query }) {
      const count = await countReplayable(db, app.appId, filterOf(query), { before: new Date() }, COUNTED + 1)
      return { count: Math.min(count, COUNTED), is_more: count > COUNTED }
    },
  })

  routes.post('/apps/:app_id/postback/replays', {
    id: 'startReplay',
    summary: 'Resend postbacks in bulk',
    about: 'Resends all that match, after everything else in the queue of the app.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    body: NewReplay,
    reply: Replay,
    async run({ app: { appId }, body, by }) {
      const filter = filterOf(body)
      const replayId = await db.transaction().execute((trx) => startOnlyReplay(trx, by, appId, filter))
      if (replayId === null)
        throw new AppError('CONFLICT', 'Postbacks are already being resent. Wait until that is done, or stop it.')
      return read(appId, replayId)
    },
  })

  routes.get('/apps/:app_id/postback/replays', {
    id: 'listReplays',
    summary: 'List bulk resends',
    about: 'The latest ones with their progress.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: ReplayList,
    async run({ app }) {
      const ids = await listReplays(db, app.appId, LISTED)
      return { replays: await Promise.all(ids.map((replayId) => read(app.appId, replayId))) }
    },
  })

  routes.get('/apps/:app_id/postback/replays/:replay_id', {
    id: 'getReplay',
    summary: 'Get the progress of a bulk resend',
    about: 'How many postbacks were resent, and how many are left.',
    tag: TAG,
    access: 'publisher',
    params: ReplayParams,
    reply: Replay,
    run: ({ app, params }) => read(app.appId, params.replay_id),
  })

  routes.post('/apps/:app_id/postback/replays/:replay_id/cancel', {
    id: 'cancelReplay',
    summary: 'Cancel a bulk resend',
    about: 'Postbacks that were not resent yet stay as they were.',
    tag: TAG,
    access: 'publisher',
    params: ReplayParams,
    reply: Replay,
    async run({ app: { appId }, params: { replay_id }, by }) {
      await find(appId, replay_id)
      await cancelReplay(db, by, replay_id, new Date())
      return read(appId, replay_id)
    },
  })

  /** Only of this app: ids of others are easy to guess. */
  async function find(appId: number, replayId: number) {
    const replay = await readReplay(db, replayId).catch(() => null)
    if (replay === null || replay.app_id !== appId) throw notThere('No replay of this app has this ID.')
    return replay
  }

  async function read(appId: number, replayId: number): Promise<Static<typeof Replay>> {
    const { replay_id, state, queued, skipped, waiting, created_at, finished_at, after, ...rest } = await find(
      appId,
      replayId,
    )
    const filter = rest.filter as ReplayFilter
    const remaining =
      state === 'running' ? await countReplayable(db, appId, filter, { before: created_at, after }, COUNTED) : 0
    return {
      replay_id,
      state: state as Static<typeof Replay>['state'],
      filter: presentFilter(filter),
      queued,
      skipped,
      waiting,
      remaining,
      created_at,
      finished_at,
    }
  }
}

function filterOf({ mode = 'live', state, status, from, to }: Static<typeof NewReplay>): ReplayFilter {
  const filter: ReplayFilter = { isTest: mode === 'test' }
  if (state !== undefined) filter.state = state
  if (status !== undefined) filter.status = status
  const [since, until] = [from, to].map((time) => (time === undefined ? undefined : parseTime(time)?.toISOString()))
  if (since !== undefined) filter.from = since
  if (until !== undefined) filter.to = until
  return filter
}

function presentFilter({ isTest = false, ...filter }: ReplayFilter): Static<typeof NewReplay> {
  return { mode: isTest ? 'test' : 'live', ...filter } as Static<typeof NewReplay>
}
