// A small data centre under faults: machines lose power and cables, processes are killed and frozen, PostgreSQL and Redis
// fail over, while users click, advertisers confirm and publishers report. Afterwards, by counting on both sides: nothing
// acknowledged is lost, nothing is there twice, every postback was received in order, and no node needed a hand.
//
// SEED repeats a run's faults, DURATION says for how many seconds: SEED=7 DURATION=3600 npm run test:faults
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type Database, openPool } from '../../../src/db/open.ts'
import { Installation, isSpoolEmpty, until } from '../../installation.ts'
import { IS_LONG, testLong } from '../../tier.ts'
import { SECRET_KEY } from '../../world.ts'
import { comparePostbacks } from '../compare-postbacks.ts'
import { settle } from '../hurry-postbacks.ts'
import { type MadeApp, Traffic } from '../traffic.ts'
import { Centre } from './centre.ts'
import { Faults } from './faults.ts'
import { checkExact, Greedy } from './limits.ts'
import type { Machine } from './network.ts'
import { apiUrl } from './nodes.ts'
import { Receivers } from './receivers.ts'
import { Streams } from './streams.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6))
const SECONDS = Number(process.env['DURATION'] ?? 40)
const TIMEOUT_S = 1
const APPS = 10
const STREAMS = 60
const SETTLED_MS = 180_000

const program = new Installation()
let centre: Centre | undefined
let database: Database
after(async () => {
  if (!IS_LONG) return
  await database?.close()
  await centre?.close()
  await program.remove()
})

testLong(`nothing is lost or doubled in a data centre under ${SECONDS} s of faults (seed: ${SEED})`, async (t) => {
  centre = new Centre()
  const { network, apis } = centre
  await centre.startDatabase()
  program.env = { DATABASE_URL: centre.databaseUrl, SECRET_KEY, POSTBACK_ALLOW: network.cidr }
  await program.json('migrate')
  const traffic = await Traffic.prepare(program, APPS)
  const receivers = new Receivers(network, traffic.apps, TIMEOUT_S * 1_000)
  await receivers.open()
  after(() => receivers.close())
  await traffic.notify(program, receivers.all, TIMEOUT_S)
  await centre.startNodes()
  database = { ...openPool({ connectionString: centre.databaseUrl }, 3), embeddedIn: null, revive: async () => {} }

  const urls = apis.map(apiUrl)
  await checkExact(program, urls)
  await traffic.fillClicks(...urls)
  const clients = traffic.start(...urls)
  const greedy = await Greedy.start(program, urls)
  const [app] = traffic.apps as [MadeApp]
  const streams = new Streams(app, urls, STREAMS)
  after(() => streams.close())
  await traffic.someAnswers()
  const faults = new Faults(network, SEED, [
    { name: 'no names', begin: () => receivers.silence(true), end: () => receivers.silence(false) },
    { name: 'expired certificates', begin: () => receivers.expire(true), end: () => receivers.expire(false) },
  ])
  const endMs = Date.now() + SECONDS * 1_000
  await faults.happenUntil(() => Date.now() >= endMs, (name) => t.diagnostic(name)) // prettier-ignore
  await centre.isWhole()
  await traffic.someAnswers()
  await clients.stop()
  await greedy.stop()
  await checkExact(program, urls)
  for (const [i, userId] of streams.users.entries()) await traffic.report(apiUrl(apis[i % apis.length] as Machine), app, userId) // prettier-ignore
  await until(() => streams.users.every((userId) => streams.heard.has(userId)), SETTLED_MS)

  await until(() => apis.every(({ folder }) => isSpoolEmpty(`${folder}/data`)), SETTLED_MS)
  await settle(database.db, SETTLED_MS)
  t.diagnostic(`${faults.total} faults (${[...faults.counts].map(([kind, count]) => `${count} ${kind}`).join(', ')}); ${traffic.clicked.size} clicks, ${traffic.converted.size} conversions, ${receivers.arrivals.length} postbacks, ${streams.opened} streams; ${greedy.accepted} requests of a greedy caller accepted, ${greedy.refused} refused`) // prettier-ignore
  const starts = apis.flatMap(({ services }) => services).reduce((sum, service) => sum + service.starts, 0)
  const countOf = (kind: string) => faults.counts.get(kind) ?? 0
  greedy.compare({ starts, flushes: countOf('flush'), clocks: countOf('clock') })
  await traffic.compare(database)
  await comparePostbacks(database.db, receivers.arrivals, traffic)
  assert.deepEqual(receivers.strange, [])
})
