// The worker: what is done on a schedule, on one or many machines. `offerdeck serve` runs it beside the API.
import type { AppOptions } from './app.ts'
import { createPostman } from './postman.ts'
import { BEAT_MS, Node } from './db/nodes.ts'
import { createBackupSchedule } from './db/backup/schedule.ts'
import type { Db } from './db/open.ts'
import { analyzePartitioned, ensurePartitionsAhead } from './db/partitions.ts'
import { createNotifier } from './db/notifications.ts'
import { forgetExpired } from './features/accounts/sessions.ts'
import { forgetOldMails, giveUpMails } from './features/accounts/mails.ts'
import { forgetUnverified } from './features/accounts/sign-up/sign-up.ts'
import { openCountryFinder } from './features/clicks/geo.ts'
import { compactClickCounts } from './features/clicks/compact-counts.ts'
import { forgetOldContexts } from './features/clicks/old-contexts.ts'
import {
  dropEmptyDays,
  dropOldAttempts,
  dropOldClicks,
  dropOldInboundCalls,
  dropOldRequests,
} from './features/clicks/retention.ts'
import { findHeldUntil, findUnconfirmed, forgetOldKeys } from './features/conversions/conversions.ts'
import { createCommandQueue, type CommandQueue } from './features/conversions/command-queue.ts'
import { numberEvents, Passed } from './features/conversions/events.ts'
import { forgetStrangersCalls } from './features/conversions/inbound/calls.ts'
import { retryUnmatched } from './features/conversions/inbound/confirm.ts'
import { trimOpenCalls } from './features/conversions/inbound/open-calls.ts'
import { readMessages } from './features/conversions/messages.ts'
import { keepBudgets } from './features/ledger/budgets/budgets.ts'
import { warnOfBudgets } from './features/ledger/budgets/warnings.ts'
import { closeDays, rollUp } from './features/ledger/rollup.ts'
import { countCaps } from './features/offers/cap-counts.ts'
import { warnOfCaps } from './features/offers/cap-warnings.ts'
import { forgetOldProposals } from './features/offers/proposals/proposals.ts'
import { forgetPastUsage } from './features/offers/caps.ts'
import { recomputePopularity } from './features/offers/popularity.ts'
import { JudgedOffers } from './features/offers/products/app-rules.ts'
import { arrangeProducts } from './features/offers/products/arrange-products.ts'
import { reapExpired } from './features/postbacks/claims.ts'
import { Deliverer } from './features/postbacks/deliverer.ts'
import { createAppSender, createGuardedOpener } from './features/postbacks/app-sender.ts'
import { exportDue } from './features/exports/exporter.ts'
import { mayDropClicks } from './features/exports/retention.ts'
import { openTarget } from './features/exports/open-target.ts'
import { forgetOldRuns, runAskedFeeds, runDueFeeds } from './features/feeds/due-feeds.ts'
import { forgetOldRates } from './features/rates/rates.ts'
import { forgetOldNotices } from './features/postbacks/notices.ts'
import { POSTBACKS_DUE } from './features/postbacks/queue.ts'
import { runReplays } from './features/postbacks/replays.ts'
import { forgetOldPostbacks } from './features/postbacks/retention.ts'
import { siftQueues } from './features/postbacks/sift.ts'
import { forgetOldRankings, renewRanking } from './features/reports/rankings.ts'
import { rollUpStats } from './features/reports/rollup.ts'
import { eraseUsers } from './features/users/erase.ts'
import { forgetErasedHashes } from './features/users/erasures.ts'
import { forgetOldAddresses } from './features/users/old-addresses.ts'
import { rollUpBalances } from './features/users/rollup.ts'
import { forgetOldWallDays } from './features/wall/funnel.ts'
import { forgetOldTickets } from './features/wall/old-tickets.ts'
import { forgetOldUnlocks } from './features/lockers/old-unlocks.ts'
import { createLoop, type Loop, NOTHING_TRIED, type Work } from './loop.ts'

const LOOK_MS = 200
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const BATCH = 500
/** Networks that hang keep as many feeds waiting as there are lanes, for an hour at most. */
const FEED_LANES = ['', ', second lane', ', third lane']

export type Worker = { close(): Promise<void> }

export async function buildWorker({ config, secretKey, database, log, metrics, tracing }: AppOptions): Promise<Worker> {
  const { db, pool } = database
  const { retentionDays, retention } = config
  await using opened = new AsyncDisposableStack()
  const postbacksDue = createNotifier(pool, POSTBACKS_DUE)
  const commands = createCommandQueue(db, postbacksDue.send, tracing?.traceBatch)
  opened.defer(() => commands.close())
  const countries = await openCountryFinder({ file: config.geoipDb, log })
  opened.defer(() => countries.close())
  const sender = createAppSender(config)
  opened.defer(() => sender.close())
  const warn = (message: string) => log.warn(message)
  const deliverer = new Deliverer({
    db,
    secretKey,
    sender,
    describe: readMessages,
    warn,
    onAttempt: tracing?.traceAttempt,
  })
  opened.defer(() => deliverer.close())
  const postman = createPostman({ config, secretKey, database })
  opened.defer(() => postman?.close())
  const node = new Node(db, 'worker')
  opened.defer(() => node.leave())
  const passed = new Passed()
  const exportTarget = openTarget(config)

  const loops: Loop[] = []
  const every = (pauseMs: number, name: string, run: Work['run'], onFailure?: Work['onFailure']) =>
    void loops.push(createLoop(name, pauseMs, log, { run, ...(onFailure === undefined ? {} : { onFailure }) }))

  // Conversions.
  every(LOOK_MS, 'numbering events', () => numberEvents(db, passed))
  every(SECOND, 'releasing holds', () => releaseHolds(db, commands))
  every(MINUTE, 'expiring unconfirmed reports', () => expireReports(db, commands))
  every(SECOND, 'trying unmatched calls again', () =>
    retryUnmatched(db, new Date(), (ip) => countries.find(ip), commands.apply),
  )
  every(MINUTE, 'warning of caps', () => warnOfCaps(db, new Date()))
  every(10 * SECOND, 'keeping budgets', () => keepBudgets(db, new Date()))
  every(MINUTE, 'warning of budgets', () => warnOfBudgets(db, new Date()))
  every(SECOND, 'counting for new caps', () => countCaps(db, new Date()))

  // Postbacks and mails.
  const deliver = () => deliverer.run()
  every(LOOK_MS, 'delivering postbacks', deliver, () => database.revive())
  every(5 * SECOND, 'keeping slow postbacks', () => deliverer.renewLeases())
  every(5 * SECOND, 'taking back postbacks of dead workers', () => reapExpired(db))
  every(SECOND, 'replaying postbacks', () => runReplays(db, warn))
  every(SECOND, 'taking out postbacks that are no longer wanted', () => siftQueues(db))
  if (postman !== null) every(SECOND, 'sending mails', async () => ((await postman.send()) > 0 ? null : NOTHING_TRIED))
  every(MINUTE, 'giving up mails', async () => {
    for (const message of await giveUpMails(db, postman !== null)) warn(message)
  })

  // Feeds.
  const runner = { db, secretKey, open: createGuardedOpener(config), traceRun: tracing?.traceFeedRun }
  for (const lane of FEED_LANES) {
    every(SECOND, `running feeds that were asked for${lane}`, () => runAskedFeeds(runner, warn))
    every(5 * SECOND, `running feeds${lane}`, () => runDueFeeds(runner, warn))
  }

  const judged = new JudgedOffers()
  every(15 * SECOND, 'choosing among offers for one product', () => arrangeProducts(db, judged))

  // Sums.
  every(10 * MINUTE, 'popularity', () => recomputePopularity(db, new Date()))
  every(MINUTE, 'ranking offers', () => renewRanking(db, new Date()))
  every(MINUTE, 'rolling up statistics', () => rollUpStats(db, new Date()))
  every(10 * SECOND, 'summing up the ledger', () => rollUp(db))
  every(10 * SECOND, 'summing up balances of users', () => rollUpBalances(db))
  every(HOUR, 'closing days of the ledger', () => closeDays(db, new Date()))

  if (exportTarget !== null) {
    const options = { db, target: exportTarget, intervalSeconds: config.exportIntervalSeconds, warn }
    every(SECOND, 'exporting clicks and conversions', () => exportDue(options))
  }

  // What is created ahead, and what is deleted.
  every(SECOND, 'erasing users', () => eraseUsers(db, new Date()))
  every(DAY, 'forgetting hashes of erased users', () => forgetErasedHashes(db, new Date(), retention.clicks))
  every(HOUR, 'creating partitions', () => ensurePartitionsAhead(db, Date.now()))
  every(DAY, 'analysing partitioned tables', () => analyzePartitioned(db))
  every(HOUR, 'forgetting idempotency keys', () => forgetOldKeys(db))
  every(HOUR, 'forgetting expired sessions', () => forgetExpired(db, new Date()))
  every(HOUR, 'forgetting unverified sign-ups', () => forgetUnverified(db, new Date()))
  every(HOUR, 'forgetting past usage', () => forgetPastUsage(db, new Date()))
  const mayDrop = exportTarget === null ? undefined : mayDropClicks(exportTarget.url)
  every(HOUR, 'dropping old clicks', () => dropOldClicks(db, new Date(), retention.clicks, mayDrop))
  every(HOUR, 'dropping old calls', () => dropOldInboundCalls(db, new Date(), retention.callbacks))
  every(HOUR, 'trimming calls that came to nothing', () => trimOpenCalls(db, warn))
  every(HOUR, 'forgetting calls of strangers', () => forgetStrangersCalls(db, new Date()))
  every(HOUR, 'dropping old attempts', () => dropOldAttempts(db, new Date(), retention.postbacks))
  every(HOUR, 'dropping old API requests', () => dropOldRequests(db, new Date(), retention.requests))
  every(HOUR, 'dropping days without anything', () => dropEmptyDays(db, new Date()))
  every(HOUR, 'forgetting old postbacks', () => forgetOldPostbacks(db, retention.postbacks))
  every(HOUR, 'forgetting old notices', () => forgetOldNotices(db, new Date(), retentionDays))
  every(DAY, 'forgetting sub-IDs of users long gone', () => forgetOldContexts(db, new Date(), retention.clicks))
  every(HOUR, 'forgetting old addresses', () => forgetOldAddresses(db, new Date(), retention.addresses))
  every(DAY, 'compacting counts of old clicks', () => compactClickCounts(db, new Date()))
  every(DAY, 'forgetting old days of walls', () => forgetOldWallDays(db, new Date()))
  every(HOUR, 'forgetting old rankings', () => forgetOldRankings(db, new Date()))
  every(HOUR, 'forgetting old tickets', () => forgetOldTickets(db, new Date(), retention.tickets))
  every(HOUR, 'forgetting old unlocks', () => forgetOldUnlocks(db, new Date(), retention.unlocks))
  every(DAY, 'forgetting old rates', () => forgetOldRates(db, new Date()))
  every(HOUR, 'forgetting old runs of feeds', () => forgetOldRuns(db, new Date(), retentionDays))
  every(HOUR, 'forgetting old proposals', () => forgetOldProposals(db, retentionDays, new Date()))
  every(HOUR, 'forgetting old mails', () => forgetOldMails(db, retentionDays))

  const backups = createBackupSchedule(config)
  if (backups !== null) every(MINUTE, 'making backups', () => backups.run())

  every(BEAT_MS, 'saying that it is there', () => node.beat().catch(() => {})) // a failure shows elsewhere

  metrics?.addWorker(db, loops, exportTarget?.url ?? null)
  tracing?.traceLoops(loops)
  opened.defer(async () => void (await Promise.all(loops.map((loop) => loop.stop()))))
  opened.defer(() => backups?.close()) // before the loops, which wait for it
  opened.defer(() => exportTarget?.close()) // before the loops are waited for
  for (const loop of loops) loop.start()
  // The loop logs failures.
  opened.defer(await postbacksDue.listen(() => void deliver().catch(() => {})))

  const owned = opened.move()
  return { close: () => owned.disposeAsync() }
}

const releaseHolds = (db: Db, commands: CommandQueue) =>
  applyDue(commands, 'release', () => findHeldUntil(db, new Date(), BATCH))

const expireReports = (db: Db, commands: CommandQueue) =>
  applyDue(commands, 'expire', () => findUnconfirmed(db, new Date(), BATCH))

async function applyDue(
  commands: CommandQueue,
  kind: 'release' | 'expire',
  find: () => Promise<string[]>,
): Promise<void> {
  for (;;) {
    const due = await find()
    await Promise.all(due.map((conversionId) => commands.apply({ kind, conversionId })))
    if (due.length < BATCH) return
  }
}
