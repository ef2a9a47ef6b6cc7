// What the database knows about the whole network. Every worker tells it, and all tell the same: take the maximum.
import { readNodes } from '../db/nodes.ts'
import type { Db } from '../db/open.ts'
import { countQueuedMails } from '../features/accounts/mails.ts'
import { type ExportStatus, readExports } from '../features/exports/status.ts'
import { type FeedHealth, readFeedHealth } from '../features/feeds/feed-health.ts'
import { type LaneBacklog, readBacklogs } from '../features/postbacks/backlogs.ts'
import { readQueues } from '../features/reports/queues.ts'
import { inTime } from '../lib/in-time.ts'
import type { Metrics } from './metrics.ts'

/** However often it is asked for. */
const READ_EVERY_MS = 5_000
const PATIENCE_MS = 2_000
const MOST_LANES = 20
const MOST_FEEDS = 200

type Network = {
  queues: Awaited<ReturnType<typeof readQueues>>
  mails: number
  nodes: Awaited<ReturnType<typeof readNodes>>
  lanes: LaneBacklog[]
  feeds: FeedHealth[]
  exports: ExportStatus[]
}

export function addNetworkFigures(metrics: Metrics, db: Db, exportTarget: string | null): void {
  const read = reader(db, exportTarget)
  const number = (name: string, help: string, pick: (network: Network, now: number) => number) =>
    metrics.gauge(name, help, async () => pick(await read(), Date.now()))
  number('postbacks_queued', 'Postbacks that wait, counted up to 10,000.', ({ queues }) => queues.postbacks_queued)
  number(
    'postbacks_due',
    'Postbacks that could be sent now, counted up to 10,000.',
    ({ queues }) => queues.postbacks_due,
  )
  number('postbacks_sending', 'Postbacks under way.', ({ queues }) => queues.postbacks_sending)
  number('postbacks_oldest_due_seconds', 'How long the oldest postback has been due.', ({ queues }, now) => since(queues.oldest_due_at, now)) // prettier-ignore
  number('unmatched_calls', 'Confirmations whose click is not there yet.', ({ queues }) => queues.unmatched_calls)
  number('events_without_position', 'Events that readers do not see yet.', ({ queues }) => queues.waiting_events)
  number('mails_queued', 'Mails that wait.', ({ mails }) => mails)
  metrics.gauge('database_up', 'Whether PostgreSQL answers.', () => read().then(() => 1, () => 0)) // prettier-ignore

  const backlog = (name: string, help: string, pick: (lane: LaneBacklog, now: number) => number) =>
    metrics.gauges(name, `${help} For the ${MOST_LANES} apps that have waited longest.`, ['app_id'], async () =>
      (await read()).lanes.map((lane) => ({ labels: { app_id: String(lane.app_id) }, value: pick(lane, Date.now()) })),
    )
  backlog('lane_postbacks_due', 'Postbacks that are due, counted up to 10,000.', ({ due }) => due)
  backlog('lane_oldest_due_seconds', 'How long the oldest postback has been due.', ({ oldest_due_at }, now) => since(oldest_due_at, now)) // prettier-ignore

  const ofFeeds = (name: string, help: string, pick: (feed: FeedHealth) => number | null) =>
    metrics.gauges(name, help, ['feed_id', 'feed'], async () =>
      (await read()).feeds.flatMap((feed) => {
        const value = pick(feed)
        return value === null ? [] : [{ labels: { feed_id: String(feed.feed_id), feed: feed.name }, value }]
      }),
    )
  ofFeeds('feed_failures', 'How often in a row a feed has failed.', ({ failures }) => failures)
  ofFeeds('feed_has_problem', '1 while the latest run of a feed failed or was refused.', ({ has_problem }) => Number(has_problem)) // prettier-ignore
  ofFeeds('feed_last_success_timestamp_seconds', 'When a feed last ran through.', ({ succeeded_at }) =>
    succeeded_at === null ? null : succeeded_at.getTime() / 1000,
  )
  ofFeeds('feed_offers', 'Offers in the latest run of a feed that ran through.', ({ fetched }) => fetched)
  const ofExports = (name: string, help: string, pick: (one: ExportStatus, now: number) => number) =>
    metrics.gauges(name, help, ['kind'], async () =>
      (await read()).exports.map((one) => ({ labels: { kind: one.kind }, value: pick(one, Date.now()) })),
    )
  ofExports('export_behind_seconds', 'How long ago everything was exported.', ({ caught_up_at, created_at }, now) => since(caught_up_at ?? created_at, now)) // prettier-ignore
  ofExports('export_failures', 'How often in a row an export has failed.', ({ failures }) => failures)
  ofExports('export_lost_rows', 'Rows that were deleted before they were exported.', ({ lost_rows }) => lost_rows)
  metrics.gauges('nodes', 'Processes that are there, by what they run.', ['part'], async () => {
    const { nodes } = await read()
    const count = (part: string) => nodes.filter((node) => node.part === part && node.is_here).length
    return ['api', 'worker'].map((part) => ({ labels: { part }, value: count(part) }))
  })
}

const since = (time: Date | null, nowMs: number) => (time === null ? 0 : Math.max(0, nowMs - time.getTime()) / 1000)

/** One read for all figures of a scrape, in parallel; a database that hangs is not waited for. */
function reader(db: Db, exportTarget: string | null): () => Promise<Network> {
  let latest: Promise<Network> | null = null
  let readAtMs = -Infinity
  return () => {
    if (latest === null || performance.now() - readAtMs > READ_EVERY_MS) {
      readAtMs = performance.now()
      latest = inTime(readNetwork(db, exportTarget), PATIENCE_MS)
    }
    return latest
  }
}

async function readNetwork(db: Db, exportTarget: string | null): Promise<Network> {
  const [queues, mails, nodes, lanes, feeds, exports] = await Promise.all([
    readQueues(db),
    countQueuedMails(db),
    readNodes(db, new Date()),
    readBacklogs(db, MOST_LANES),
    readFeedHealth(db, MOST_FEEDS),
    exportTarget === null ? [] : readExports(db, exportTarget),
  ])
  return { queues, mails, nodes, lanes, feeds, exports }
}
