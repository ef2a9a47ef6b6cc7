// Runs of feeds and what they did, payouts that wait, and fields that were edited.
import { NoSuch } from '../../../errors.ts'
import { applyRefusedRun } from '../../../features/feeds/accept-gone.ts'
import { askRun } from '../../../features/feeds/asked-runs.ts'
import { feedExists, type FeedRun, listChanges, listRuns, readRun } from '../../../features/feeds/feed-list.ts'
import { approveHeld, findFeedOfOffer, listHeld, releasePins } from '../../../features/feeds/pins.ts'
import { cutPage } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import {
  Approval,
  Approved,
  CHANGE_KINDS,
  ChangePage,
  ChangeSearch,
  FeedParams,
  HeldPage,
  HeldSearch,
  OfferFeed,
  OfferParams,
  OUTCOMES,
  Release,
  Released,
  Run,
  RunPage,
  RunParams,
  RunSearch,
} from './schema.ts'

const TAG = 'Feeds'
const LIMIT = 50

export const presentRun = ({ run_id, feed_id: _feed, beat_at: _beat, audit_id: _audit, taken_at, asked_by, ...run }: FeedRun) => ({
  ...run,
  feed_run_id: run_id,
  is_waiting: taken_at === null && run.ended_at === null,
  asked_by: (asked_by as { email?: string } | null)?.email ?? null,
  outcome: run.outcome as (typeof OUTCOMES)[number],
}) // prettier-ignore

export function feedRunRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  const exists = async (feedId: number) => {
    if (!(await feedExists(db, feedId))) throw notThere('There is no such feed.')
  }
  const findRun = async (feedId: number, runId: number) => {
    const run = await readRun(db, runId)
    if (run?.feed_id !== feedId) throw notThere('There is no such run.')
    return run
  }

  for (const [word, isPreview] of [
    ['run', false],
    ['preview', true],
  ] as const)
    // prettier-ignore
    routes.post(`/feeds/:feed_id/${word}`, {
      id: `${word}Feed`,
      summary: isPreview ? 'Preview a run of a feed' : 'Run a feed now',
      about: isPreview ? 'A worker fetches the feed and records what a run would do; no offer is changed. Returns the run.' : 'A worker fetches the feed and applies what changed. Returns the run.', // prettier-ignore
      tag: TAG,
      access: 'operator',
      params: FeedParams,
      reply: Run,
      async run({ params: { feed_id }, by }) {
        await exists(feed_id)
        return presentRun(await findRun(feed_id, await askRun(db, by, feed_id, isPreview)))
      },
    })

  routes.post('/feeds/:feed_id/runs/:feed_run_id/apply', {
    id: 'applyRefusedFeedRun',
    summary: 'Apply a refused run of a feed anyway',
    about: 'A worker fetches and applies the feed again, pausing at most as many offers as the refused run would have. If more would be paused, the run is refused again. Returns the new run.', // prettier-ignore
    tag: TAG,
    access: 'operator',
    params: RunParams,
    reply: Run,
    async run({ params: { feed_id, feed_run_id }, by }) {
      await findRun(feed_id, feed_run_id)
      return presentRun(await findRun(feed_id, await applyRefusedRun(db, by, feed_id, feed_run_id)))
    },
  })

  routes.get('/feeds/:feed_id/runs', {
    id: 'listFeedRuns',
    summary: 'List runs of a feed',
    about: 'Newest first, with previews.',
    tag: TAG,
    access: 'operator',
    params: FeedParams,
    query: RunSearch,
    reply: RunPage,
    async run({ params: { feed_id }, query: { cursor, limit = LIMIT } }) {
      await exists(feed_id)
      const found = await listRuns(db, feed_id, limit + 1, cursor === undefined ? null : Number(cursor))
      const { page, nextCursor } = cutPage(found, limit, ({ run_id }) => String(run_id))
      return { runs: page.map(presentRun), next_cursor: nextCursor }
    },
  })

  routes.get('/feeds/:feed_id/runs/:feed_run_id', {
    id: 'showFeedRun',
    summary: 'Get a run of a feed',
    about: 'While it runs, its counts are not complete.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    reply: Run,
    run: async ({ params: { feed_id, feed_run_id } }) => presentRun(await findRun(feed_id, feed_run_id)),
  })

  routes.get('/feeds/:feed_id/runs/:feed_run_id/changes', {
    id: 'listFeedChanges',
    summary: 'List what a run did with each offer',
    about: 'Or would do, for a preview. Unchanged offers are not listed.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    query: ChangeSearch,
    reply: ChangePage,
    async run({ params: { feed_id, feed_run_id }, query: { kind, cursor, limit = LIMIT } }) {
      await findRun(feed_id, feed_run_id)
      const after = readCursor(cursor)
      const found = await listChanges(db, feed_run_id, limit + 1, { kind: kind ?? null, after })
      const { page, nextCursor } = cutPage(found, limit, (one) => `${one.kind} ${one.external_id}`)
      return { changes: page.map(presentChange), next_cursor: nextCursor }
    },
  })

  routes.get('/feeds/:feed_id/held', {
    id: 'listHeldPayouts',
    summary: 'List payout changes that await approval',
    about: 'Payouts that changed by more than the limit of the feed.',
    tag: TAG,
    access: 'operator',
    params: FeedParams,
    query: HeldSearch,
    reply: HeldPage,
    async run({ params: { feed_id }, query: { cursor, limit = LIMIT } }) {
      await exists(feed_id)
      const { page, nextCursor } = cutPage(
        await listHeld(db, feed_id, readCursor(cursor)?.externalId ?? '', limit + 1),
        limit,
        (one) => `held ${one.external_id}`,
      )
      return { offers: page, next_cursor: nextCursor }
    },
  })

  routes.post('/feeds/:feed_id/approve', {
    id: 'approveHeldPayouts',
    summary: 'Approve payout changes',
    about: 'Applied by the next run, which is due now. A payout that has changed again is held again.',
    tag: TAG,
    access: 'operator',
    params: FeedParams,
    body: Approval,
    reply: Approved,
    async run({ params: { feed_id }, body, by }) {
      await exists(feed_id)
      return { approved: await approveHeld(db, by, feed_id, body.external_ids) }
    },
  })

  routes.get('/offers/:offer_id/feed', {
    id: 'showFeedOfOffer',
    summary: 'Get the feed of an offer',
    about:
      'With the fields that were edited here and no longer follow the feed; null for an offer that does not come from a feed.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    reply: OfferFeed,
    run: async ({ params }) => ({ feed: await findFeedOfOffer(db, params.offer_id) }),
  })

  routes.post('/offers/:offer_id/follow-feed', {
    id: 'releasePinnedFields',
    summary: 'Let fields of an offer follow its feed again',
    about: 'They change with the next run, which is due now.',
    tag: TAG,
    access: 'operator',
    params: OfferParams,
    body: Release,
    reply: Released,
    async run({ params, body, by }) {
      const released = releasePins(db, by, params.offer_id, body.fields)
      return { released: await released.catch((error: unknown) => {
        throw error instanceof NoSuch ? notThere('This offer does not come from a feed.') : error
      }) } // prettier-ignore
    },
  })
}

/** Its form was checked. */
function readCursor(cursor: string | undefined): { kind: string; externalId: string } | null {
  if (cursor === undefined) return null
  const [kind = '', ...rest] = cursor.split(' ')
  return { kind, externalId: rest.join(' ') }
}

type Details = { reason?: string; changes?: Record<string, { before?: unknown; after?: unknown }>; payout?: { before?: unknown; after?: unknown } } // prettier-ignore

function presentChange({ details, kind, ...change }: Awaited<ReturnType<typeof listChanges>>[number]) {
  const { reason = null, changes = {}, payout } = details as Details
  const fields = payout === undefined ? changes : { ...changes, payout }
  return {
    ...change,
    kind: kind as (typeof CHANGE_KINDS)[number],
    reason,
    fields: Object.entries(fields).map(([field, { before = null, after = null }]) => ({ field, before, after })),
  }
}
