// The usual way, written as well as it can be: Fastify, a pool of ten connections, one prepared statement a request on
// a table and indexes made for exactly this question. It checks no credentials, counts no rate and keeps no sub-IDs,
// all of which Offerdeck does.
//
// Arrays of countries cannot be had in order from an index, and counting through them took 14 ms. So targeting has a
// table of its own, a row for each country and platform of an offer ('' for everywhere), with an index for each order:
// the page is a merge of two short index scans, the total a count(*) over an index alone, in the same statement.
import { createHmac, randomBytes } from 'node:crypto'
import Fastify, { type FastifyRequest } from 'fastify'
import type pg from 'pg'
import { openDatabase } from '../src/db/open.ts'
import type { Offer } from '../src/features/offers/schema.ts'

const ORDERS: Record<string, string> = {
  payout_desc: 'payout_micros DESC',
  payout_asc: 'payout_micros',
  newest: 'created_at DESC',
  popular: 'popularity DESC, created_at DESC',
}
const RATE = 100 // of the app that the benchmark creates

type Query = { userId: string; country: string; platform: string; category: string; sort: string }
type Row = Omit<Offer, 'payout_local' | 'currency' | 'link' | 'goals'> & {
  goals: Omit<Offer['goals'][number], 'payout_local'>[]
  total: number
}

const port = Number(process.env['PORT'])
const database = await openDatabase({ databaseUrl: null, dataDir: process.env['DATA_DIR'] ?? '', connections: 10 })
await prepareTargets(database.pool)

const statements = new Map(Object.entries(ORDERS).map(([sort, order]) => [sort, writeStatement(order)]))
const key = randomBytes(32)
const server = Fastify()

const origin = `http://127.0.0.1:${port}`

server.route<{ Querystring: Query }>({ method: 'GET', url: '/api/v1/offers', handler: listOffers })

await server.listen({ port, host: '127.0.0.1' })
console.log(JSON.stringify({ address: origin }))
process.once('SIGTERM', () => {
  void server
    .close()
    .then(() => database.close())
    .then(() => process.exit(0))
})

async function listOffers(request: FastifyRequest<{ Querystring: Query }>) {
  const { userId, country, platform, category, sort } = request.query
  const { rows } = await database.pool.query<Row>({
    name: sort,
    text: statements.get(sort) ?? '',
    values: [category, platform, country],
  })
  const total = rows[0]?.total ?? 0
  const issuedAt = Math.floor(Date.now() / 1000)
  const claim = Buffer.from(JSON.stringify([request.id, userId, issuedAt])).toString('base64url')
  const token = `${claim}.${createHmac('sha256', key).update(claim).digest('base64url')}`
  const offers = rows.map((offer) => ({
    offer_id: offer.offer_id,
    name: offer.name,
    description: offer.description,
    payout: offer.payout,
    payout_local: toLocal(offer.payout),
    currency: 'Coins',
    category: offer.category,
    link: `${origin}/c/${offer.offer_id}/${token}`,
    image_url: offer.image_url?.startsWith('/') ? origin + offer.image_url : offer.image_url,
    countries: offer.countries,
    platforms: offer.platforms,
    difficulty: offer.difficulty,
    time_estimate: offer.time_estimate,
    requirements: offer.requirements,
    payment_required: offer.payment_required,
    conversion_type: offer.conversion_type,
    goals: offer.goals.map((goal) => ({ ...goal, payout_local: toLocal(goal.payout) })),
    created_at: offer.created_at,
    updated_at: offer.updated_at,
  }))
  return {
    success: true,
    data: { offers, total, limit: 20, offset: 0, has_more: total > 20 },
    message: 'Offers retrieved successfully',
    meta: { timestamp: issuedAt, request_id: request.id },
  }
}

function toLocal(usd: number): number {
  return Math.round(usd * RATE * 10_000) / 10_000
}

function writeStatement(order: string): string {
  const isDue = '(starts_at IS NULL OR starts_at <= now()) AND (ends_at IS NULL OR ends_at > now())'
  const branch = (country: string) =>
    `(SELECT * FROM bench.targets
      WHERE category = $1 AND platform = $2 AND country = ${country} AND ${isDue} ORDER BY ${order}, offer_id LIMIT 20)`
  return `
    WITH page AS (
      SELECT offer_id, row_number() OVER (ORDER BY ${order}, offer_id) AS nth
      FROM (${branch('$3')} UNION ALL ${branch("''")}) AS candidates ORDER BY nth LIMIT 20
    )
    SELECT offer_id, name, description, payout_micros / 1e6::float8 AS payout, category, image_url, countries, platforms,
      difficulty, time_estimate, requirements, payment_required, conversion_type,
      to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created_at,
      to_char(updated_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS updated_at,
      (SELECT json_agg(json_build_object('goal_id', goal_id, 'name', goals.name, 'description', goals.description,
          'payout', goals.payout_micros / 1e6::float8, 'is_optional', is_optional) ORDER BY place)
        FROM goals WHERE goals.offer_id = offers.offer_id AND NOT is_retired) AS goals,
      (SELECT count(*) FROM bench.targets
        WHERE category = $1 AND platform = $2 AND country IN ($3, '') AND ${isDue})::int AS total
    FROM page JOIN offers USING (offer_id) ORDER BY nth`
}

/** In a schema of its own: Offerdeck's tables stay as they are. */
async function prepareTargets(pool: pg.Pool): Promise<void> {
  await pool.query(`
    DROP SCHEMA IF EXISTS bench CASCADE;
    CREATE SCHEMA bench;
    CREATE TABLE bench.targets AS
      SELECT country, platform, category, payout_micros, created_at, popularity, offer_id, starts_at, ends_at FROM offers,
        unnest(platforms) AS platform, unnest(CASE countries WHEN '{}' THEN '{""}' ELSE countries END) AS country
      WHERE status = 'active'`)
  for (const [sort, order] of Object.entries(ORDERS)) {
    await pool.query(
      `CREATE INDEX ${sort} ON bench.targets (category, platform, country, ${order}, offer_id) INCLUDE (starts_at, ends_at)`,
    )
  }
  await pool.query('VACUUM ANALYZE bench.targets')
}
