// What an alternative to Offerdeck is here: a program from npm, installed into a folder of its own, that serves the same
// offers out of a schema of its own in the same database.
//
// Neither Directus nor Strapi can ask in one index scan whether a list of countries holds one. So each gets the table that
// suits it best: a row for each country and platform of an offer with everything that is listed, and an index for each
// order that also has the filters. Offers for everywhere have a row for every country that the load asks for.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { COUNTRIES, FOLDER, type Say } from './data.ts'
import { type Postgres, runLong } from './postgres.ts'
import type { Content } from './same-offers.ts'
import type { Running } from './servers.ts'

export type Alternative = {
  name: string
  schema: string
  /** Installs what is missing, and starts it with its table filled. */
  start(postgres: Postgres, say: Say): Promise<Running>
  /** The question, for a filter as Offerdeck takes it. */
  pathOf(filter: URLSearchParams): string
  /** The same as Offerdeck says it. */
  contentOf(body: string): Content
}

/** Of the user that reads the offers. */
export const TOKEN = 'publisher-0123456789abcdef0123456789abcdef'

/** Those of Offerdeck's list that do not depend on the user or the app. */
export const LISTED = [
  'offer_id', 'name', 'description', 'payout', 'category', 'image_url', 'countries', 'platforms', 'difficulty',
  'time_estimate', 'requirements', 'payment_required', 'conversion_type', 'goals', 'created_at', 'updated_at',
] as const // prettier-ignore

/** As columns and their directions. */
export const ORDERS: Record<string, [column: string, direction: 'asc' | 'desc'][]> = {
  payout_desc: [['payout', 'desc'], ['offer_id', 'asc']],
  payout_asc: [['payout', 'asc'], ['offer_id', 'asc']],
  newest: [['created_at', 'desc'], ['offer_id', 'asc']],
  popular: [['popularity', 'desc'], ['created_at', 'desc'], ['offer_id', 'asc']],
} // prettier-ignore

/** The rows of the table. */
export const SELECT_ROWS = `
  SELECT row_number() OVER (ORDER BY offer_id, country, platform)::int AS id, offer_id::int, country, platform, category,
    name, description, payout_micros / 1e6::float8 AS payout, image_url, to_jsonb(countries) AS countries,
    to_jsonb(platforms) AS platforms, difficulty, time_estimate, requirements, payment_required, conversion_type,
    popularity, created_at, updated_at,
    (SELECT jsonb_agg(jsonb_build_object('goal_id', goal_id, 'name', goals.name, 'description', goals.description,
        'payout', goals.payout_micros / 1e6::float8, 'is_optional', is_optional) ORDER BY place)
      FROM public.goals WHERE goals.offer_id = offers.offer_id AND NOT is_retired) AS goals
  FROM public.offers, unnest(platforms) AS platform,
    unnest(CASE countries WHEN '{}' THEN '{${COUNTRIES.join(',')}}' ELSE countries END) AS country
  WHERE status = 'active'`

export async function indexOffers(pool: pg.Pool, schema: string): Promise<void> {
  for (const [sort, order] of Object.entries(ORDERS)) {
    const columns = order.map((parts) => parts.join(' ')).join(', ')
    await runLong(
      pool,
      `CREATE INDEX by_${sort} ON ${schema}.offers (category, platform, country, ${columns}) INCLUDE (id)`,
    )
  }
  await runLong(pool, `VACUUM ANALYZE ${schema}.offers`)
}

/** Stops it where the rest of its set-up fails. */
export async function setUp(running: Running, work: () => Promise<void>): Promise<Running> {
  try {
    await work()
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

/** What package.json says is installed, unless it was by an earlier run. Nothing is compiled. Returns the folder. */
export async function installKept(name: string, packageJson: object, say: Say): Promise<string> {
  const folder = join(FOLDER, name)
  const marker = join(folder, 'installed.json')
  const wanted = JSON.stringify({ private: true, ...packageJson })
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return folder
  say(`Installing ${name} in ${folder} (kept for the next run) …`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), wanted)
  await promisify(execFile)('npm', ['install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
  })
  writeFileSync(marker, wanted)
  return folder
}
