// Directus over the same offers, in one process, as it comes, in production mode. Its limiter of requests under pressure
// is off: it answers some of them with 503, which would count as fast.
import { mkdirSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Alternative, indexOffers, installKept, LISTED, ORDERS, SELECT_ROWS, setUp, TOKEN } from './alternative.ts'
import { plainEnv } from './data.ts'
import { type Postgres, runLong } from './postgres.ts'
import type { Content } from './same-offers.ts'
import { type Running, start } from './servers.ts'

// isolated-vm runs extensions, of which there are none; the version that Directus asks for has to be compiled.
const PACKAGES = { dependencies: { directus: '12.4.0' }, overrides: { 'isolated-vm': '6.1.2' } }
const PROGRAM = 'node_modules/@directus/api/dist/cli/run.js'
const SCHEMA = 'bench_directus'
const ADMIN_TOKEN = 'operator-0123456789abcdef0123456789abcdef'

/** `isCached`: whether it keeps answers in memory for five minutes, which it does not unless asked to. */
export const directus = (isCached: boolean): Alternative => ({
  name: `Directus ${PACKAGES.dependencies.directus}${isCached ? ', its cache on' : ''}`,
  schema: SCHEMA,
  async start(postgres, say) {
    const folder = await installKept('directus', PACKAGES, say)
    for (const name of ['uploads', 'extensions']) mkdirSync(join(folder, name), { recursive: true })
    const env = settingsFor(postgres, isCached)
    say('Filling the table of Directus …')
    await createTable(postgres)
    await promisify(execFile)(process.execPath, [PROGRAM, 'bootstrap'], { cwd: folder, env: plainEnv(env) })
    const running = await start(this.name, [PROGRAM, 'start'], env, { folder, readyPath: '/server/ping' })
    return setUp(running, () => createReader(running))
  },
  pathOf(filter) {
    const order = ORDERS[filter.get('sort') ?? ''] ?? []
    const sort = order.map(([column, direction]) => (direction === 'desc' ? `-${column}` : column))
    const filters = ['country', 'platform', 'category'].map((name) => `filter[${name}][_eq]=${filter.get(name)}`)
    return `/items/offers?${filters.join('&')}&sort=${sort.join(',')}&limit=20&meta=filter_count&fields=${LISTED.join(',')}`
  },
  contentOf(body) {
    const { data, meta } = JSON.parse(body) as { data: Content['offers']; meta: { filter_count: number } }
    return { total: meta.filter_count, offers: data }
  },
})

const settingsFor = ({ env }: Postgres, isCached: boolean): Record<string, string> => ({
  NODE_ENV: 'production',
  SECRET: ADMIN_TOKEN,
  ADMIN_EMAIL: 'operator@example.com',
  ADMIN_PASSWORD: ADMIN_TOKEN,
  ADMIN_TOKEN,
  TELEMETRY: 'false',
  PRESSURE_LIMITER_ENABLED: 'false',
  DB_CLIENT: 'pg',
  DB_HOST: env['PGHOST'] ?? '',
  DB_PORT: '5432',
  DB_USER: env['PGUSER'] ?? '',
  DB_PASSWORD: env['PGPASSWORD'] ?? '',
  DB_DATABASE: env['PGDATABASE'] ?? '',
  DB_SEARCH_PATH: `array:${SCHEMA}`,
  ...(isCached ? { CACHE_ENABLED: 'true' } : {}),
})

async function createTable(postgres: Postgres): Promise<void> {
  const { pool, close } = postgres.open()
  try {
    await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; CREATE SCHEMA ${SCHEMA}`)
    await runLong(pool, `CREATE TABLE ${SCHEMA}.offers AS ${SELECT_ROWS}`)
    await runLong(pool, `ALTER TABLE ${SCHEMA}.offers ADD PRIMARY KEY (id)`)
    await indexOffers(pool, SCHEMA)
  } finally {
    await close()
  }
}

/** A user with a token who may read the offers and nothing else, as a publisher's server would be. */
async function createReader({ port }: Running): Promise<void> {
  const create = async (path: string, row: object): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(row),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`Directus answered ${answer.status} to ${path}: ${text}`)
    return (JSON.parse(text) as { data: { id: string } }).data.id
  }
  const policy = await create('/policies', { name: 'Publisher', admin_access: false, app_access: false })
  await create('/permissions', { policy, collection: 'offers', action: 'read', fields: ['*'], permissions: {} })
  const policies = { create: [{ policy }] }
  await create('/users', { email: 'publisher@example.com', status: 'active', token: TOKEN, policies })
}
