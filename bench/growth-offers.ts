// What a large catalogue costs at the start: how long until the first request can come, and how much memory it takes.
import type pg from 'pg'
import { SORTS } from '../src/features/offers/choices.ts'
import { type Catalogue, keepFolder, runCli, type Say, withPool } from './data.ts'
import { holdPostgres } from './postgres.ts'
import { peakMb } from './programs.ts'
import { fetchFrom, startServe } from './servers.ts'

const BATCH = 50_000
const RATE_LIMIT = 1_000_000_000 // never bites

export type StartCost = {
  offers: number
  /** From the start of the process until it listens, and until its first list is answered. */
  startMs: number
  firstListMs: number
  /** Of Node until then, and of PostgreSQL: on a busy machine these say more than the clock. */
  nodeSeconds: number
  postgresSeconds: number
  /** Resident memory: the most until then, and after a list for each order. */
  peakMb: number
  residentMb: number
}

/** A network with so many offers, created by SQL and kept for the next run, and an app to call it with. */
export function prepareManyOffers(offers: number, say: Say): Promise<Catalogue> {
  return keepFolder(`many-offers-${offers}`, `${offers.toLocaleString('en')} offers by SQL`, say, async (dataDir) => {
    await runCli(dataDir, 'publisher', 'create', '--name', 'P')
    await runCli(dataDir, 'advertiser', 'create', '--name', 'A')
    const made = await runCli(dataDir, 'app', 'create', '--publisher', 'P', '--name', 'A', '--json')
    const { live } = JSON.parse(made) as { live: { api_key: string; api_secret: string } }
    const { api_key: apiKey, api_secret: apiSecret } = live
    await withPool(dataDir, async (pool) => {
      await pool.query('UPDATE apps SET rate_limit = $1', [RATE_LIMIT])
      for (let start = 1; start <= offers; start += BATCH)
        await addOffers(pool, start, Math.min(offers, start + BATCH - 1))
      await pool.query('VACUUM ANALYZE offers, goals')
    })
    return { offers, dataDir, apiKey, apiSecret }
  })
}

/** Starts the API on it, alone, asks for a list in each order, and stops it again. */
export async function measureStart({ offers, dataDir, apiKey, apiSecret }: Catalogue): Promise<StartCost> {
  const postgres = await holdPostgres(dataDir)
  const before = postgres.cpuSeconds()
  const startedAt = performance.now()
  const server = await startServe(dataDir, ['--only', 'api'], {})
  try {
    const ask = (sort: string) =>
      fetchFrom(server, `/api/v1/offers?userId=u&country=US&sort=${sort}`, {
        'x-api-key': apiKey,
        'x-api-secret': apiSecret,
      })
    const { status } = await ask('popular')
    if (status !== 200) throw new Error(`The first list was answered with ${status}.`)
    const firstListMs = performance.now() - startedAt
    const [nodeSeconds, postgresSeconds] = [server.cpuSeconds(), postgres.cpuSeconds() - before]
    for (const sort of SORTS) await ask(sort)
    const { startMs } = server
    return {
      offers,
      startMs,
      firstListMs,
      nodeSeconds,
      postgresSeconds,
      peakMb: peakMb(server.pid),
      residentMb: server.residentMb(),
    }
  } finally {
    await server.stop()
    await postgres.release()
  }
}

/** With texts as long as those of `offerdeck seed`, and one goal or two. */
async function addOffers(pool: pg.Pool, from: number, to: number): Promise<void> {
  await pool.query(
    `INSERT INTO offers (advertiser_id, external_id, name, description, category, payout_micros, revenue_micros, countries,
       platforms, destination_url, image_url, difficulty, time_estimate, requirements, payment_required, conversion_type,
       status, popularity, created_at)
     SELECT (SELECT min(advertiser_id) FROM advertisers), 'many-' || n, 'Puzzle Quest ' || n || ': the lost island',
       'Install the game, finish the tutorial and reach level ' || n % 50 || ' within ' || n % 30 || ' days. New players only; one reward each.',
       (ARRAY['survey', 'app', 'game', 'video'])[n % 4 + 1], (n % 997 + 1) * 10000, (n % 997 + 1) * 12000,
       CASE n % 3 WHEN 0 THEN '{}' WHEN 1 THEN '{DE,US}' ELSE '{AU,CA,GB,NZ,US}' END::text[],
       CASE n % 3 WHEN 0 THEN '{web}' WHEN 1 THEN '{android,ios}' ELSE '{web,android,ios}' END::text[],
       'https://ads.example.com/go/' || n || '?click={click_id}&sub={aff_sub}', '/pictures/' || n % 40 || '.svg', 'medium', '15 min',
       'New users who have never had the game installed.', n % 10 = 0, 'cpe', 'active', n % 1013,
       date_trunc('second', now()) - n * interval '2 seconds'
     FROM generate_series($1::integer, $2::integer) n`,
    [from, to],
  )
  await pool.query(
    `INSERT INTO goals (offer_id, place, name, description, payout_micros, revenue_micros, is_optional)
     SELECT offer_id, place, 'Reach step ' || place, 'Play until the step is reached.', payout_micros / goals, revenue_micros / goals, false
     FROM (SELECT *, 1 + offer_id % 2 AS goals FROM offers WHERE external_id LIKE 'many-%'
       AND substr(external_id, 6)::integer BETWEEN $1 AND $2) o, generate_series(1, goals) place`,
    [from, to],
  )
}
