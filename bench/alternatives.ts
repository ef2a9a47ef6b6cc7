// npm run bench -- --only alternatives: lists of 20 out of 100,000 offers from what people would use instead, each beside
// Offerdeck, on the same PostgreSQL. See docs/benchmarks.md.
import { availableParallelism, cpus } from 'node:os'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Alternative, LISTED, TOKEN } from './alternative.ts'
import { type Catalogue, FILTERS, FOLDER, prepareCatalogue, type Say } from './data.ts'
import { directus } from './directus.ts'
import { holdPostgres, type Postgres } from './postgres.ts'
import { type Comparison, type Lap, type Plan, takeTurns } from './rounds.ts'
import { askAll, type Content, contentOf, findDifference, startSqlLike } from './same-offers.ts'
import { fetchFrom, type Reply, type Running, startOfferdeck } from './servers.ts'
import { strapi } from './strapi.ts'
import { listLoad, type Load, runLap } from './wrk.ts'

const OFFERS = 100_000
const PATHS_FILE = join(FOLDER, 'paths.txt')

export type AlternativeMeasured = { name: string; residentMb: number; lists: Comparison; log: string[] }

export async function measureAlternatives(plan: Plan, say: Say): Promise<AlternativeMeasured[]> {
  const catalogue = await prepareCatalogue(OFFERS, say)
  await using ended = new AsyncDisposableStack()
  const postgres = await holdPostgres(catalogue.dataDir)
  ended.defer(() => postgres.release())
  say('Starting Offerdeck …')
  const offerdeck = await startOfferdeck(catalogue.dataDir)
  ended.defer(() => offerdeck.stop())
  const ours = await askAll(offerdeck, catalogue, 'list') // now every list exists

  const beside = async (other: Running, load: Load): Promise<AlternativeMeasured> => {
    say(`Offerdeck and ${other.name} in turn …`)
    const lap = (server: Running, ask: Load) => (seconds: number) => runLap(server, ask, seconds, postgres.cpuSeconds)
    const lists = await takeTurns(lap(offerdeck, listLoad(catalogue)), lap(other, load), plan)
    return { name: other.name, residentMb: other.residentMb(), lists, log: [...other.log] }
  }
  const measured: AlternativeMeasured[] = []
  const sql = await startSqlLike(ours, catalogue)
  try {
    measured.push(await beside(sql, listLoad(catalogue)))
  } finally {
    await sql.stop()
  }
  for (const alternative of [directus(false), directus(true), strapi()]) {
    const running = await alternative.start(postgres, say)
    try {
      await compareOffers(alternative, running, ours)
      measured.push(await beside(running, loadOf(alternative, catalogue)))
    } finally {
      await running.stop()
      await dropSchema(postgres, alternative.schema)
    }
  }
  return measured
}

const pathsOf = (alternative: Alternative) => FILTERS.map((filter) => alternative.pathOf(new URLSearchParams(filter)))

function loadOf(alternative: Alternative, catalogue: Catalogue): Load {
  writeFileSync(PATHS_FILE, `${pathsOf(alternative).join('\n')}\n`)
  return { ...listLoad(catalogue), kind: 'token', lines: PATHS_FILE, apiKey: TOKEN }
}

/** Whether it gives the same offers, in the same order, for every filter; and none without the token. */
async function compareOffers(alternative: Alternative, running: Running, ours: Reply[]): Promise<void> {
  const paths = pathsOf(alternative)
  const { status } = await fetchFrom(running, paths[0] ?? '')
  if (status !== 401 && status !== 403) throw new Error(`${running.name} answered ${status} without a token.`)
  for (const [i, path] of paths.entries()) {
    const reply = await fetchFrom(running, path, { authorization: `Bearer ${TOKEN}` })
    if (reply.status !== 200) throw new Error(`${running.name} answered ${reply.status}: ${reply.body}`)
    const theirs = alternative.contentOf(Buffer.from(reply.body, 'latin1').toString('utf8'))
    const difference = findDifference(comparable(contentOf(ours[i] as Reply)), comparable(theirs))
    if (difference !== null)
      throw new Error(`${running.name} and Offerdeck disagree about ${FILTERS[i]}: ${difference}`)
  }
}

/** Only what does not depend on the user or the app. */
function comparable({ total, offers }: Content): Content {
  const part = (offer: Content['offers'][number]) => ({
    ...Object.fromEntries(LISTED.map((name) => [name, offer[name]])),
    created_at: Date.parse(String(offer['created_at'])),
    updated_at: Date.parse(String(offer['updated_at'])),
    goals: (offer['goals'] as object[]).map((goal) => ({ ...goal, payout_local: undefined })),
  })
  return { total, offers: offers.map(part) }
}

async function dropSchema(postgres: Postgres, schema: string): Promise<void> {
  const { pool, close } = postgres.open()
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await close()
}

export function describeAlternatives(measured: AlternativeMeasured[]): string {
  const line = ({ name, residentMb, lists }: AlternativeMeasured) => {
    const { throughput, cpu, first, second } = lists
    const bytes = (second.bytesPerRequest / 1024).toFixed(1)
    return `| ${name} | ${throughput.toFixed(1)} | ${cpu.toFixed(1)} | ${rateOf(first)} | ${rateOf(second)} | ${second.p50Ms.toFixed(0)} / ${second.p99Ms.toFixed(0)} ms | ${bytes} KB | ${residentMb} MB | ${second.refused + second.broken} |`
  }
  return [
    `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, Node ${process.version}.`,
    '',
    '| Offerdeck over | lists a second | CPU for each list, PostgreSQL included | Offerdeck a second | the other a second | its p50 / p99 | its answer | its memory | failed |',
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: |',
    ...measured.map(line),
  ].join('\n')
}

const rateOf = ({ requestsPerSecond }: Lap) => Math.round(requestsPerSecond).toLocaleString('en')
