// The composition root: every wire of the program, in order.
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { ChangeFeed, EVERYTHING } from './db/changes.ts'
import type { Database, Db } from './db/open.ts'
import { BEAT_MS, Node } from './db/nodes.ts'
import { analyzePartitioned, ensurePartitionsAhead } from './db/partitions.ts'
import { createSignal } from './db/signals.ts'
import { SoleProcess } from './db/sole-process.ts'
import { Spool } from './db/spool.ts'
import { inTurn } from './lib/in-turn.ts'
import { createMailer, type Mail } from './lib/mail.ts'
import { renewHash } from './features/apps/apps.ts'
import { mailSecurityAlerts } from './features/accounts/security-alerts.ts'
import { Credentials } from './features/apps/credentials.ts'
import { leakReporter } from './features/apps/leaks.ts'
import { CredentialUses } from './features/apps/uses.ts'
import { createSecretHashes } from './lib/tokens.ts'
import { type Click, Clicks } from './features/clicks/clicks.ts'
import { openCountryFinder } from './features/clicks/geo.ts'
import { dropOldAttempts, dropOldClicks, dropOldInboundCalls } from './features/clicks/retention.ts'
import { clickRoutes, explainBrokenLink } from './features/clicks/routes.ts'
import { createVisitLimits } from './features/clicks/visit-limits.ts'
import { openVisitorReader } from './features/clicks/visitor.ts'
import { findHeldUntil, findUnconfirmed, forgetOldKeys } from './features/conversions/conversions.ts'
import { createDesk, type Desk } from './features/conversions/desk.ts'
import { numberEvents, Passed } from './features/conversions/events.ts'
import { forgetStrangersCalls } from './features/conversions/inbound/calls.ts'
import { retryUnmatched } from './features/conversions/inbound/confirm.ts'
import { trimOpenCalls } from './features/conversions/inbound/open-calls.ts'
import { inboundRoutes } from './features/conversions/inbound/routes.ts'
import { readMessages } from './features/conversions/messages.ts'
import { conversionRoutes } from './features/conversions/routes.ts'
import { rollUp } from './features/ledger/ledger.ts'
import { countCaps } from './features/offers/cap-counts.ts'
import { forgetPastUsage } from './features/offers/caps.ts'
import { Completions } from './features/offers/completions.ts'
import { Catalogue } from './features/offers/catalogue.ts'
import { Contexts, type UserContext } from './features/offers/contexts.ts'
import { createLinkSigner } from './features/offers/links.ts'
import { readAllOffers, readChangedOffers } from './features/offers/offers.ts'
import { recomputePopularity } from './features/offers/popularity.ts'
import { pictureRoutes } from './features/offers/pictures.ts'
import { offerRoutes } from './features/offers/routes.ts'
import { createAppSender } from './features/postbacks/demo-receiver.ts'
import { Deliverer } from './features/postbacks/deliverer.ts'
import { mailNotices } from './features/postbacks/notices.ts'
import { reapExpired } from './features/postbacks/claims.ts'
import { runReplays } from './features/postbacks/replays.ts'
import { forgetOldPostbacks } from './features/postbacks/retention.ts'
import { postbackRoutes } from './features/postbacks/routes.ts'
import { rollUpStats } from './features/reports/rollup.ts'
import { siftQueues } from './features/postbacks/sift.ts'
import { statsRoutes } from './features/reports/routes.ts'
import { dashboardRoutes } from './http/dashboard.ts'
import { createGate } from './http/gate.ts'
import { healthRoutes } from './http/health.ts'
import { describeApi } from './http/openapi.ts'
import { referenceRoutes } from './http/reference.ts'
import { createMemoryLimiter, createRedisLimiter } from './http/rate-limit.ts'
import { createServer } from './http/server.ts'
import { mountV1 } from './http/v1.ts'
import { mountManage } from './manage/mount.ts'
import { createLoop } from './worker/loop.ts'

const LOOK_MS = 200
const USES_MS = 500
const POPULARITY_MS = 600_000
const SECOND_MS = 1_000
const REAP_MS = 5_000
const MAIL_MS = 10_000
const ALERTS_MS = 3_000
const POSTBACKS_DUE = 'postbacks_due'
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const RELEASE_BATCH = 500

export type App = {
  server: FastifyInstance
  /** Takes in what changed in the database, now. The app does so by itself a few times a second. */
  refresh(): Promise<void>
  close(): Promise<void>
}

export type Worker = { close(): Promise<void> }

export type AppOptions = { config: Config; secretKey: string; database: Database; log: FastifyBaseLogger }

export async function buildApp({ config, secretKey, database, log }: AppOptions): Promise<App> {
  const { db, pool } = database
  // Whatever is opened here is closed again, last first: at the end, or when something fails on the way.
  await using opened = new AsyncDisposableStack()

  // What every request needs, in memory.
  const sole = new SoleProcess(pool)
  opened.defer(() => sole.leave())
  await sole.join()
  const credentials = new Credentials()
  const catalogue = new Catalogue(config.publicUrl)
  const [changedApps, changedOffers] = [await ChangeFeed.open(db, 'apps'), await ChangeFeed.open(db, 'offers')]
  await credentials.refresh(db, EVERYTHING)
  await catalogue.load(readAllOffers(db), Date.now())
  const completions = new Completions(db)
  await completions.follow()
  const uses = new CredentialUses()

  // What requests write.
  await ensurePartitionsAhead(db, Date.now())
  const spoolDir = join(config.dataDir, 'spool')
  const warn = (message: string) => log.warn(message)
  const contexts = new Contexts(pool, new Spool<UserContext>(join(spoolDir, 'contexts')), sole, warn)
  opened.defer(() => contexts.close())
  const clicks = new Clicks(database, new Spool<Click>(join(spoolDir, 'clicks')), warn)
  opened.defer(() => clicks.close())
  const postbacksDue = createSignal(pool, POSTBACKS_DUE)
  const desk = createDesk(db, postbacksDue.send)
  opened.defer(() => desk.close())
  const visitors = await openVisitorReader({ ...config, log })
  opened.defer(() => visitors.close())

  // Apart from each other: a suspended key must not wait until a large import is worked in.
  const refreshApps = inTurn(() => changedApps.look((since) => credentials.refresh(db, since)))
  const refreshOffers = inTurn(async () => {
    await changedOffers.look(async (since) => {
      if (since.isEverything) return catalogue.load(readAllOffers(db), Date.now())
      for await (const batch of readChangedOffers(db, since)) await catalogue.apply(batch, Date.now())
    })
    await catalogue.passTime(Date.now())
  })
  const passed = new Passed()
  const refreshCompletions = inTurn(async () => {
    await numberEvents(db, passed)
    await completions.follow()
  })
  const refresh = async () => void (await Promise.all([refreshApps(), refreshOffers(), refreshCompletions()]))
  const onFailure = () => database.revive()
  const loops = [
    createLoop('looking for changed apps', LOOK_MS, log, { run: refreshApps, onFailure }),
    createLoop('looking for changed offers', LOOK_MS, log, { run: refreshOffers, onFailure }),
    createLoop('looking for completions', LOOK_MS, log, { run: refreshCompletions, onFailure }),
    createLoop('learning which users converted', SECOND_MS, log, { run: () => completions.fill() }),
    createLoop('starting and ending offers', LOOK_MS, log, { run: () => catalogue.passTime(Date.now()) }),
    createLoop('replaying the spool of contexts', LOOK_MS, log, {
      run: async () => void (await contexts.replaySpool()),
    }),
    createLoop('replaying the spool of clicks', LOOK_MS, log, { run: async () => void (await clicks.replaySpool()) }),
    createLoop('making partitions', HOUR_MS, log, { run: () => ensurePartitionsAhead(db, Date.now()) }),
    createLoop('noting which keys are used', USES_MS, log, { run: () => uses.write(db) }),
  ]

  // The doors.
  const limiter =
    config.redisUrl === null
      ? createMemoryLimiter()
      : await createRedisLimiter(config.redisUrl, (message) => log.warn(message))
  opened.defer(() => limiter.close())
  const gate = createGate({
    find: credentials.find,
    hashSecret: createSecretHashes(secretKey),
    onOldHash: (stored, present) => void renewHash(db, stored, present).catch(() => {}), // the next start tries again
    limiter,
    publicUrl: config.publicUrl,
    onLeak: leakReporter(db, log),
    onPass: uses.note,
  })
  const { requireHttps, trustProxy, tls } = config
  const server = createServer({ log, gate, requireHttps, trustProxy, tls, answerBadAddress: explainBrokenLink })
  await describeApi(server, config.publicUrl)
  const links = createLinkSigner(secretKey)
  await mountV1(server, gate, (v1) => {
    offerRoutes(v1, { gate, catalogue, contexts, completions, links, isBanned: credentials.isBanned })
    conversionRoutes(v1, { gate, db, settle: desk.settle })
    postbackRoutes(v1, { gate, db, limiter, wake: postbacksDue.send })
    statsRoutes(v1, { gate, db })
  })
  const mailer = config.smtpUrl === null ? null : createMailer(config.smtpUrl, config.mailFrom)
  opened.defer(() => mailer?.close())
  const sendMail =
    mailer === null
      ? null
      : (mail: Mail) => void mailer.send(mail).catch((error) => warn(`a mail was not sent (${String(error)})`))
  await mountManage(server, {
    db,
    pool,
    config,
    secretKey,
    limiter,
    catalogue,
    completions,
    credentials,
    settle: desk.settle,
    wakePostbacks: postbacksDue.send,
    refresh,
    sendMail,
  })
  clickRoutes(server, { catalogue, clicks, completions, credentials, links, visitors, limits: createVisitLimits() })
  await inboundRoutes(server, {
    db,
    settle: desk.settle,
    hashToken: createSecretHashes(secretKey),
    limiter,
    countryOf: visitors.countryOf,
  })
  healthRoutes(server, pool)
  referenceRoutes(server)
  pictureRoutes(server)
  dashboardRoutes(server)
  await server.ready()
  const node = new Node(db, 'api')
  opened.defer(() => node.leave())
  loops.push(createLoop('saying that it is there', BEAT_MS, log, { run: () => node.beat().catch(() => {}) })) // others tell
  for (const loop of loops) {
    loop.start()
    opened.defer(() => loop.stop())
  }
  opened.defer(() => server.close())

  const owned = opened.move()
  return { server, refresh, close: () => owned.disposeAsync() }
}

/** What is done on a schedule, on one or many machines; `offerdeck serve` runs it beside the API. */
export async function buildWorker({ config, secretKey, database, log }: AppOptions): Promise<Worker> {
  const { db, pool } = database
  await using opened = new AsyncDisposableStack()
  const postbacksDue = createSignal(pool, POSTBACKS_DUE)
  const desk = createDesk(db, postbacksDue.send)
  opened.defer(() => desk.close())
  const countries = await openCountryFinder({ file: config.geoipDb, log })
  opened.defer(() => countries.close())

  const sender = createAppSender(config)
  opened.defer(() => sender.close())
  const warn = (message: string) => log.warn(message)
  const deliverer = new Deliverer({ db, secretKey, sender, describe: readMessages, warn })
  opened.defer(() => deliverer.close())
  const mailer = config.smtpUrl === null ? null : createMailer(config.smtpUrl, config.mailFrom)
  opened.defer(() => mailer?.close())

  const passed = new Passed()
  const loops = [
    createLoop('popularity', POPULARITY_MS, log, { run: async () => void (await recomputePopularity(db, new Date())) }),
    createLoop('releasing holds', SECOND_MS, log, { run: () => releaseHolds(db, desk) }),
    createLoop('expiring unconfirmed reports', MINUTE_MS, log, { run: () => expireReports(db, desk) }),
    createLoop('numbering events', LOOK_MS, log, { run: async () => void (await numberEvents(db, passed)) }),
    createLoop('trying unmatched calls again', SECOND_MS, log, {
      run: async () => void (await retryUnmatched(db, new Date(), (ip) => countries.find(ip), desk.settle)),
    }),
    createLoop('delivering postbacks', LOOK_MS, log, {
      run: () => deliverer.run(),
      onFailure: () => database.revive(),
    }),
    createLoop('keeping slow postbacks', REAP_MS, log, { run: () => deliverer.renewLeases() }),
    createLoop('taking back postbacks of dead workers', REAP_MS, log, {
      run: async () => void (await reapExpired(db)),
    }),
    createLoop('replaying postbacks', SECOND_MS, log, { run: async () => void (await runReplays(db, warn)) }),
    createLoop('taking out postbacks that nobody wants', SECOND_MS, log, {
      run: async () => void (await siftQueues(db)),
    }),
    createLoop('making partitions', HOUR_MS, log, { run: () => ensurePartitionsAhead(db, Date.now()) }),
    createLoop('forgetting idempotency keys', HOUR_MS, log, { run: () => forgetOldKeys(db) }),
    createLoop('counting for new caps', SECOND_MS, log, { run: () => countCaps(db, new Date()) }),
    createLoop('forgetting past usage', HOUR_MS, log, { run: () => forgetPastUsage(db, new Date()) }),
    createLoop('rolling up statistics', MINUTE_MS, log, {
      run: async () => void (await rollUpStats(db, new Date())),
    }),
    createLoop('rolling up the ledger', HOUR_MS, log, { run: async () => void (await rollUp(db, new Date())) }),
    createLoop('dropping old clicks', HOUR_MS, log, {
      run: async () => void (await dropOldClicks(db, new Date(), config.retentionDays)),
    }),
    createLoop('dropping old calls', HOUR_MS, log, {
      run: async () => void (await dropOldInboundCalls(db, new Date(), config.retentionDays)),
    }),
    createLoop('trimming calls that came to nothing', HOUR_MS, log, {
      run: async () => {
        await trimOpenCalls(db)
        await forgetStrangersCalls(db, new Date())
      },
    }),
    createLoop('dropping old attempts', HOUR_MS, log, {
      run: async () => void (await dropOldAttempts(db, new Date(), config.retentionDays)),
    }),
    createLoop('analysing partitioned tables', DAY_MS, log, { run: () => analyzePartitioned(db) }),
    createLoop('forgetting old postbacks', HOUR_MS, log, {
      run: async () => void (await forgetOldPostbacks(db, config.retentionDays)),
    }),
  ]
  loops.push(
    createLoop('mailing security alerts', ALERTS_MS, log, {
      run: async () => void (await mailSecurityAlerts(db, mailer, config.publicUrl, new Date())),
    }),
  )
  if (mailer !== null)
    loops.push(
      createLoop('mailing notices', MAIL_MS, log, {
        run: async () => void (await mailNotices(db, mailer, config.publicUrl, new Date())),
      }),
    )
  const node = new Node(db, 'worker')
  opened.defer(() => node.leave())
  loops.push(createLoop('saying that it is there', BEAT_MS, log, { run: () => node.beat().catch(() => {}) })) // others tell
  opened.defer(async () => void (await Promise.all(loops.map((loop) => loop.stop()))))
  for (const loop of loops) loop.start()
  // The loop tells when that does not work.
  opened.defer(await postbacksDue.listen(() => void deliverer.run().catch(() => {})))

  const owned = opened.move()
  return { close: () => owned.disposeAsync() }
}

async function expireReports(db: Db, desk: Desk): Promise<void> {
  for (;;) {
    const due = await findUnconfirmed(db, new Date(), RELEASE_BATCH)
    await Promise.all(due.map((conversionId) => desk.settle({ kind: 'expire', conversionId })))
    if (due.length < RELEASE_BATCH) return
  }
}

async function releaseHolds(db: Db, desk: Desk): Promise<void> {
  for (;;) {
    const due = await findHeldUntil(db, new Date(), RELEASE_BATCH)
    await Promise.all(due.map((conversionId) => desk.settle({ kind: 'release', conversionId })))
    if (due.length < RELEASE_BATCH) return
  }
}
