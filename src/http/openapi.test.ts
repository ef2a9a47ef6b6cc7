import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { useWorld } from '../../test/world.ts'

const world = useWorld('openapi')

type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema: object }[]
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}
type Description = { openapi: string; paths: Record<string, Record<string, Operation>>; servers: { url: string }[] }

async function describe(): Promise<Description> {
  const answer = await world.app.server.inject('/openapi.json')
  return answer.json()
}

// Pages and files for people and browsers: not part of the API.
const PAGES = [
  '/',
  '/docs',
  '/docs/reference.js',
  '/docs/start.js',
  '/icon.svg',
  '/openapi.json',
  '/pictures/:file',
  '/robots.txt',
  '/welcome.css',
]

/** Every route the server knows, as "METHOD /path". */
function routesOf(printed: string): string[] {
  const routes: string[] = []
  const stack: string[] = []
  for (const line of printed.split('\n')) {
    const match = /^([│ ]*)[├└]── (\S*)(?: \(([^)]*)\))?/.exec(line)
    if (!match) continue
    const depth = (match[1]?.length ?? 0) / 4
    stack.length = depth
    stack.push(match[2] ?? '')
    for (const method of match[3]?.split(', ') ?? []) routes.push(`${method} ${stack.join('')}`)
  }
  return routes
}

test('every route is described, and what is described is there', async () => {
  const { paths } = await describe()
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  const routes = routesOf(world.app.server.printRoutes({ commonPrefix: false })).filter(
    (route) => !route.startsWith('HEAD '),
  )
  const apart = routes.filter((route) => !described.includes(route)).map((route) => route.replace('GET ', ''))
  assert.deepEqual(apart.toSorted(), PAGES.toSorted())
  for (const route of described) assert.ok(routes.includes(route), route)
  assert.ok(described.includes('GET /api/v1/offers') && described.includes('GET /v1/offers/:offer_id'))
})

test('it is OpenAPI 3.1 and names the parameters with their limits', async () => {
  const { openapi, paths, servers } = await describe()
  assert.match(openapi, /^3\.1\./)
  assert.deepEqual(servers, [{ url: 'https://offers.test' }])
  const parameters = Object.fromEntries(
    (paths['/api/v1/offers']?.['get']?.parameters ?? []).map((one) => [one.name, one]),
  )
  assert.deepEqual(Object.keys(parameters).toSorted(), [
    'aff_sub',
    'aff_sub2',
    'aff_sub3',
    'aff_sub4',
    'category',
    'country',
    'limit',
    'offset',
    'platform',
    'sort',
    'userId',
  ])
  assert.equal(parameters['userId']?.required, true)
  const { description: _, ...limit } = (parameters['limit']?.schema ?? {}) as Record<string, unknown>
  assert.deepEqual(limit, { type: 'integer', minimum: 1, maximum: 100, default: 20 })
  assert.notEqual(parameters['limit']?.required, true, 'what has a default is not required')
})

test('the answers of the API are what the description says', async () => {
  const { live } = await world.makeApp()
  const [id] = await world.makeOffers({
    goals: [{ name: 'a', payout: 1 }],
    payout: 1,
    image_url: null,
    countries: ['US'],
  })
  const { paths } = await describe()
  const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } })
  const check = async (path: string, url: string, credentials = true) => {
    const { status, body } = await world.get(url, credentials ? live : undefined)
    const schema = paths[path]?.['get']?.responses[status]?.content?.['application/json']?.schema
    assert.ok(schema, `${path} ${status} is described`)
    const validate = ajv.compile(strict(schema))
    assert.ok(validate(body), JSON.stringify(validate.errors))
  }
  await check('/api/v1/offers', '/api/v1/offers?userId=u')
  await check('/api/v1/offers', '/api/v1/offers')
  await check('/api/v1/offers', '/api/v1/offers?userId=u', false)
  await check('/v1/offers/{offer_id}', `/v1/offers/${id}?userId=u`)
  await check('/v1/offers/{offer_id}', '/v1/offers/0?userId=u')
})

/** The same schema, but refusing fields that it does not describe. */
function strict(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    typeof value === 'object' && value !== null && 'properties' in value
      ? { ...value, additionalProperties: false }
      : value,
  ) as object
}

test('health answers without credentials; readiness names the database', async () => {
  assert.deepEqual((await world.app.server.inject('/healthz')).json(), { status: 'ok' })
  assert.deepEqual((await world.app.server.inject('/readyz')).json(), { status: 'ok', database: 'ok' })
})
