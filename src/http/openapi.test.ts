import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FastifyInstance, InjectOptions, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { resolveRefs } from '../../test/operations.ts'
import { useWorld } from '../../test/world.ts'
import type { IssuedCredentials } from '../features/apps/keys.ts'
import { PAGES as DASHBOARD } from './dashboard.ts'
import { compileValidator } from './validation.ts'

const world = useWorld('openapi')

type Operation = {
  operationId: string
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema: object }[]
  responses: Record<string, { content?: Record<string, { schema: object; example?: unknown }> }>
}
type Description = { openapi: string; paths: Record<string, Record<string, Operation>>; servers: { url: string }[] }

async function describe(): Promise<Description> {
  const answer = await world.app.server.inject('/openapi.json')
  return resolveRefs(answer.json()) as Description
}

// Pages and files for people and browsers: not part of the API.
const PAGES = [
  '/',
  '/.well-known/security.txt',
  '/*', // printed so, but it is /c/*
  '/c/page.css',
  '/docs',
  '/docs/manage',
  '/docs/manage.json',
  '/docs/reference.js',
  '/docs/start.js',
  '/docs/v1.json',
  '/icon.svg',
  '/images/:name',
  '/openapi.json',
  '/pictures/:file',
  '/robots.txt',
  '/sdk/:name',
  '/locker',
  '/locker/v1.js',
  '/assets/:name',
  ...DASHBOARD.map((name) => `/${name}`),
  ...DASHBOARD.map((name) => `/${name}*`), // printed so, but it is what is below it
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

test('every operation has an id of its own', async () => {
  const { paths } = await describe()
  const ids = Object.values(paths).flatMap((operations) => Object.values(operations).map((one) => one.operationId))
  assert.deepEqual(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
  )
})

test('every route is described, and what is described is there', async () => {
  const { paths } = await describe()
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  const routes = routesOf(world.app.server.printRoutes({ commonPrefix: false })).filter(
    (route) => !route.startsWith('HEAD '),
  )
  // Every path of /api/v1 also works under /v1: that is said once.
  const isDescribed = (route: string) =>
    described.includes(route) || described.includes(route.replace(' /v1', ' /api/v1'))
  const apart = routes.filter((route) => !isDescribed(route)).map((route) => route.replace('GET ', ''))
  assert.deepEqual(apart.toSorted(), PAGES.toSorted())
  for (const route of described) assert.ok(routes.includes(route), route)
  assert.ok(described.includes('GET /api/v1/offers') && !described.includes('GET /v1/offers'))
})

test('the schemas of every route compile: what is wrong with one shows here, not at the first request', async () => {
  const routes: RouteOptions[] = []
  const watch = (message: unknown) =>
    (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => void routes.push(route))
  subscribe('fastify.initialization', watch)
  const app = await world.start()
  unsubscribe('fastify.initialization', watch)
  await app.close()
  let compiled = 0
  for (const { method, url, schema = {} } of routes)
    for (const httpPart of ['params', 'querystring', 'headers', 'body'] as const) {
      if (schema[httpPart] === undefined) continue
      const validate = compileValidator({ schema: schema[httpPart] as TSchema, httpPart, method: '', url })
      assert.doesNotThrow(() => validate({}), `${[method].flat().join()} ${url}, ${httpPart}`)
      compiled++
    }
  assert.ok(compiled > 200, `${compiled} of ${routes.length} routes`)
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

test('schemas have names: no operation writes out what it takes or answers with', async () => {
  const answer = await world.app.server.inject('/openapi.json')
  type Media = { content?: { 'application/json'?: { schema: { $ref?: string; allOf?: Part[] } } } }
  type Part = { properties?: { data?: { $ref?: string } } }
  type Named = { operationId: string; requestBody?: Media; responses: Record<string, Media> }
  const { paths } = answer.json<{ paths: Record<string, Record<string, Named>> }>()
  const isNamed = ({ content }: Media) => {
    const schema = content?.['application/json']?.schema
    return schema === undefined || (schema.$ref ?? schema.allOf?.at(-1)?.properties?.data?.$ref) !== undefined
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const unnamed = operations.filter(
    ({ requestBody = {}, responses }) => ![requestBody, ...Object.values(responses)].every(isNamed),
  )
  assert.deepEqual(unnamed.map(({ operationId }) => operationId), []) // prettier-ignore
  assert.ok(answer.body.length < 600_000, `${answer.body.length} bytes: see docs/decisions.md`)
})

test('the pages of the reference have their part of it each, and together all of it', async () => {
  const { paths } = await describe()
  const part = async (name: string) => (await world.app.server.inject(`/docs/${name}.json`)).json<Description>().paths
  const [v1, manage] = [await part('v1'), await part('manage')]
  assert.ok('/api/v1/offers' in v1 && '/postback' in v1 && !('/v1/offers' in v1))
  assert.ok(Object.keys(manage).every((path) => path.startsWith('/manage/v1/')))
  const shown = { ...v1, ...manage }
  const missing = Object.keys(paths).filter((path) => !(path in shown))
  assert.deepEqual(missing, [])
  for (const path of Object.keys(shown))
    assert.deepEqual(Object.keys(shown[path] ?? {}), Object.keys(paths[path] ?? {}))
})

test('files are described as what they are', async () => {
  const { paths } = await describe()
  const files = Object.keys(paths).filter((path) => /\.csv$|\/statements\/\{month\}$/.test(path))
  assert.equal(files.length, 7)
  for (const path of files)
    assert.deepEqual(Object.keys(paths[path]?.['get']?.responses['200']?.content ?? {}), ['text/csv'], path)
})

/** Compares an answer with what is described for its path, method and status; returns the answer. */
async function check(path: string, url: string, credentials?: IssuedCredentials, more: InjectOptions = {}) {
  const { paths } = await describe()
  const reply = await world.get(url, credentials, more)
  const operation = paths[path]?.[(more.method ?? 'GET').toLowerCase()]
  const schema = operation?.responses[reply.status]?.content?.['application/json']?.schema
  assert.ok(schema, `${path} ${reply.status} is described`)
  const validate = new Ajv2020({ strict: false, formats: { 'date-time': true, date: true } }).compile(strict(schema))
  assert.ok(validate(reply.body), `${url}: ${JSON.stringify(validate.errors)}`)
  return reply
}

test('the answers about offers are what the description says', async () => {
  const { live } = await world.createApp()
  const [id] = await world.createOffers({
    goals: [{ name: 'a', payout: 1 }],
    payout: 1,
    image_url: null,
    countries: ['US'],
  })
  await check('/api/v1/offers', '/api/v1/offers?userId=u', live)
  await check('/api/v1/offers', '/api/v1/offers', live)
  await check('/api/v1/offers', '/api/v1/offers?userId=u')
  await check('/api/v1/offers/{offer_id}', `/v1/offers/${id}?userId=u`, live)
  await check('/api/v1/offers/{offer_id}', '/v1/offers/0?userId=u', live)
})

test('the answers about conversions, events and statistics are what the description says', async () => {
  const { live } = await world.createApp()
  const [offerId = 0, paused = 0] = await world.createOffers({ hold: '1d' }, { status: 'paused' })
  const post = (payload: object): InjectOptions => ({ method: 'POST', payload })
  const conversions = '/api/v1/conversions'
  const { clickId } = await world.click(offerId, live, 'userId=u&aff_sub=a')
  const made = await check(conversions, conversions, live, post({ userId: 'u', offerId }))
  assert.equal(made.status, 201)
  assert.equal((await check(conversions, conversions, live, post({ userId: 'u', offerId }))).status, 200)
  await check(conversions, conversions, live, post({ userId: 'u', offerId: paused, transactionId: 't' }))
  assert.equal((await check(conversions, conversions, live, post({}))).status, 400)
  assert.equal((await check(conversions, conversions, live, post({ userId: 'u', offerId: 1e9 }))).status, 404)
  assert.equal((await check(conversions, conversions, undefined, post({ userId: 'u', offerId }))).status, 401)
  await world.confirm(offerId, clickId)
  await world.app.refresh()

  const { body } = await check('/api/v1/conversions', '/api/v1/conversions?limit=1', live)
  await check(conversions, `/v1/conversions?cursor=${body.data.next_cursor}`, live)
  assert.equal((await check(conversions, '/v1/conversions?cursor=x', live)).status, 400)
  const one = '/api/v1/conversions/{conversion_id}'
  await check(one, `/v1/conversions/${made.body.data.conversion.conversion_id}`, live)
  assert.equal((await check(one, '/v1/conversions/x', live)).status, 404)
  assert.equal((await check('/api/v1/events', '/v1/events', live)).body.data.events.length, 2)
  assert.equal((await check('/api/v1/events', '/v1/events?after=x', live)).status, 400)
  for (const groupBy of ['day', 'offer', 'country', 'aff_sub', 'aff_sub4'])
    assert.equal((await check('/api/v1/stats', `/v1/stats?groupBy=${groupBy}`, live)).status, 200, groupBy)
  assert.equal((await check('/api/v1/stats', '/v1/stats?groupBy=x', live)).status, 400)
  await check('/api/v1/offers/{offer_id}/why', `/v1/offers/${offerId}/why?userId=u`, live)
})

test('the answers to advertisers are what the description says', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live)
  const call = `/postback?click_id=${clickId}&token=${world.tokenOf(offerId)}`
  const unknown = call.replace(clickId, '00000000-0000-0000-0000-000000000000')
  const urls = [call, call, `${call}&status=reversed`, unknown, `${call}&status=x`, `/postback?click_id=${clickId}`]
  const statuses: number[] = []
  for (const url of urls) statuses.push((await check('/postback', url)).status)
  assert.deepEqual(statuses, [200, 200, 200, 202, 400, 401])
  const large: InjectOptions = { method: 'POST', payload: 'x'.repeat(70_000) }
  assert.equal((await check('/postback', call, undefined, large)).status, 413)
})

/** The same schema, but refusing fields that it does not describe. */
function strict(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    // Of parts that are joined, each has only some of the fields.
    if (key === 'allOf') return (value as object[]).map((part) => ({ ...part, unevaluatedProperties: true }))
    return 'properties' in value || 'allOf' in value ? { unevaluatedProperties: false, ...value } : value
  }) as object
}

test('health answers without credentials; readiness names the database', async () => {
  assert.deepEqual((await world.app.server.inject('/healthz')).json(), { status: 'ok' })
  assert.deepEqual((await world.app.server.inject('/readyz')).json(), { status: 'ok', database: 'ok' })
})

test('every parameter is described, and every JSON reply has an example', async () => {
  const { paths } = await describe()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  )
  const undescribed = operations.flatMap(({ operationId, parameters = [] }) =>
    parameters.filter(({ description }) => description === undefined).map(({ name }) => `${operationId}: ${name}`),
  )
  assert.deepEqual(undescribed, [])
  const bare = operations.filter(({ responses }) => {
    const json = Object.entries(responses).flatMap(([status, { content }]) =>
      status.startsWith('2') ? (content?.['application/json'] ?? []) : [],
    )
    return json.length > 0 && json.every(({ example }) => example === undefined)
  })
  // What the system page shows differs from machine to machine.
  assert.deepEqual(bare.map(({ operationId }) => operationId), ['getWallPreview', 'getWallSdk', 'getSystem']) // prettier-ignore
})
