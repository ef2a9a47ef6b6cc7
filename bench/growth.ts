// What age and size cost: the same requests to an empty network and to one with a year behind it, in turn, one at a time.
// Each has a server and a PostgreSQL of its own; what counts is the ratio of the medians.
import { setTimeout as sleep } from 'node:timers/promises'
import { claimReady } from '../src/features/postbacks/queue.ts'
import { returnClaim } from '../src/features/postbacks/claims.ts'
import { uuid7 } from '../src/lib/uuid7.ts'
import { runCli, type Say } from './data.ts'
import { type Network, prepareNetwork } from './growth-data.ts'
import { runAll, type Sizes } from './growth-rows.ts'
import { holdPostgres, type Opened } from './postgres.ts'
import { median } from './rounds.ts'
import { fetchFrom, type Running, startServe } from './servers.ts'

const DAY_MS = 86_400_000
const EMPTY_OFFERS = 1_000
const WARM_UP = 20
const CLAIMED = 20
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36'
const PASSWORD = 'correct horse battery'
const COMPARED = ['click', 'confirmation', 'report', 'claim', 'stats of a day', 'stats of a year', 'overview', 'list'] as const // prettier-ignore

export type GrowthPlan = { offers: number; sizes: Sizes; rounds: number }
export type Cost = { what: string; emptyMs: number; grownMs: number; ratio: number }
const MOST_RATIO = 1.3
const MOST_START_MS = 10_000
const MOST_START_MB = 1_000

/** A line for each cost, with what was wanted. */
export function describeGrowth({ costs, start }: GrowthMeasured): string {
  const lines = costs.map(({ what, emptyMs, grownMs, ratio }) =>
    [what.padEnd(16), `${emptyMs.toFixed(2)} ms`.padStart(11), `${grownMs.toFixed(2)} ms`.padStart(11), ratio.toFixed(2).padStart(7), ratio <= MOST_RATIO ? '  met' : '  MISSED'].join(' '),
  ) // prettier-ignore
  const isMet = start.grownMs <= MOST_START_MS && start.grownMb <= MOST_START_MB
  return [
    `${''.padEnd(16)} ${'empty'.padStart(11)} ${'grown'.padStart(11)} ${'ratio'.padStart(7)}  wanted: at most ${MOST_RATIO}`,
    ...lines,
    `${'start-up'.padEnd(16)} ${`${(start.emptyMs / 1_000).toFixed(1)} s`.padStart(11)} ${`${(start.grownMs / 1_000).toFixed(1)} s`.padStart(11)} ` +
      `${`${start.grownMb.toFixed(0)} MB`.padStart(7)}  wanted: under ${MOST_START_MS / 1_000} s and ${MOST_START_MB} MB: ${isMet ? 'met' : 'MISSED'}`,
  ].join('\n')
}

export type GrowthMeasured = {
  costs: Cost[]
  /** Of the API alone. */
  start: { emptyMs: number; grownMs: number; grownMb: number }
  log: string[]
}

export async function measureGrowth(plan: GrowthPlan, say: Say): Promise<GrowthMeasured> {
  const networks = [await prepareNetwork(EMPTY_OFFERS, null, say), await prepareNetwork(plan.offers, plan.sizes, say)]
  await using ended = new AsyncDisposableStack()
  const sides: Side[] = []
  for (const network of networks) {
    const server = await startServe(network.dataDir, ['--only', 'api'], {})
    ended.defer(() => server.stop())
    const residentMb = server.residentMb()
    const postgres = await holdPostgres(network.dataDir)
    ended.defer(() => postgres.release())
    const opened = postgres.open()
    ended.defer(() => opened.close())
    await opened.pool.query('INSERT INTO postback_lanes (app_id, publisher_id) SELECT app_id, publisher_id FROM apps WHERE app_id = $1 ON CONFLICT DO NOTHING', [network.appId]) // prettier-ignore
    sides.push({ network, server, opened, residentMb, cookie: await signIn(network, server), clickIds: [], round: 0 })
  }
  for (const { opened } of sides) {
    await readIntoMemory(opened)
    await waitForFilter(opened)
  }
  const [empty, grown] = sides as [Side, Side]
  const costs: Cost[] = []
  for (const what of COMPARED) {
    say(`${what}: empty and grown in turn …`)
    costs.push(await compare(what, empty, grown, plan.rounds))
  }
  return {
    costs,
    start: { emptyMs: empty.server.startMs, grownMs: grown.server.startMs, grownMb: grown.residentMb },
    log: sides.flatMap(({ server }) => server.log),
  }
}

/** A database that has served for a while has the indexes of clicks in memory, in which every report looks for its user. */
const readIntoMemory = ({ pool }: Opened) =>
  runAll(pool, 'SET LOCAL enable_seqscan = off', 'SELECT count(user_id) FROM clicks WHERE app_id > 0')

/** A process reads who has converted in the first seconds after its start, and is compared when it has. */
async function waitForFilter({ pool }: Opened): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(`SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
      AND query LIKE '%SELECT DISTINCT app_id, user_id FROM conversions%' AND state_change > now() - interval '2 seconds'`)
    if (rowCount === 0) return
    await sleep(500)
  }
}

type Side = {
  network: Network
  server: Running
  opened: Opened
  residentMb: number
  cookie: string
  clickIds: string[]
  round: number
}

async function compare(what: (typeof COMPARED)[number], empty: Side, grown: Side, rounds: number): Promise<Cost> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds + WARM_UP; round++)
    for (const [place, side] of [empty, grown].entries()) {
      side.round++
      const tookMs = await WORK[what](side)
      if (round >= WARM_UP) times[place as 0 | 1].push(tookMs)
    }
  const [emptyMs, grownMs] = [median(times[0]), median(times[1])]
  return { what, emptyMs, grownMs, ratio: grownMs / emptyMs }
}

/** Each returns how long the part that is meant took. */
const WORK: Record<(typeof COMPARED)[number], (side: Side) => Promise<number>> = {
  list: (side) => get(side, `/v1/offers?userId=${newUser(side)}&country=US&limit=20`),
  'stats of a day': (side) => get(side, `/v1/stats?from=${daysAgo(1)}`),
  'stats of a year': (side) => get(side, `/v1/stats?from=${daysAgo(364)}`),
  overview: (side) => get(side, '/manage/v1/network/overview', { cookie: side.cookie }),
  confirmation: (side) =>
    get(side, `/postback?click_id=${side.clickIds.pop()}&token=${side.network.advertiserToken}`, {}),
  async click(side) {
    const reply = await fetchFrom(side.server, `/v1/offers/${offerOf(side)}?userId=${newUser(side)}`, keysOf(side))
    const { link } = (JSON.parse(reply.body) as { data: { offer: { link: string } } }).data.offer
    const startedMs = performance.now()
    const followed = await fetchFrom(side.server, new URL(link).pathname, { 'user-agent': BROWSER })
    const tookMs = performance.now() - startedMs
    if (followed.status !== 302) throw new Error(`A click: ${followed.status} ${followed.body.slice(0, 200)}`)
    const [clickId] = /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/.exec(followed.headers.join(' ')) ?? []
    if (clickId === undefined) throw new Error('A click without an id.')
    side.clickIds.push(clickId)
    return tookMs
  },
  async report(side) {
    const startedMs = performance.now()
    const reply = await fetch(`http://127.0.0.1:${side.server.port}/v1/conversions`, {
      method: 'POST',
      headers: { ...keysOf(side), 'content-type': 'application/json' },
      body: JSON.stringify({ userId: newUser(side), offerId: offerOf(side) }),
    })
    const text = await reply.text()
    if (reply.status !== 201) throw new Error(`A report: ${reply.status} ${text.slice(0, 200)}`)
    return performance.now() - startedMs
  },
  async claim({ network, opened }) {
    await opened.pool.query(
      `INSERT INTO postback_queue (app_id, postback_id, conversion_id, sequence, status, is_test)
       SELECT $1, gen_random_uuid(), gen_random_uuid(), 1, 'approved', false FROM generate_series(1, $2::integer)`,
      [network.appId, CLAIMED],
    )
    const claimId = uuid7(Date.now())
    const startedMs = performance.now()
    const { claims } = await claimReady(opened.db, { limit: CLAIMED, capacity: 4 * CLAIMED, claimId })
    const tookMs = performance.now() - startedMs
    if (claims.length === 0) throw new Error('Nothing was claimed.')
    await returnClaim(opened.db, claimId)
    await opened.pool.query('DELETE FROM postback_queue WHERE app_id = $1', [network.appId])
    return tookMs
  },
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const newUser = ({ round }: Side) => `bench-${Date.now()}-${round}`
const offerOf = ({ network, round }: Side) => network.offerIds[round % network.offerIds.length]
const keysOf = ({ network }: Side) => ({ 'x-api-key': network.apiKey, 'x-api-secret': network.apiSecret })

async function get(side: Side, path: string, headers: Record<string, string> = keysOf(side)): Promise<number> {
  const startedMs = performance.now()
  const { status, body } = await fetchFrom(side.server, path, headers)
  if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 200)}`)
  return performance.now() - startedMs
}

/** As a new operator each time: an invitation is accepted once. */
async function signIn({ dataDir }: Network, server: Running): Promise<string> {
  const email = `bench-${Date.now()}@example.com`
  const invited = await runCli(dataDir, 'user', 'create', '--email', email, '--role', 'operator', '--json')
  const [, token] = /#([^"]+)"/.exec(invited) ?? []
  const origin = `http://127.0.0.1:${server.port}`
  const reply = await fetch(`${origin}/manage/v1/invitation/accept`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: 'Bench', password: PASSWORD }),
  })
  if (!reply.ok) throw new Error(`The invitation: ${reply.status} ${await reply.text()}`)
  return reply.headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ') // prettier-ignore
}
