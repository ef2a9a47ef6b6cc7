// Publishers as the operator sees them, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createConversion, createDeal } from '../../../../test/conversion-rows.ts'
import { publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { useWorld } from '../../../../test/world.ts'
import type { MadePublisher, PublisherList, PublisherReply, TrustList } from './schema.ts'

let operator: Visitor
const world = useWorld('manage_publishers', async () => {
  operator = await visit(world, 'operator')
})

const { auditOf } = createOwnedApps(world)

test('a publisher is created, found by part of its name, and has an email address for notices', async () => {
  const made = await operator.post<Static<typeof MadePublisher>>('/publishers', { name: 'Quiet Harbour 100%' })
  assert.equal(made.status, 200)
  const { publisher_id } = made.data
  const found = await operator.get<Static<typeof PublisherList>>(
    `/publishers?search=${encodeURIComponent('harbour 100%')}`,
  )
  assert.deepEqual(
    found.data.publishers.map(({ created_at: _at, ...one }) => one),
    [
      {
        publisher_id,
        name: 'Quiet Harbour 100%',
        email: null,
        status: 'active',
        apps: 0,
        pending: 0,
        payable: 0,
        last_conversion_at: null,
      },
    ],
  )
  const none = await operator.get<Static<typeof PublisherList>>('/publishers?search=harbour_100')
  assert.deepEqual(none.data.publishers, [], '_ is no wildcard')
  assert.equal((await operator.patch(`/publishers/${publisher_id}`, { email: 'n@example.com' })).status, 200)
  assert.equal((await operator.get<{ email: string }>(`/publishers/${publisher_id}`)).data.email, 'n@example.com')
  assert.equal((await operator.patch(`/publishers/${publisher_id}`, { email: null })).status, 200)
  assert.equal((await operator.get<{ email: null }>(`/publishers/${publisher_id}`)).data.email, null)
  const entries = await auditOf(publisher_id, 'publisher.')
  assert.deepEqual(
    entries.map(({ action, details }) => [action, details]),
    [
      ['publisher.create', { name: 'Quiet Harbour 100%', email: null }],
      ['publisher.change', { email: 'n@example.com', email_before: null }],
      ['publisher.change', { email: null, email_before: 'n@example.com' }],
    ],
  )
})

test('a second publisher of the same name, an invalid email address and an empty name are refused', async () => {
  await operator.post('/publishers', { name: 'Twice' })
  const again = await operator.post('/publishers', { name: 'Twice' })
  assert.deepEqual([again.status, again.error.message], [400, 'A publisher "Twice" already exists.'])
  const bad = await operator.post('/publishers', { name: 'Other', email: 'nowhere' })
  assert.deepEqual([bad.status, bad.error.message], [400, '"nowhere" is not an email address.'])
  assert.equal((await operator.post('/publishers', { name: '' })).error.details?.['name'], 'name must not be empty.')
  assert.equal((await operator.get('/publishers/999999999')).status, 404)
  assert.equal((await operator.patch('/publishers/999999999', { email: null })).status, 404)
})

test('the list is narrowed to those of one status', async () => {
  const ids = []
  for (const status of ['pending', 'active', 'suspended']) {
    const { data } = await operator.post<Static<typeof MadePublisher>>('/publishers', { name: `Status ${status}` })
    await operator.patch(`/publishers/${data.publisher_id}/permissions`, { status })
    ids.push(data.publisher_id)
  }
  const [pending, , suspended] = ids
  const found = async (query: string) =>
    (await operator.get<Static<typeof PublisherList>>(`/publishers?search=status&${query}`)).data.publishers
  assert.deepEqual((await found('status=suspended')).map((one) => [one.publisher_id, one.status]), [[suspended, 'suspended']]) // prettier-ignore
  assert.deepEqual((await found('status=pending')).map((one) => one.publisher_id), [pending]) // prettier-ignore
  assert.equal((await found('')).length, 3)
  assert.deepEqual(Object.keys((await operator.get('/publishers?status=gone')).error.details ?? {}), ['status'])
})

test('the list is read page by page, newest first', async () => {
  for (const n of [1, 2, 3]) await operator.post('/publishers', { name: `Paged ${n}` })
  const page = (more = '') =>
    operator.get<Static<typeof PublisherList>>(`/publishers?search=Paged&limit=2${more}`).then(({ data }) => data)
  const first = await page()
  assert.deepEqual(
    first.publishers.map(({ name }) => name),
    ['Paged 3', 'Paged 2'],
  )
  const second = await page(`&cursor=${first.next_cursor}`)
  assert.deepEqual(
    second.publishers.map(({ name }) => name),
    ['Paged 1'],
  )
  assert.equal(second.next_cursor, null)
  assert.equal((await operator.get('/publishers?cursor=x')).status, 400)
})

test('what a publisher is owed and when it last converted is shown', async () => {
  const deal = await createDeal(world)
  const at = new Date(Date.now() - 60_000)
  await createConversion(world, deal, { status: 'approved', payoutMicros: 2_500_000, revenueMicros: 3_000_000, at })
  await createConversion(world, deal, { status: 'pending', payoutMicros: 1_250_000, revenueMicros: 2_000_000, at })
  const { data } = await operator.get<Static<typeof PublisherReply>>(`/publishers/${deal.publisherId}`)
  assert.deepEqual([data.pending, data.payable, data.paid], [1.25, 2.5, 0])
  assert.equal(String(data.last_conversion_at), at.toISOString())
  assert.deepEqual(
    data.apps.map(({ app_id, name, rate, trusted_offers }) => ({ app_id, name, rate, trusted_offers })),
    [{ app_id: deal.appId, name: 'App', rate: 100, trusted_offers: 0 }],
  )
  const list = await operator.get<Static<typeof PublisherList>>(`/publishers?search=${deal.publisherId}`)
  const row = list.data.publishers.find((one) => one.publisher_id === deal.publisherId)
  assert.deepEqual([row?.apps, row?.pending, row?.payable], [1, 1.25, 2.5])
})

test('a new rate allowance holds at once', async () => {
  const { appId, live } = await world.createApp({ rateLimit: 50 })
  assert.equal((await operator.put(`/apps/${appId}/rate-limit`, { rate_limit: 7 })).status, 200)
  const { headers } = await world.get('/v1/offers?userId=u', live)
  assert.equal(headers['x-ratelimit-limit'], '7')
  const [entry] = await auditOf(appId, 'app.set_rate_limit')
  assert.deepEqual(entry?.details, { rate_limit: 7, rate_limit_before: 50 })
  for (const rate_limit of [0, 1_000_001, 1.5, '9'])
    assert.equal((await operator.put(`/apps/${appId}/rate-limit`, { rate_limit })).status, 400)
})

test("an app's word is taken for one offer, for all, and no longer", async () => {
  const { appId, live } = await world.createApp()
  const [first = 0, second = 0] = await world.createOffers({ name: 'Trust me' }, { name: 'Trust me not' })
  const change = (body: object) => operator.post<{ changed: number }>(`/apps/${appId}/trust`, body)
  const trusted = async (more = '') => {
    const { data } = await operator.get<Static<typeof TrustList>>(`/apps/${appId}/trust?trusted=yes${more}`)
    return data.offers.map(({ offer_id }) => offer_id)
  }
  assert.deepEqual((await change({ trusted: true, offer_ids: [first] })).data, { changed: 1 })
  assert.deepEqual((await change({ trusted: true, offer_ids: [first] })).data, { changed: 0 })
  assert.deepEqual(await trusted(), [first])
  const reported = await Promise.all([first, second].map((offerId) => world.report(live, { userId: 'u', offerId })))
  assert.deepEqual(
    reported.map(({ body }) => body.data.conversion.status),
    ['approved', 'pending'],
  )
  const { data } = await operator.get<Static<typeof TrustList>>(`/apps/${appId}/trust?search=trust%20me&trusted=no`)
  assert.deepEqual(
    data.offers.map(({ offer_id, trusted_since }) => [offer_id, trusted_since]),
    [[second, null]],
  )
  await change({ trusted: true })
  assert.deepEqual(await trusted('&search=trust'), [second, first])
  await change({ trusted: false, offer_ids: [second] })
  assert.deepEqual(await trusted('&search=trust'), [first])
  await change({ trusted: false })
  assert.deepEqual(await trusted(), [])
  const missing = await change({ trusted: true, offer_ids: [999_999_999] })
  assert.equal(missing.status, 400)
  assert.match(missing.error.message, /no offer 999999999/)
  const entries = await auditOf(appId, 'app.')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['app.trust', 'app.trust', 'app.trust', 'app.distrust', 'app.distrust'],
  )
})

test('publishers see none of this, and who may only look changes none of it', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const owner = await visit(world, 'publisher_owner', publisherId)
  for (const path of ['/publishers', `/publishers/${publisherId}`, `/apps/${appId}/trust`])
    assert.equal((await owner.get(path)).status, 404, path)
  const writes = [
    ['POST', '/publishers', { name: 'Mine' }],
    ['PATCH', `/publishers/${publisherId}`, { email: null }],
    ['PUT', `/apps/${appId}/rate-limit`, { rate_limit: 1000 }],
    ['POST', `/apps/${appId}/trust`, { trusted: true }],
  ] as const
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.get(`/publishers/${publisherId}`)).status, 200)
  for (const [method, path, body] of writes) {
    assert.equal((await owner.send(method, path, body)).status, 404, path)
    assert.equal((await reader.send(method, path, body)).status, 403, path)
  }
})
