// Figure 6: links followed, each click on disk before the user is sent on, over a bare server that only sends them on.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { keepSecretFile } from '../src/db/secret-file.ts'
import { createLinkSigner } from '../src/features/offers/links.ts'
import { type Catalogue, FOLDER, prepareCatalogue, type Say, withCopy } from './data.ts'
import { holdPostgres, type Postgres } from './postgres.ts'
import { type Comparison, type Lap, type Plan, takeTurns } from './rounds.ts'
import { fetchFrom, type Reply, type Running, startBare, startOfferdeck, toSample } from './servers.ts'
import { CONNECTIONS, type Load, runLap } from './wrk.ts'

const OFFERS = 100_000
const LINKS = 20_000
const TRIED = 200
const LINKS_FILE = join(FOLDER, 'links.txt')

export type ClicksMeasured = {
  comparison: Comparison
  /** Of Offerdeck, in all rounds and while it warmed up. */
  answers: number
  /** In the database at the end. */
  rows: number
  /** So many more rows than answers there may be: the requests under way when wrk stopped counting, each time. */
  unheard: number
  log: string[]
}

export type Link = { path: string; agent: string }

export async function measureClicks(plan: Plan, say: Say): Promise<ClicksMeasured> {
  return withCopy(await prepareCatalogue(OFFERS, say), (copy) => measureOn(copy, plan, say))
}

async function measureOn(catalogue: Catalogue, plan: Plan, say: Say): Promise<ClicksMeasured> {
  const postgres = await holdPostgres(catalogue.dataDir)
  const { pool, close } = postgres.open()
  try {
    const links = await createLinks(pool, catalogue)
    writeFileSync(LINKS_FILE, links.map(({ path, agent }) => `${path}\t${agent}\n`).join(''))
    const { comparison, answers, log } = await compareClicks(catalogue, postgres, links, plan, say)
    const { rows } = await pool.query<{ count: number }>('SELECT count(*) FROM clicks')
    const unheard = CONNECTIONS * (plan.rounds + 1)
    return { comparison, answers, rows: rows[0]?.count ?? 0, unheard, log }
  } finally {
    await close()
    await postgres.release()
  }
}

async function compareClicks(catalogue: Catalogue, postgres: Postgres, links: Link[], plan: Plan, say: Say) {
  const offerdeck = await startOfferdeck(catalogue.dataDir)
  let bare: Running | null = null
  let answers = 0
  const load: Load = { ...catalogue, kind: 'click', lines: LINKS_FILE }
  try {
    const replies = await followSome(offerdeck, links)
    answers += replies.length
    bare = await startBare(toSample(replies[0] as Reply), join(FOLDER, 'sample.json'))
    const second: Running = bare
    say(`${offerdeck.name} and ${second.name} in turn, links followed …`)
    const runFirst = async (seconds: number): Promise<Lap> => {
      const lap = await runLap(offerdeck, load, seconds, postgres.cpuSeconds)
      answers += lap.answers
      return lap
    }
    const comparison = await takeTurns(runFirst, (seconds) => runLap(second, load, seconds), plan)
    return { comparison, answers, log: offerdeck.log }
  } finally {
    await bare?.stop()
    await offerdeck.stop()
  }
}

/** Shows that links lead on: a page that says why not would be cheaper. */
async function followSome(server: Running, links: Link[]): Promise<Reply[]> {
  const replies: Reply[] = []
  for (const { path, agent } of links.slice(0, TRIED)) {
    const reply = await fetchFrom(server, path, { 'User-Agent': agent })
    if (reply.status !== 302) throw new Error(`${server.name} answered ${reply.status} to ${path}`)
    replies.push(reply)
  }
  return replies
}

/** A user, an offer and a browser each, of offers that are open on a desktop in any country. */
export async function createLinks(pool: pg.Pool, { dataDir }: Catalogue): Promise<Link[]> {
  const signer = createLinkSigner(keepSecretFile(join(dataDir, 'secret-key')))
  const apps = await pool.query<{ app_id: number }>('SELECT app_id FROM apps')
  const appId = apps.rows[0]?.app_id ?? 0
  const { rows } = await pool.query<{ offer_id: number }>(
    `SELECT offer_id FROM offers WHERE status = 'active' AND 'web' = ANY (platforms) AND NOT is_capped
       AND starts_at IS NULL AND ends_at IS NULL ORDER BY random() LIMIT $1`,
    [LINKS],
  )
  const issuedAt = Math.floor(Date.now() / 1000)
  return rows.map(({ offer_id }, i) => {
    const subIds = [`source-${i % 50}`, `campaign-${i % 1000}`, null, null]
    const context = { appId, isTest: false, issuedAt, requestId: `req_bench${i}`, userId: `user-${i}`, subIds }
    return { path: `/c/${offer_id}/${signer.sign(context)}`, agent: AGENTS[i % AGENTS.length] ?? '' }
  })
}

const SYSTEMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'X11; CrOS x86_64 14541.0.0',
]
const VERSIONS = [128, 130, 132, 134, 136, 138]
const AGENTS = SYSTEMS.flatMap((system) =>
  VERSIONS.flatMap((version) => [
    `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`,
  ]),
)
