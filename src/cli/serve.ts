import { setTimeout as wait } from 'node:timers/promises'
import { Command, Option } from 'commander'
import type { FastifyBaseLogger } from 'fastify'
import type { App } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { messageOf, OperatorError } from '../errors.ts'
import { invitationUrl, inviteFirstOperator } from '../features/accounts/invitations.ts'
import { useSecretKey } from '../features/accounts/secret-keys.ts'
import { isLoopback } from '../lib/ip-ranges.ts'
import type { ProcessMetrics } from '../metrics/open-metrics.ts'
import { operator } from './audit.ts'
import { type Context, readSecretKey } from './context.ts'
import type { DemoApp } from './demo-app.ts'
import { type DemoPerson, findDemoLeftovers, prepareDemo, prepareDemoPeople, prepareDemoSite } from './demo.ts'
import { createLog } from './log.ts'
import { type OutputOptions, say } from './output.ts'
import { terminal } from './terminal.ts'

const STOP_PATIENCE_MS = 25_000 // a postback under way may take 15 s

type ServeOptions = OutputOptions & { only?: 'api' | 'worker' }

export const serveCommand = () =>
  new Command('serve')
    .addOption(new Option('--only <role>', 'run only this role (default: both)').choices(['api', 'worker']))
    .action(serve)

async function serve(options: ServeOptions): Promise<void> {
  const config = loadConfig(terminal().env)
  const log = createLog(config.logLevel)
  const secretKey = readSecretKey(config)
  // Closed last first: on a stop signal, or when something fails on the way up.
  const running = new AsyncDisposableStack()
  let drain: Running['drain'] = async () => {} // before there is a server
  const stop = stopper({ drain: (isOver) => drain(isOver), close: () => running.disposeAsync() }, config, log)
  try {
    // Read while the database starts; the other commands start without them.
    const parts = Promise.all([import('../app.ts'), import('../worker.ts')])
    const database = running.adopt(await openDatabase(config), (opened) => opened.close())
    const [{ buildApp }, { buildWorker }] = await parts
    if (stop.isAsked) return
    const metrics = await openMetrics(config, database)
    running.adopt(metrics, (opened) => opened?.close())
    await migrate(database)
    await useSecretKey(database.db, secretKey)
    const context = { config, database, secretKey, by: operator() }
    if (options.only !== 'worker') await refuseDemoLeftovers(context)
    const demo = config.demo ? await prepareDemo(context) : null
    const demoSite = demo === null ? null : await prepareDemoSite(context, demo)
    const people = demo === null ? [] : await prepareDemoPeople(context, demo)
    const token = options.only === 'worker' ? null : await inviteFirstOperator(database.db, secretKey, new Date())
    const setUpUrl = token === null ? null : invitationUrl(config.publicUrl, token)
    if (options.only !== 'api')
      running.adopt(await buildWorker({ config, secretKey, database, log, metrics }), (worker) => worker.close())
    if (options.only !== 'worker' && !stop.isAsked) {
      const app = running.adopt(await buildApp({ config, secretKey, database, log, demoSite, metrics }), (opened) =>
        opened.close(),
      )
      await listen(app, config)
      drain = (isOver) => drainApp(app, config, isOver)
    }
    warnAboutHttps(config, log)
    if (!stop.isAsked)
      say(
        options.json
          ? JSON.stringify({ address: config.publicUrl, demo, people, set_up_url: setUpUrl })
          : welcome(config, options, {
              demo,
              hasDemoSite: demoSite !== null,
              people,
              setUpUrl,
              embeddedIn: database.embeddedIn,
            }),
      )
  } catch (error) {
    if (stop.isAsked) return // what failed failed because everything is being closed
    await running.disposeAsync()
    throw error
  } finally {
    stop.started()
  }
}

/** What it needs is loaded only where it is wanted. */
async function openMetrics(config: Config, { pool }: Database): Promise<ProcessMetrics | null> {
  if (config.metricsPort === null && config.metricsToken === null) return null
  const metrics = await import('../metrics/open-metrics.ts')
  return metrics.openMetrics(config, pool)
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

async function listen({ server }: App, { host, port }: Config): Promise<void> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE')
      throw new OperatorError(
        `Port ${port} on ${host} is already in use. Stop the other program, or choose another port with PORT=8081.`,
      )
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${messageOf(error)}. Check HOST and PORT.`)
  }
}

async function drainApp(app: App, { drainSeconds }: Config, isOver: AbortSignal): Promise<void> {
  app.drain()
  await wait(drainSeconds * 1_000, undefined, { signal: isOver }).catch(() => {}) // cut short
}

type Running = { drain: (isOver: AbortSignal) => Promise<void>; close: () => Promise<void> }

/**
 * Stops at the first signal, once the start is over; at the next Ctrl-C, or when it takes too long, without waiting. Only
 * SIGTERM drains, and a second one ends that: a person at the terminal waits for the end.
 */
function stopper(
  { drain, close }: Running,
  { drainSeconds }: Config,
  log: FastifyBaseLogger,
): { readonly isAsked: boolean; started(): void } {
  const started = Promise.withResolvers<void>()
  let isAsked = false
  const stop = async (drains: boolean) => {
    if (isAsked) return
    isAsked = true
    process.on('SIGINT', () => process.exit(1))
    const isOver = new AbortController()
    process.on('SIGTERM', () => isOver.abort())
    setTimeout(() => process.exit(1), drainSeconds * 1_000 + STOP_PATIENCE_MS).unref()
    await started.promise
    try {
      if (drains) await drain(isOver.signal)
      await close()
      process.exit(0)
    } catch (error) {
      log.error({ err: error }, 'could not shut down cleanly')
      process.exit(1)
    }
  }
  process.once('SIGINT', () => void stop(false))
  process.once('SIGTERM', () => void stop(true))
  return {
    get isAsked() {
      return isAsked
    },
    started: started.resolve,
  }
}

type Started = {
  demo: DemoApp | null
  hasDemoSite: boolean
  people: DemoPerson[]
  setUpUrl: string | null
  embeddedIn: string | null
}

function welcome(
  config: Config,
  { only }: ServeOptions,
  { demo, hasDemoSite, people, setUpUrl, embeddedIn }: Started,
): string {
  if (only === 'worker') return 'Offerdeck worker is running.'
  const url = config.publicUrl
  const lines = ['', `Offerdeck is running at  ${url}`, `API reference            ${url}/docs`]
  if (hasDemoSite) lines.push(`Try it as a user         ${url}/demo`)
  if (embeddedIn !== null) lines.push(`Database files           ${embeddedIn}`)
  if (setUpUrl !== null) lines.push('', 'Create your operator account with this link. It works once:', `  ${setUpUrl}`)
  if (people.length > 0)
    lines.push(
      '',
      'Dashboard accounts:',
      ...people.map(({ about, email, password }) => `  ${about.padEnd(10)}  ${email}  ${password}`),
    )
  if (demo !== null) {
    lines.push(
      '',
      'Demo app:',
      `  API key     ${demo.live.api_key}`,
      `  API secret  ${demo.live.api_secret}`,
      `  Signing     ${demo.live.signing_secret}`,
      'Test credentials, which move no money:',
      `  API key     ${demo.test.api_key}`,
      `  API secret  ${demo.test.api_secret}`,
      `  Signing     ${demo.test.signing_secret}`,
      '',
      'Your first request:',
      `  curl '${url}/api/v1/offers?userId=user-1&country=US&limit=2' -H 'X-API-Key: ${demo.live.api_key}' -H 'X-API-Secret: ${demo.live.api_secret}'`,
      '',
      "The demo app's postbacks go to port 8088 on this machine. To see them, run in another terminal:",
      '  npx offerdeck listen',
    )
  }
  return [...lines, '', 'Press Ctrl-C to stop.', ''].join('\n')
}
