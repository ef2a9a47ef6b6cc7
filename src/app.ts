// The composition root: every wire of the program, in order.
import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { ChangeFeed } from './db/changes.ts'
import type { Database } from './db/open.ts'
import { SoleProcess } from './db/sole-process.ts'
import { Spool } from './db/spool.ts'
import { recordLeak } from './features/apps/apps.ts'
import { inTurn } from './lib/in-turn.ts'
import { Credentials } from './features/apps/credentials.ts'
import { leakReporter } from './features/apps/leaks.ts'
import { createSecretHash } from './features/apps/secrets.ts'
import { Catalogue } from './features/offers/catalogue.ts'
import { Contexts, type UserContext } from './features/offers/contexts.ts'
import { createLinkSigner } from './features/offers/links.ts'
import { readAllOffers, readChangedOffers } from './features/offers/offers.ts'
import { recomputePopularity } from './features/offers/popularity.ts'
import { pictureRoutes } from './features/offers/pictures.ts'
import { offerRoutes } from './features/offers/routes.ts'
import { createGate } from './http/gate.ts'
import { healthRoutes } from './http/health.ts'
import { describeApi, referenceRoutes } from './http/openapi.ts'
import { createMemoryLimiter, createRedisLimiter } from './http/rate-limit.ts'
import { createServer } from './http/server.ts'
import { mountV1 } from './http/v1.ts'
import { welcomeRoutes } from './http/welcome.ts'
import { createLoop } from './worker/loop.ts'

const LOOK_MS = 200
const POPULARITY_MS = 600_000

export type App = {
  server: FastifyInstance
  /** Takes in what changed in the database, now. The app does so by itself a few times a second. */
  refresh(): Promise<void>
  close(): Promise<void>
}

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
  const changes = await ChangeFeed.open(db)
  await credentials.refresh(db, changes.everything)
  await catalogue.load(readAllOffers(db), Date.now())
  const contexts = new Contexts(pool, new Spool<UserContext>(join(config.dataDir, 'spool', 'contexts')), sole)

  opened.defer(() => contexts.close())

  const refresh = inTurn(() =>
    changes.look(async (since) => {
      if (since.apps) await credentials.refresh(db, since)
      if (since.offers) for await (const batch of readChangedOffers(db, since)) await catalogue.apply(batch, Date.now())
    }),
  )
  const loops = [
    createLoop('looking for changes', LOOK_MS, log, { run: refresh, onFailure: () => database.revive() }),
    createLoop('starting and ending offers', LOOK_MS, log, { run: () => catalogue.passTime(Date.now()) }),
    createLoop('replaying the spool', LOOK_MS, log, { run: async () => void (await contexts.replaySpool()) }),
  ]

  // The doors.
  const limiter =
    config.redisUrl === null
      ? createMemoryLimiter()
      : await createRedisLimiter(config.redisUrl, (message) => log.warn(message))
  opened.defer(() => limiter.close())
  const gate = createGate({
    find: credentials.find,
    hashSecret: createSecretHash(secretKey),
    limiter,
    publicUrl: config.publicUrl,
    onLeak: leakReporter((appId, origin) => recordLeak(db, appId, origin), log),
  })
  const { requireHttps, trustProxy, tls } = config
  const server = createServer({ log, gate, requireHttps, trustProxy, tls })
  await describeApi(server, config.publicUrl)
  await mountV1(server, gate, (v1) => {
    offerRoutes(v1, { gate, catalogue, contexts, links: createLinkSigner(secretKey) })
  })
  healthRoutes(server, pool)
  referenceRoutes(server)
  pictureRoutes(server)
  welcomeRoutes(server)
  await server.ready()
  for (const loop of loops) {
    loop.start()
    opened.defer(() => loop.stop())
  }
  opened.defer(() => server.close())

  const owned = opened.move()
  return { server, refresh, close: () => owned.disposeAsync() }
}

/** What is done on a schedule, on one or many machines; `offerdeck serve` runs it beside the API. */
export function buildWorker({ database, log }: Pick<AppOptions, 'database' | 'log'>): { close(): Promise<void> } {
  const popularity = createLoop('popularity', POPULARITY_MS, log, {
    run: async () => void (await recomputePopularity(database.db, new Date())),
  })
  popularity.start()
  return { close: () => popularity.stop() }
}
