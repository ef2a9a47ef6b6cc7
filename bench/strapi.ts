// Strapi over the same offers, in one process, as it comes, in production mode, without its admin pages.
import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { type Alternative, indexOffers, installKept, LISTED, ORDERS, SELECT_ROWS, setUp, TOKEN } from './alternative.ts'
import { type Postgres, runLong } from './postgres.ts'
import type { Content } from './same-offers.ts'
import { start } from './servers.ts'

const PACKAGES = { dependencies: { '@strapi/strapi': '5.54.0', pg: '8.23.1' } }
const PROGRAM = 'node_modules/@strapi/strapi/bin/strapi.js'
const SCHEMA = 'bench_strapi'
const SECRET = '0123456789abcdef0123456789abcdef'

const TYPES: Record<string, string> = {
  offer_id: 'integer', country: 'string', platform: 'string', category: 'string', name: 'string', description: 'text',
  payout: 'float', image_url: 'string', countries: 'json', platforms: 'json', difficulty: 'string',
  time_estimate: 'string', requirements: 'text', payment_required: 'boolean', conversion_type: 'string',
  popularity: 'integer', goals: 'json',
} // prettier-ignore

/** Strapi has these itself, under names of its own. */
const OWN_NAMES: Record<string, string> = { created_at: 'createdAt', updated_at: 'updatedAt' }
const toOwn = (name: string) => OWN_NAMES[name] ?? name

export const strapi = (): Alternative => ({
  name: `Strapi ${PACKAGES.dependencies['@strapi/strapi']}`,
  schema: SCHEMA,
  async start(postgres, say) {
    const folder = await installKept('strapi', PACKAGES, say)
    writeProject(folder, postgres)
    const { pool, close } = postgres.open()
    await using ended = new AsyncDisposableStack()
    ended.defer(close)
    await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE; CREATE SCHEMA ${SCHEMA}`)
    const env = { NODE_ENV: 'production', STRAPI_TELEMETRY_DISABLED: 'true', TZ: 'UTC' }
    const running = await start(this.name, [PROGRAM, 'start'], env, { folder, readyPath: '/_health' })
    say('Filling the table of Strapi …')
    return await setUp(running, () => fillTable(pool))
  },
  pathOf(filter) {
    const order = ORDERS[filter.get('sort') ?? ''] ?? []
    const sort = order.map(([column, direction]) => `${toOwn(column)}:${direction}`)
    const filters = ['country', 'platform', 'category'].map((name) => `filters[${name}][$eq]=${filter.get(name)}`)
    const fields = LISTED.map((name, i) => `fields[${i}]=${toOwn(name)}`)
    return `/api/offers?${filters.join('&')}&sort=${sort.join(',')}&pagination[limit]=20&${fields.join('&')}`
  },
  contentOf(body) {
    type Answer = { data: Content['offers']; meta: { pagination: { total: number } } }
    const { data, meta } = JSON.parse(body) as Answer
    const rename = (offer: Content['offers'][number]) =>
      Object.fromEntries(LISTED.map((name) => [name, offer[toOwn(name)]]))
    return { total: meta.pagination.total, offers: data.map(rename) }
  },
})

/** The files of a project with one content type. */
function writeProject(folder: string, { env }: Postgres): void {
  const connection = { host: env['PGHOST'], user: env['PGUSER'], password: env['PGPASSWORD'], database: env['PGDATABASE'], schema: SCHEMA } // prettier-ignore
  const files: Record<string, object> = {
    'config/database.json': { connection: { client: 'postgres', connection } },
    'config/server.json': { app: { keys: [SECRET] }, logger: { startup: { enabled: false } } },
    'config/logger.json': { level: 'warn' },
    'config/admin.json': {
      serveAdminPanel: false,
      auth: { secret: SECRET },
      apiToken: { salt: SECRET },
      secrets: { encryptionKey: SECRET },
    },
    'config/middlewares.json': [
      'logger', 'errors', 'security', 'cors', 'poweredBy', 'query', 'body', 'session', 'favicon', 'public',
    ].map((name) => `strapi::${name}`),
    'src/api/offer/content-types/offer/schema.json': {
      kind: 'collectionType',
      collectionName: 'offers',
      info: { singularName: 'offer', pluralName: 'offers', displayName: 'Offer' },
      options: { draftAndPublish: false },
      attributes: Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [name, { type }])),
    },
  } // prettier-ignore
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o600 })
  }
  for (const [path, content] of Object.entries(files)) write(path, JSON.stringify(content))
  for (const part of ['Router', 'Controller', 'Service']) {
    const code = `module.exports = require('@strapi/strapi').factories.createCore${part}('api::offer.offer')\n`
    write(`src/api/offer/${part === 'Router' ? 'route' : part.toLowerCase()}s/offer.js`, code)
  }
  mkdirSync(join(folder, 'public/uploads'), { recursive: true })
}

/** Strapi has created the table. */
async function fillTable(pool: pg.Pool): Promise<void> {
  const names = Object.keys(TYPES).join(', ')
  await runLong(
    pool,
    `INSERT INTO ${SCHEMA}.offers (id, document_id, created_at, updated_at, published_at, ${names})
     SELECT id, md5(id::text), created_at, updated_at, updated_at, ${names} FROM (${SELECT_ROWS}) AS listed`,
  )
  await indexOffers(pool, SCHEMA)
  await pool.query(
    `INSERT INTO ${SCHEMA}.strapi_api_tokens (document_id, name, type, kind, access_key, published_at)
     VALUES ('publisher', 'Publisher', 'read-only', 'content-api', $1, now())`,
    [createHmac('sha512', SECRET).update(TOKEN).digest('hex')],
  )
}
