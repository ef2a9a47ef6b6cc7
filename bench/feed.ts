// npm run bench -- --only feed: a feed of 50,000 offers, in pages and as one answer: how long a run takes, what the worker
// needs for it, and what lists cost meanwhile.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keepSecretFile } from '../src/db/secret-file.ts'
import { askRun } from '../src/features/feeds/asked-runs.ts'
import { FEED_DEFAULTS } from '../src/features/feeds/feed-settings.ts'
import { createFeed } from '../src/features/feeds/feeds.ts'
import { TESTER } from '../test/tester.ts'
import { Upstream } from '../test/upstreams/server.ts'
import { type Catalogue, prepareCatalogue, type Say, withCopy } from './data.ts'
import type { Opened } from './postgres.ts'
import { openFor, startWorker } from './postback-apps.ts'
import { type Lap, median } from './rounds.ts'
import { type Running, startServe } from './servers.ts'
import { listLoad, runLap } from './wrk.ts'

const CATALOGUE = 1_000
const LAP_S = 2
/** Where there is much memory, Node lets garbage lie: what is needed shows where there is little. */
const SMALL = { NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=192' }

export type FeedPlan = { offers: number; quietLaps: number }
export type FeedRunMeasured = { shape: string; what: string; offers: number; seconds: number; grownMb: number; lists: number; listsByCpu: number } // prettier-ignore

export async function measureFeed(plan: FeedPlan, say: Say): Promise<FeedRunMeasured[]> {
  const catalogue = await prepareCatalogue(CATALOGUE, say)
  const measured: FeedRunMeasured[] = []
  for (const [shape, paging] of [['affise', 'in pages'], ['lootably', 'in one answer']] as const) {
    say(`A feed of ${plan.offers.toLocaleString('en')} offers ${paging} …`)
    measured.push(...(await withCopy(catalogue, (copy) => measureShape(copy, { ...plan, shape, paging }))))
  } // prettier-ignore
  return measured
}

async function measureShape(
  catalogue: Catalogue,
  { offers, quietLaps, shape, paging }: FeedPlan & { shape: string; paging: string },
): Promise<FeedRunMeasured[]> {
  await using ended = new AsyncDisposableStack()
  const opened = await openFor(catalogue, ended)
  const upstream = new Upstream(shape)
  await upstream.listen()
  ended.defer(() => upstream.close())
  upstream.isPacked = false
  const secretKey = keepSecretFile(join(catalogue.dataDir, 'secret-key'))
  const { request, credentials } = upstream.source
  const { mapping } = upstream.preset
  const { feedId } = await createFeed(opened.db, TESTER, secretKey, { name: shape, advertiserId: null, kind: { request, mapping }, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  const api = await startServe(catalogue.dataDir, ['--only', 'api'], {})
  ended.defer(() => api.stop())
  const worker = await startWorker(catalogue, ended, SMALL)

  const lap = () => runLap(api, { ...listLoad(catalogue), connections: 1 }, LAP_S)
  const measured: FeedRunMeasured[] = []
  for (const [what, raise] of [['all new', 0], ['the same again', 0], ['every tenth changed', 0.1]] as const) {
    upstream.offers = Array.from({ length: offers }, (_, n) => createOffer(n, n % 10 === 0 ? raise : 0))
    const quiet: Lap[] = []
    await lap()
    for (let n = 0; n < quietLaps; n++) quiet.push(await lap())
    const beforeMb = worker.residentMb()
    const busy: Lap[] = []
    const run = watchRun(opened, worker, feedId)
    do busy.push(await lap())
    while (!run.hasEnded())
    const { seconds, peakMb } = await run.ended
    const ratio = (of: keyof Lap) => median(busy.map((one) => one[of])) / median(quiet.map((one) => one[of]))
    measured.push({ shape: paging, what, offers, seconds, grownMb: peakMb - beforeMb, lists: 1 / ratio('requestsPerSecond'), listsByCpu: ratio('cpuMicrosPerRequest') }) // prettier-ignore
  } // prettier-ignore
  return measured
}

/** Asks for a run, and looks at the worker until it has ended. */
function watchRun({ db }: Opened, worker: Running, feedId: number) {
  let hasEnded = false
  let peakMb = 0
  const watch = async () => {
    const runId = await askRun(db, TESTER, feedId, false)
    for (;;) {
      const run = await db.selectFrom('feed_runs').selectAll().where('run_id', '=', runId).executeTakeFirstOrThrow()
      peakMb = Math.max(peakMb, worker.residentMb())
      if (run.ended_at !== null) {
        if (run.outcome !== 'done') throw new Error(`The run ended as ${run.outcome}: ${run.message}`)
        return { seconds: (run.ended_at.getTime() - run.started_at.getTime()) / 1_000, peakMb }
      }
      await sleep(100)
    }
  }
  const ended = watch().finally(() => (hasEnded = true))
  return { ended, hasEnded: () => hasEnded }
}

const COUNTRIES = ['US', 'GB', 'DE', 'FR', 'BR', 'IN']

function createOffer(n: number, raise: number) {
  const goals = Array.from({ length: n % 4 }, (_, step) => ({ id: `g${step}`, name: `Reach level ${(step + 1) * 10}`, payout: 0.5 + step + raise })) // prettier-ignore
  return { id: 10_000 + n, name: `Game number ${n}`, payout: 1 + (n % 50) / 10 + raise, country: COUNTRIES[n % COUNTRIES.length]!, platform: n % 2 === 0 ? ('android' as const) : ('ios' as const), goals } // prettier-ignore
}

export const describeFeed = (measured: FeedRunMeasured[]): string =>
  [
    '| Feed | Run | Offers | Seconds (wanted: below 60) | Memory of the worker, more than before (below 200 MB) | Lists take (at most 1.3) | their CPU time |',
    '| --- | --- | --: | --: | --: | --: | --: |',
    ...measured.map(
      ({ shape, what, offers, seconds, grownMb, lists, listsByCpu }) =>
        `| ${shape} | ${what} | ${offers.toLocaleString('en')} | ${seconds.toFixed(1)} | ${grownMb} MB | ${lists.toFixed(2)} | ${listsByCpu.toFixed(2)} |`,
    ),
  ].join('\n')
