// The composition root of the API: every wire, in order. The worker's is worker.ts.
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { messageOf } from './errors.ts'
import { ChangeFeed, EVERYTHING } from './db/changes.ts'
import type { Database } from './db/open.ts'
import { BEAT_MS, Node } from './db/nodes.ts'
import { ensurePartitionsAhead } from './db/partitions.ts'
import { Replica } from './db/replica.ts'
import { createNotifier } from './db/notifications.ts'
import { SingleWriter } from './db/single-writer.ts'
import { Spool } from './db/spool.ts'
import { inTurn } from './lib/in-turn.ts'
import { createErasedFinder } from './features/apps/erased-users.ts'
import { renewHash } from './features/apps/keys.ts'
import { type AppCredential, Credentials } from './features/apps/credentials.ts'
import { leakReporter } from './features/apps/leaks.ts'
import { KeyUsage } from './features/apps/key-usage.ts'
import { RequestLog } from './features/apps/request-log.ts'
import { createSecretHashes } from './lib/tokens.ts'
import { type Click, Clicks } from './features/clicks/clicks.ts'
import { clickRoutes, explainBrokenLink } from './features/clicks/routes.ts'
import { createVisitLimits } from './features/clicks/visit-limits.ts'
import { openVisitorReader, type VisitorReader } from './features/clicks/visitor.ts'
import { createCommandQueue } from './features/conversions/command-queue.ts'
import { numberEvents, Passed } from './features/conversions/events.ts'
import { inboundRoutes } from './features/conversions/inbound/routes.ts'
import { conversionRoutes } from './features/conversions/routes.ts'
import { Completions } from './features/offers/completions.ts'
import { Catalogue } from './features/offers/catalogue.ts'
import { Contexts, type UserContext } from './features/offers/contexts.ts'
import { followOffers } from './features/offers/follow-offers.ts'
import { imageRoutes } from './features/offers/images.ts'
import { createLogoReader } from './features/offers/logo.ts'
import { createLinkSigner } from './features/offers/links.ts'
import { pictureRoutes } from './features/offers/pictures.ts'
import { offerRoutes } from './features/offers/routes.ts'
import { POSTBACKS_DUE } from './features/postbacks/queue.ts'
import { postbackRoutes } from './features/postbacks/routes.ts'
import { statsRoutes } from './features/reports/routes.ts'
import { userRoutes } from './features/users/routes.ts'
import { redeemRoute } from './features/lockers/redeem-route.ts'
import { createLockerCheck } from './features/lockers/locker-offers.ts'
import { lockerRoutes } from './features/lockers/routes.ts'
import { WallCounts } from './features/wall/funnel.ts'
import { LockerViews } from './features/lockers/views.ts'
import { LiveWalls, TICKETS_CHANGED } from './features/wall/live.ts'
import { wallRoutes } from './features/wall/routes.ts'
import { sdkRoutes } from './features/wall/sdk.ts'
import { ticketRoutes } from './features/wall/ticket-routes.ts'
import { createWallSettingsReader } from './features/wall/settings.ts'
import { createViewers } from './features/wall/viewers.ts'
import { demoRoutes } from './demo/routes.ts'
import type { DemoSite } from './demo/site.ts'
import { dashboardRoutes } from './http/dashboard.ts'
import { createGate, type Gate } from './http/gate.ts'
import { healthRoutes } from './http/health.ts'
import { describeApi } from './http/openapi.ts'
import { referenceRoutes } from './http/reference.ts'
import { createMemoryLimiter, createRedisLimiter, type RateLimiter } from './http/rate-limit.ts'
import { securityTxtRoute } from './http/security-txt.ts'
import { createServer } from './http/server.ts'
import { mountV1 } from './http/v1.ts'
import { MANAGE_TAGS } from './manage/access.ts'
import type { ManageContext } from './manage/context.ts'
import { mountManage } from './manage/mount.ts'
import { createLoop, type Loop } from './loop.ts'
import type { ProcessMetrics } from './metrics/open-metrics.ts'
import { createPostman } from './postman.ts'
import type { Tracing } from './tracing/open-tracing.ts'

const LOOK_MS = 200
const KEY_USAGE_MS = 500
const REQUEST_LOG_MS = 500
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

export type App = {
  server: FastifyInstance
  /** Applies what changed in the database now. The app also does this a few times a second. */
  refresh(): Promise<void>
  /** Tells load balancers to send no more, and goes on serving: every answer closes its connection. */
  drain(): void
  close(): Promise<void>
}

export type AppOptions = {
  config: Config
  secretKey: string
  database: Database
  log: FastifyBaseLogger
  /** Only in the demo. */
  demoSite?: DemoSite | null
  /** Both only where settings want them. */
  metrics?: ProcessMetrics | null
  tracing?: Tracing | null
  /** Where the processes of this machine share one. */
  limiter?: RateLimiter | null
}

export async function buildApp(options: AppOptions): Promise<App> {
  const { config, secretKey, database, log, demoSite = null, metrics = null, tracing = null } = options
  const { db, pool } = database
  // Whatever is opened here is closed again, last first: at the end, or when something fails on the way.
  await using opened = new AsyncDisposableStack()

  // What every request needs, in memory.
  const singleWriter = new SingleWriter(pool)
  opened.defer(() => singleWriter.leave())
  await singleWriter.join()
  const credentials = new Credentials()
  const catalogue = new Catalogue(config.publicUrl)
  const changedApps = await ChangeFeed.open(db, 'apps')
  const offers = await followOffers(database, catalogue)
  await credentials.refresh(db, EVERYTHING)
  const loading = offers.load() // while everything else is set up
  loading.catch(() => {}) // reported where it is awaited
  const completions = new Completions(db)
  await completions.follow()
  const liveWalls = new LiveWalls(completions)
  opened.defer(await createNotifier(pool, TICKETS_CHANGED).listen((user) => liveWalls.notify(user, 'tickets')))
  const keyUsage = new KeyUsage()
  const [lockerViews, wallCounts] = [new LockerViews(), new WallCounts()]
  const writeViews = async () => void (await Promise.all([lockerViews.write(db), wallCounts.write(db)]))
  opened.defer(() => writeViews().catch(() => {}))
  const requestLog = new RequestLog()
  opened.defer(() => requestLog.write(db).catch(() => {}))

  // What requests write.
  await ensurePartitionsAhead(db, Date.now())
  const openSpool = <Row>(name: string) => new Spool<Row>(join(config.dataDir, 'spool', name))
  const warn = (message: string) => log.warn(message)
  const findErased = createErasedFinder(db, secretKey)
  const spool = openSpool<UserContext>('contexts')
  const contexts = new Contexts(pool, spool, singleWriter, findErased, warn, tracing?.traceBatch)
  completions.onErased = () => contexts.forget()
  opened.defer(() => contexts.close())
  const clicks = new Clicks(database, openSpool<Click>('clicks'), findErased, warn, tracing?.traceBatch)
  opened.defer(() => clicks.close())
  const postbacksDue = createNotifier(pool, POSTBACKS_DUE)
  const commands = createCommandQueue(db, postbacksDue.send, tracing?.traceBatch)
  opened.defer(() => commands.close())
  const visitors = await openVisitorReader({ ...config, log })
  opened.defer(() => visitors.close())

  // Apart from each other: a suspended key must not wait until a large import is worked in.
  const refreshApps = inTurn(() => changedApps.look((since) => credentials.refresh(db, since)))
  const passed = new Passed()
  const refreshCompletions = inTurn(async () => {
    await numberEvents(db, passed)
    await completions.follow()
  })
  const refresh = async () => void (await Promise.all([refreshApps(), offers.refresh(), refreshCompletions()]))
  const onFailure = () => database.revive()
  const loops: Loop[] = [
    createLoop('looking for changed apps', LOOK_MS, log, { run: refreshApps, onFailure }),
    createLoop('looking for changed offers', LOOK_MS, log, { run: offers.refresh, onFailure }),
    createLoop('looking for completions', LOOK_MS, log, { run: refreshCompletions, onFailure }),
    createLoop('learning which users converted', SECOND_MS, log, { run: () => completions.fill() }),
    createLoop('starting and ending offers', LOOK_MS, log, { run: () => catalogue.passTime(Date.now()) }),
    createLoop('replaying the spool of contexts', LOOK_MS, log, { run: () => contexts.replaySpool() }),
    createLoop('replaying the spool of clicks', LOOK_MS, log, { run: () => clicks.replaySpool() }),
    createLoop('creating partitions', HOUR_MS, log, { run: () => ensurePartitionsAhead(db, Date.now()) }),
    createLoop('recording key usage', KEY_USAGE_MS, log, { run: () => keyUsage.write(db) }),
    createLoop('counting views of walls and lockers', SECOND_MS, log, { run: writeViews }),
    createLoop('writing the request log', REQUEST_LOG_MS, log, { run: () => requestLog.write(db) }),
  ]

  // The doors.
  const limiter =
    options.limiter ??
    (config.redisUrl === null ? createMemoryLimiter() : await createRedisLimiter(config.redisUrl, warn))
  opened.defer(() => limiter.close())
  const gate = createGate({
    find: credentials.find,
    hashSecret: createSecretHashes(secretKey),
    onOldHash: (stored, present) => void renewHash(db, stored, present).catch(() => {}), // retried at the next start
    limiter,
    publicUrl: config.publicUrl,
    onLeak: leakReporter(db, log),
    onPass: keyUsage.note,
  })
  const { databaseReplicaUrl, preparedStatements } = config
  const replica = databaseReplicaUrl === null ? null : new Replica(databaseReplicaUrl, pool, preparedStatements)
  if (replica !== null) {
    opened.defer(() => replica.close())
    loops.push(createLoop('looking at the replica', SECOND_MS, log, { run: () => replica.look() }))
  }
  let isStopping = false
  const { requireHttps, trustProxy, tls } = config
  const server = createServer({
    log,
    gate,
    requireHttps,
    trustProxy,
    tls,
    noteResponse: requestLog.note,
    answerBadAddress: explainBrokenLink,
  })
  tracing?.addApi(server)
  const writers = { clicks: () => clicks.counts, contexts: () => contexts.counts, conversions: commands.counts }
  metrics?.addApi(server, { dataDir: config.dataDir, replica, catalogue, offers, liveWalls, writers }, loops)
  const postman = createPostman({ config, secretKey, database })
  opened.defer(() => postman?.close())
  await mountRoutes(server, {
    db,
    replica,
    pool,
    config,
    secretKey,
    limiter,
    gate,
    catalogue,
    contexts,
    clicks,
    completions,
    credentials,
    visitors,
    liveWalls,
    lockerViews,
    wallCounts,
    applyCommand: commands.apply,
    wakePostbacks: postbacksDue.send,
    isStopping: () => isStopping,
    refresh,
    sendMails: postman && (() => void postman.send().catch((e) => warn(`a mail is sent later (${messageOf(e)})`))),
  })
  if (demoSite !== null) demoRoutes(server, { db, secretKey, config, site: demoSite })
  await server.ready()
  await loading
  const node = new Node(db, 'api')
  opened.defer(() => node.leave())
  loops.push(createLoop('saying that it is there', BEAT_MS, log, { run: () => node.beat().catch(() => {}) })) // a failure shows elsewhere
  tracing?.traceLoops(loops)
  for (const loop of loops) {
    loop.start()
    opened.defer(() => loop.stop())
  }
  opened.defer(() => server.close())
  opened.defer(() => liveWalls.close()) // a stream would keep the server from closing

  const owned = opened.move()
  const drain = () => {
    isStopping = true
    server.server.prependListener('request', (_request, response) => (response.shouldKeepAlive = false))
  }
  return { server, refresh, drain, close: () => owned.disposeAsync() }
}

export type Wires = Omit<ManageContext, 'auth'> & {
  gate: Gate<AppCredential>
  contexts: Contexts
  clicks: Clicks
  visitors: VisitorReader
  liveWalls: LiveWalls
  lockerViews: LockerViews
  wallCounts: WallCounts
  isStopping: () => boolean
}

/** Every route, in order. No wire is used before the first request: scripts/openapi.ts describes the API without them. */
export async function mountRoutes(server: FastifyInstance, wires: Wires): Promise<void> {
  const { db, pool, config, secretKey, limiter, gate, catalogue, contexts, clicks, completions, credentials } = wires
  const { visitors, applyCommand, wakePostbacks } = wires
  await describeApi(server, config.publicUrl, MANAGE_TAGS)
  const links = createLinkSigner(secretKey)
  const offers = { catalogue, contexts, completions, links, isBanned: credentials.isBanned }
  await mountV1(server, gate, (v1) => {
    offerRoutes(v1, { gate, ...offers })
    conversionRoutes(v1, { gate, db, applyCommand })
    postbackRoutes(v1, { gate, db, limiter, wake: wakePostbacks })
    userRoutes(v1, { gate, db, isBanned: credentials.isBanned })
    statsRoutes(v1, { gate, db })
    redeemRoute(v1, { gate, db, secretKey, isBanned: credentials.isBanned })
  })
  await mountManage(server, wires)
  const limits = createVisitLimits()
  const { wallCounts: counts } = wires
  const onWallClick = (appId: number) => counts.note(appId, 'started')
  const visits = { visitors, limits, onWallClick, isInLocker: createLockerCheck(db, catalogue) }
  clickRoutes(server, { db, catalogue, clicks, completions, credentials, links, ...visits })
  const settingsOf = createWallSettingsReader(db)
  const viewers = createViewers({ db, secretKey, credentials, limiter, settingsOf })
  const hasMail = wires.sendMails !== null
  wallRoutes(server, { ...offers, db, visitors, viewers, settingsOf, live: wires.liveWalls, hasMail, counts })
  ticketRoutes(server, { db, visitors, viewers, settingsOf, limiter })
  sdkRoutes(server, db)
  const { publicUrl } = config
  const { liveWalls: live, lockerViews: views } = wires
  lockerRoutes(server, { ...offers, db, secretKey, publicUrl, limiter, credentials, visitors, settingsOf, live, views })
  const inbound = { db, applyCommand, hashToken: createSecretHashes(secretKey), secretKey, publicUrl, limiter }
  await inboundRoutes(server, { ...inbound, countryOf: visitors.countryOf })
  healthRoutes(server, pool, wires.isStopping)
  referenceRoutes(server)
  pictureRoutes(server)
  imageRoutes(server, db)
  securityTxtRoute(server, config)
  dashboardRoutes(server, createLogoReader(db))
}
