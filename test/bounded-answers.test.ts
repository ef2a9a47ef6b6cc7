// No list in an answer grows with the database: it is read by pages, or says here why it stays short. A new one without
// a page or a reason fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeal, type Deal } from './conversion-rows.ts'
import { fillManyRows, MANY, POSTBACK } from './many-rows.ts'
import { operationsOf, readPaths, resolveRefs } from './operations.ts'
import { type Answer, type Visitor, visit } from './people.ts'
import { useWorld } from './world.ts'

const BY_CODE = 'as many as the program knows'
const OF_OFFER = 'countries, platforms and 50 goals of an offer'
const BY_SCHEMA = 'limited where it is written'
const ROWS = '`limit` rows, at most 1,000'

const BOUNDS: Record<string, string> = {
  '/sign-up': BY_SCHEMA,
  '/sign-up/settings': BY_SCHEMA,
  '/me/sessions': 'the latest 100 (MAX_SESSIONS)',
  '/me/tokens': '50 valid ones, 100 with those that expired (MAX_TOKENS)',
  '/search': 'five of each kind',
  '/publishers/{publisher_id}/apps': '100, or 1,000 where the operator creates them (MOST_APPS)',
  '/publishers/{publisher_id}': '100 apps, or 1,000 where the operator creates them (MOST_APPS)',
  '/publishers/{publisher_id}/application': BY_SCHEMA,
  '/publishers/{publisher_id}/permissions': '10,000 of each list, as it is written whole',
  '/apps/{app_id}': 'two credentials, with the secrets that still work',
  '/apps/{app_id}/checklist': BY_CODE,
  '/apps/{app_id}/postback': BY_CODE,
  '/apps/{app_id}/postback/health': 'five notices',
  '/apps/{app_id}/postback/replays': 'the latest three',
  '/apps/{app_id}/postback/tests/{test_id}': BY_CODE,
  '/apps/{app_id}/postbacks/{postback_id}': 'the newest 100 attempts (MOST_ATTEMPTS)',
  '/apps/{app_id}/offers/{offer_id}': OF_OFFER,
  '/apps/{app_id}/offers/{offer_id}/why': BY_CODE,
  '/apps/{app_id}/content-rules': BY_SCHEMA,
  '/apps/{app_id}/wall': BY_SCHEMA,
  '/apps/{app_id}/lockers/{locker_id}': BY_SCHEMA,
  '/apps/{app_id}/tickets/{ticket_id}': '200 messages (MAX_MESSAGES); conversions of one user and offer',
  '/apps/{app_id}/conversions/{conversion_id}': 'changes of one conversion; 20 postbacks with 100 attempts each',
  '/apps/{app_id}/users': ROWS,
  '/apps/{app_id}/stats': ROWS,
  '/advertisers/{advertiser_id}': BY_SCHEMA,
  '/advertisers/{advertiser_id}/offers/{offer_id}': OF_OFFER,
  '/advertisers/{advertiser_id}/postback-urls': 'the first 50 offers (MAX_OFFERS)',
  '/advertisers/{advertiser_id}/proposals/{proposal_id}': OF_OFFER,
  '/advertisers/{advertiser_id}/report': ROWS,
  '/network/overview': '30 days',
  '/network/reports': ROWS,
  '/offers/{offer_id}': OF_OFFER,
  '/offers/{offer_id}/feed': 'the fields of an offer',
  '/offer-imports/{import_id}': '200 changes, 1,000 problems (MAX_CHANGES, MAX_PROBLEMS)',
  '/offer-proposals/{proposal_id}': OF_OFFER,
  '/feed-presets': BY_CODE,
  '/feeds/{feed_id}': BY_SCHEMA,
  '/product-rule': BY_SCHEMA,
  '/rates': 'one for each currency',
  '/conversions/{conversion_id}': 'changes of one conversion',
  '/ledger/check': '20 examples of each problem (MAX_EXAMPLES)',
  '/system': 'nodes that are running, partitions of the retention; 20 mails',
}

test('every list in an answer is read by pages, or says here how it stays short', () => {
  const paths = (resolveRefs(world.app.server.swagger()) as { paths: Record<string, Record<string, Described>> }).paths
  const unbounded = operationsOf(readPaths(world), '/manage/v1')
    .filter(({ method, path }) => method === 'GET' && hasList(paths[`/manage/v1${path}`]?.['get']?.responses))
    .filter(({ query }) => !query.some((name) => name === 'cursor' || name === 'offset'))
    .map(({ path }) => path)
  assert.deepEqual(unbounded.toSorted(), Object.keys(BOUNDS).toSorted())
})

const MOST = 200

test('the longest list of an answer is a page, however many rows there are', async () => {
  const operator = await visit(world, 'operator')
  await fillManyRows(world, deal, (await operator.get<{ id: string }>('/me')).data.id)
  const ids: Record<string, string> = { app_id: `${deal.appId}`, publisher_id: `${deal.publisherId}`, advertiser_id: `${deal.advertiserId}`, offer_id: `${deal.offerId}`, postback_id: POSTBACK } // prettier-ignore
  const lists = operationsOf(readPaths(world), '/manage/v1').filter(
    ({ method, path, parameters }) =>
      method === 'GET' && path !== '/publishers/{publisher_id}/permissions' && parameters.every((name) => name in ids),
  )
  const long: string[] = []
  for (const { path } of lists) {
    const { status, data } = await operator.get(path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ''))
    const longest = status === 200 ? longestIn(data) : 0
    if (longest > MOST) long.push(`${path}: ${longest}`)
  }
  assert.deepEqual(long, [])

  const publisher = `/publishers/${deal.publisherId}`
  assert.equal((await readAll(operator, `${publisher}/people`, 'people', 'email')).size, MANY)
  assert.equal((await readAll(operator, `/apps/${deal.appId}/lockers`, 'lockers', 'locker_id')).size, MANY)
  assert.equal((await readAll(operator, '/feeds', 'feeds', 'feed_id')).size, MANY)
  assert.equal((await readAll(operator, '/fraud', 'rules', 'offer_id')).size, MANY + 1) // one for all offers, on each page

  const found = await operator.get<{ people: unknown[] }>(`${publisher}/people?search=%20${MANY}`)
  assert.equal(found.data.people.length, 1)
  const links = await operator.get<{ links: unknown[]; total: number }>('/reported-links?limit=100&offset=200')
  assert.deepEqual([links.data.links.length, links.data.total], [MANY - 200, MANY])
})

test('a person who signs in again and again keeps the latest sessions only', async () => {
  const person = await visit(world, 'operator_reader')
  const { id, email } = (await person.get<{ id: string; email: string }>('/me')).data
  await world.database.pool.query(
    `INSERT INTO sessions (person_id, token, expires_at, updated_at)
     SELECT $1, 'again' || n, now() + interval '1 day', now() - n * interval '1 minute' FROM generate_series(1, ${MANY}) n`,
    [id],
  )
  const latest = await person.signIn(email)
  const { data } = await latest.get<{ sessions: { is_current: boolean }[] }>('/me/sessions')
  assert.equal(data.sessions.length, 100)
  assert.equal(data.sessions[0]?.is_current, true)
})

let deal: Deal
const world = useWorld('bounded_answers', async () => {
  deal = await createDeal(world)
})

type Page = Record<string, unknown> & { next_cursor: string | null }
type Described = { responses: unknown }
const hasList = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  ((schema as { type?: string }).type === 'array' || Object.values(schema).some(hasList))

const longestIn = (data: unknown): number =>
  typeof data !== 'object' || data === null
    ? 0
    : Math.max(Array.isArray(data) ? data.length : 0, ...Object.values(data).map(longestIn))

/** All that the pages of a list have, by a field that differs. */
async function readAll(visitor: Visitor, path: string, list: string, field: string): Promise<Set<unknown>> {
  const all = new Set<unknown>()
  let cursor: string | null = null
  do {
    const answer: Answer<Page> = await visitor.get(`${path}?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`)
    for (const one of answer.data[list] as Record<string, unknown>[]) all.add(one[field])
    cursor = answer.data.next_cursor
  } while (cursor !== null)
  return all
}
