// The data that is measured: catalogues of a given size, kept between runs, and the filters that requests ask for.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { openDatabase } from '../src/db/open.ts'
import { CATEGORIES, PLATFORMS, SORTS } from '../src/features/offers/choices.ts'
import { runLong } from './postgres.ts'

export const FOLDER = join(tmpdir(), 'offerdeck-bench')
const CHECKOUT = join(import.meta.dirname, '..')
const MAX_SEEDED = 100_000 // more are copied from these: the seed command takes minutes for a million
const RATE_LIMIT = 2_000_000_000 // so that it is counted, as always, and never bites

/** Those that the load asks for. */
export const COUNTRIES = ['US', 'GB', 'DE', 'FR', 'BR', 'IN', 'JP', 'AU', 'CA', 'MX']

/** Every filter the load asks for, as a query string. */
export const FILTERS = COUNTRIES.flatMap((country) =>
  PLATFORMS.flatMap((platform) =>
    CATEGORIES.flatMap((category) =>
      SORTS.map((sort) => `country=${country}&platform=${platform}&category=${category}&sort=${sort}`),
    ),
  ),
)

export type Catalogue = { offers: number; dataDir: string; apiKey: string; apiSecret: string }
export type Say = (text: string) => void

/** A data folder with so many offers. */
export async function prepareCatalogue(offers: number, say: Say): Promise<Catalogue> {
  const name = `${offers.toLocaleString('en')} offers`
  const catalogue = await keepFolder(`offers-${offers}`, name, say, (dataDir) => createCatalogue(dataDir, offers))
  await withPool(catalogue.dataDir, (pool) => pool.query('TRUNCATE user_contexts'))
  return catalogue
}

/** For what the database lets no one undo: a copy of the folder, which is deleted afterwards. */
export async function withCopy<T>(catalogue: Catalogue, work: (copy: Catalogue) => Promise<T>): Promise<T> {
  const dataDir = join(FOLDER, 'copy')
  rmSync(dataDir, { recursive: true, force: true })
  await promisify(execFile)('cp', ['-a', catalogue.dataDir, dataDir]) // keeps whose files they are, and the pipe a pipe
  try {
    return await work({ ...catalogue, dataDir })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function createCatalogue(dataDir: string, offers: number): Promise<Catalogue> {
  const seeded = Math.min(offers, MAX_SEEDED)
  await runCli(dataDir, 'seed', '--offers', String(seeded))
  await runCli(dataDir, 'publisher', 'create', '--name', 'P')
  const made = await runCli(dataDir, 'app', 'create', '--publisher', 'P', '--name', 'A', '--json')
  const { live } = JSON.parse(made) as { live: { api_key: string; api_secret: string } }
  const { api_key: apiKey, api_secret: apiSecret } = live
  await withPool(dataDir, async (pool) => {
    await pool.query('UPDATE apps SET rate_limit = $1', [RATE_LIMIT])
    for (let copy = 1; copy < offers / seeded; copy++) await copyOffers(pool, copy)
    await runLong(pool, 'VACUUM ANALYZE')
  })
  return { offers, dataDir, apiKey, apiSecret }
}

/**
 * The data folder of an earlier run if it is complete and of this schema, else a new one; with what its creation
 * returned.
 */
export async function keepFolder<Told extends object>(
  folder: string,
  name: string,
  say: Say,
  make: (dataDir: string) => Promise<Told>,
): Promise<Told> {
  const dataDir = join(FOLDER, folder)
  const marker = join(dataDir, 'bench.json')
  const schema = hashMigrations()
  if (existsSync(marker)) {
    const known = JSON.parse(readFileSync(marker, 'utf8')) as Told & { schema: string }
    if (known.schema === schema) return known
  }
  say(`Making ${name} in ${dataDir} (kept for the next run) …`)
  rmSync(dataDir, { recursive: true, force: true })
  // Open to others: PostgreSQL runs as another user when this runs as root.
  mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  const told = await make(dataDir)
  writeFileSync(marker, JSON.stringify({ ...told, schema }), { mode: 0o600 })
  return told
}

export async function runCli(dataDir: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(CHECKOUT, 'bin/offerdeck.js'), ...args], {
    env: plainEnv({ DATA_DIR: dataDir, DEMO: 'off' }),
  })
  return stdout
}

/** Nothing of Offerdeck's own settings leaks in from the shell that runs the benchmark. */
export function plainEnv(settings: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...settings }
}

export async function withPool<T>(dataDir: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const database = await openDatabase({ databaseUrl: null, dataDir, connections: 1 })
  try {
    return await work(database.pool)
  } finally {
    await database.close()
  }
}

/** Adds the seeded offers and their goals once more, under other names and with terms of their own. */
async function copyOffers(pool: pg.Pool, copy: number): Promise<void> {
  const offerColumns = (await columnsOf(pool, 'offers', ['offer_id', 'external_id', 'changed_xid', 'terms_id'])).join(
    ', ',
  )
  const goalColumns = await columnsOf(pool, 'goals', ['goal_id', 'offer_id'])
  const suffix = `'-copy-${copy}'`
  await pool.query(
    `INSERT INTO offers (external_id, ${offerColumns}) SELECT external_id || ${suffix}, ${offerColumns} FROM offers
     WHERE external_id NOT LIKE '%-copy-%' ORDER BY offer_id`,
  )
  await pool.query(
    `INSERT INTO goals (offer_id, ${goalColumns.join(', ')})
     SELECT new.offer_id, ${goalColumns.map((column) => `goals.${column}`).join(', ')} FROM offers old
     JOIN offers new ON new.advertiser_id = old.advertiser_id AND new.external_id = old.external_id || ${suffix}
     JOIN goals ON goals.offer_id = old.offer_id ORDER BY new.offer_id`,
  )
  await runLong(pool, `SELECT renew_terms(ARRAY(SELECT offer_id FROM offers WHERE external_id LIKE '%' || ${suffix}))`)
}

async function columnsOf(pool: pg.Pool, table: string, without: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  )
  return rows.map(({ name }) => name).filter((name) => !without.includes(name))
}

function hashMigrations(): string {
  const folder = join(CHECKOUT, 'migrations')
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).toSorted()) hash.update(readFileSync(join(folder, name)))
  return hash.digest('hex')
}
