import { Command, Option } from 'commander'
import type { FastifyBaseLogger } from 'fastify'
import { type Config, loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { planProcesses, type Processes, readConnectionBudget, readConnectionLimits } from '../db/connection-budget.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { readReplicaLimits } from '../db/replica.ts'
import type { DemoSite } from '../demo/site.ts'
import { OperatorError } from '../errors.ts'
import { invitationUrl, inviteFirstOperator } from '../features/accounts/invitations.ts'
import { useSecretKey } from '../features/accounts/secret-keys.ts'
import { isLoopback } from '../lib/ip-ranges.ts'
import { operator } from './audit.ts'
import { type Context, readSecretKey } from './context.ts'
import { findDemoLeftovers, prepareDemo, prepareDemoPeople, prepareDemoSite } from './demo.ts'
import { createLog } from './log.ts'
import { type OutputOptions, say } from './output.ts'
import { countApis } from './serving/count-apis.ts'
import type { Part } from './serving/messages.ts'
import { checkPort, loadParts, openFigures, runParts } from './serving/parts.ts'
import { createStopper, type Stops } from './serving/stopper.ts'
import { Supervised } from './serving/supervised.ts'
import { SUPERVISED, Supervisor } from './serving/supervisor.ts'
import { type Started, welcome } from './serving/welcome.ts'
import { terminal } from './terminal.ts'

const SUPERVISOR_PATIENCE_MS = 30_000 // longer than that of what it waits for

type ServeOptions = OutputOptions & { only?: Part }

export const serveCommand = () =>
  new Command('serve')
    .addOption(new Option('--only <role>', 'run only this role (default: both)').choices(['api', 'worker']))
    .action((options: ServeOptions) => (terminal().env[SUPERVISED] === undefined ? serve(options) : serveSupervised()))

async function serve(options: ServeOptions): Promise<void> {
  const config = loadConfig(terminal().env)
  const log = createLog(config.logLevel)
  const secretKey = readSecretKey(config)
  const parts: Part[] = options.only === undefined ? ['worker', 'api'] : [options.only]
  const asked = parts.includes('api') ? config.processes : 1
  const mayBeSeveral = asked !== 1
  if (!mayBeSeveral) void loadParts() // while the database starts
  // Closed last first: on a stop signal, or when something fails on the way up.
  const running = new AsyncDisposableStack()
  const stops: Stops = { drain: async () => {}, close: () => running.disposeAsync() } // before there is a server
  const stop = createStopper(
    { drain: (isOver) => stops.drain(isOver), close: () => stops.close() },
    { drainSeconds: config.drainSeconds, log, ...(mayBeSeveral && { patienceMs: SUPERVISOR_PATIENCE_MS }) },
  )
  try {
    const database = running.adopt(await openDatabase(config), (opened) => opened.close())
    if (stop.isAsked) return
    await migrate(database)
    await useSecretKey(database.db, secretKey)
    const prepared = await prepare({ config, database, secretKey, by: operator() }, options)
    const { demoSite } = prepared
    const { apis, why } = await countApis(asked, database)
    if (why !== null) log.info(why)
    const own = planProcesses(parts, apis)
    if (database.embeddedIn === null) await warnAboutConnections(database, own, config, log).catch(() => {}) // it runs without knowing
    if (apis > 1) stops.drain = await superviseParts(parts, apis, { config, log, demoSite, running })
    else stops.drain = await runParts(parts, { config, secretKey, database, log, demoSite, running, stop })
    warnAboutHttps(config, log)
    if (!stop.isAsked) say(describe(config, options, { ...prepared, embeddedIn: database.embeddedIn }))
  } catch (error) {
    if (stop.isAsked) return // what failed failed because everything is being closed
    await running.disposeAsync()
    throw error
  } finally {
    stop.started()
  }
}

type Prepared = Pick<Started, 'demo' | 'people' | 'setUpUrl'> & { demoSite: DemoSite | null }

async function prepare(context: Context, { only }: ServeOptions): Promise<Prepared> {
  const { config, database, secretKey } = context
  if (only !== 'worker') await refuseDemoLeftovers(context)
  const demo = config.demo ? await prepareDemo(context) : null
  const demoSite = demo === null ? null : await prepareDemoSite(context, demo)
  const people = demo === null ? [] : await prepareDemoPeople(context, demo)
  const token = only === 'worker' ? null : await inviteFirstOperator(database.db, secretKey, new Date())
  return { demo, demoSite, people, setUpUrl: token === null ? null : invitationUrl(config.publicUrl, token) }
}

type Supervision = {
  config: Config
  log: FastifyBaseLogger
  demoSite: DemoSite | null
  running: AsyncDisposableStack
}

/** Runs them as processes. Returns how they are drained. */
async function superviseParts(
  parts: readonly Part[],
  count: number,
  { config, log, demoSite, running }: Supervision,
): Promise<Stops['drain']> {
  await checkPort(config)
  const supervisor: Supervisor = new Supervisor({ log, demoSite, readFigures: () => figures.read() })
  const figures = running.adopt(await openFigures(config, supervisor), (opened) => opened.close())
  running.defer(() => supervisor.stop('worker', false))
  running.defer(() => supervisor.stop('api', false))
  const apis = Array.from({ length: count }, (_, i) => ({ part: 'api' as const, name: `api-${i + 1}` }))
  const workers = parts.includes('worker') ? [{ part: 'worker' as const, name: 'worker' }] : []
  await supervisor.start([...apis, ...workers])
  return (isOver) => supervisor.stop('api', true, isOver)
}

/** A process that the supervisor started. */
async function serveSupervised(): Promise<void> {
  const config = loadConfig(terminal().env)
  const log = createLog(config.logLevel)
  const running = new AsyncDisposableStack()
  const stops: Stops = { drain: async () => {}, close: () => running.disposeAsync() }
  const stop = createStopper(
    { drain: (isOver) => stops.drain(isOver), close: () => stops.close() },
    { drainSeconds: config.drainSeconds, log, isSupervised: true },
  )
  const supervised = new Supervised(stop)
  void loadParts()
  try {
    const { part, name, demoSite } = await supervised.ready()
    const database = running.adopt(await openDatabase(config), (opened) => opened.close())
    const secretKey = readSecretKey(config)
    stops.drain = await runParts([part], {
      config,
      secretKey,
      database,
      log,
      demoSite,
      running,
      stop,
      supervised,
      name,
    })
    supervised.started()
  } catch (error) {
    if (stop.isAsked) return
    supervised.failed(error)
    await running.disposeAsync()
    process.exit(1)
  } finally {
    stop.started()
  }
}

/** Those that are running now, and ours, which are not yet: all of them may come to use what they may. */
async function warnAboutConnections(
  { db, pool }: Database,
  own: Processes,
  { databaseReplicaUrl: url }: Config,
  log: FastifyBaseLogger,
): Promise<void> {
  const { all, apis, needed } = await readConnectionBudget(db, own)
  const { most } = await readConnectionLimits(pool)
  if (needed.primary > most)
    log.warn(
      `The ${all} processes on this database may use ${needed.primary} connections, and PostgreSQL allows ${most}: raise max_connections, or put PgBouncer in between.`,
    )
  if (url === null || own.apis === 0) return
  const limits = await readReplicaLimits(url)
  if (needed.replica > limits.most)
    log.warn(
      `The ${apis} API processes on this database may use ${needed.replica} connections to the replica, which allows ${limits.most}: raise its max_connections.`,
    )
}

function describe(
  config: Config,
  { json, only }: ServeOptions,
  started: Omit<Started, 'hasDemoSite'> & Prepared,
): string {
  const { demo, people, setUpUrl, demoSite } = started
  if (json) return JSON.stringify({ address: config.publicUrl, demo, people, set_up_url: setUpUrl })
  return welcome(config, only, { ...started, hasDemoSite: demoSite !== null })
}

/** Someone who started with the demo and keeps its data on a server must not leave its accounts open. */
async function refuseDemoLeftovers(context: Context): Promise<void> {
  const { host, production, demo } = context.config
  if (demo || (isLoopback(host) && !production)) return
  const found = await findDemoLeftovers(context)
  if (found.length > 0)
    throw new OperatorError(
      `This data folder was used for the demo, and ${found.join(', ')} still work with the passwords and secrets the demo printed. ` +
        'Set DATA_DIR to another folder for a network that others can reach. To keep this one, start it with HOST=127.0.0.1, ' +
        'change the passwords or disable these accounts in the dashboard, and run "npx offerdeck app rotate-secret" or "npx offerdeck app revoke" for the app.',
    )
}

function warnAboutHttps({ requireHttps, tls, trustProxy }: Config, log: FastifyBaseLogger): void {
  if (requireHttps && tls === null && trustProxy.length === 0) {
    log.warn(
      'HTTPS is required, but nothing provides it: every request gets 400. Set TLS_CERT and TLS_KEY, or TRUST_PROXY to the IP address of a proxy that does.',
    )
  }
}
