import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { createPerson, visit, Visitor } from '../../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { createPublisher } from '../../../features/accounts/publishers.ts'
import { createApp } from '../../../features/apps/apps.ts'
import type { App, AppList, Checklist, IssuedApp, Overview } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('manage_apps')
const { createOwned, auditOf } = createOwnedApps(world)
let count = 0
const NEW = { name: 'My game', currency: 'Gems', rate: 12.5 }

const newPublisher = async () =>
  (await createPublisher(world.database.db, TESTER, `Apps publisher ${count++}`)).publisher_id
test('an owner creates an app, whose keys work at once and whose secrets are shown only then', async () => {
  const publisherId = await newPublisher()
  const { email } = await createPerson(world, 'publisher_owner', publisherId)
  const owner = await new Visitor(world).signIn(email)
  const made = await owner.post<Static<typeof IssuedApp>>(`/publishers/${publisherId}/apps`, NEW)
  const { app_id, live, test: testKeys } = made.data
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', testKeys)).status, 200)
  const list = await owner.get<Static<typeof AppList>>(`/publishers/${publisherId}/apps`)
  assert.deepEqual(
    list.data.apps.map((app) => ({ ...app, created_at: null })),
    [
      {
        app_id,
        publisher_id: publisherId,
        name: 'My game',
        currency: 'Gems',
        rate: 12.5,
        created_at: null,
        revoked_at: null,
      },
    ],
  )
  const shown = await owner.get<Static<typeof App>>(`/apps/${app_id}`)
  assert.deepEqual(
    shown.data.credentials.map(({ mode, api_key, secrets }) => [mode, api_key, secrets.length]),
    [
      ['live', live.api_key, 1],
      ['test', testKeys.api_key, 1],
    ],
  )
  for (const secret of [live.api_secret, live.signing_secret, testKeys.api_secret, testKeys.signing_secret])
    assert.ok(!shown.text.includes(secret))
  assert.deepEqual(await auditOf(app_id), [
    { action: 'app.create', who: email, publisher_id: publisherId, details: NEW },
  ])
})

test('a publisher has a hundred apps at most, however many are created at once', async () => {
  const publisherId = await newPublisher()
  const owner = await visit(world, 'publisher_owner', publisherId)
  const path = `/publishers/${publisherId}/apps`
  for (let i = 0; i < 99; i++)
    await createApp(world.database.db, TESTER, SECRET_KEY, {
      publisherId,
      name: `App ${i}`,
      currency: 'Gems',
      rateMicros: 1_000_000,
      rateLimit: 100,
      expiresAt: null,
      blockedCategories: [],
      blockedKeywords: [],
      paymentOffers: true,
    })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => owner.post(path, { ...NEW, name: `Late ${i}` })),
  )
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  const refused = answers.filter(({ status }) => status !== 200)
  for (const { status, error } of refused)
    assert.deepEqual([status, /can have 100 apps/.test(error.message)], [409, true])
  assert.equal((await owner.get<Static<typeof AppList>>(path)).data.apps.length, 100)
})

test('an app that cannot be is refused with what is wrong, by field', async () => {
  const publisherId = await newPublisher()
  const owner = await visit(world, 'publisher_owner', publisherId)
  const path = `/publishers/${publisherId}/apps`
  const wrong = await owner.post(path, { name: ' ', currency: 'x'.repeat(41), rate: 0 })
  assert.equal(wrong.status, 400)
  assert.deepEqual(Object.keys(wrong.error.details ?? {}), ['name', 'currency', 'rate'])
  for (const [rate, problem] of [
    [0, 'a number above 0.'],
    [-1, 'a number above 0.'],
    [0.00001, 'below 1,000,000,000 and have at most 4 decimals.'],
    [1e12, 'below 1,000,000,000 and have at most 4 decimals.'],
  ] as const) {
    const { status, error } = await owner.post(path, { ...NEW, rate })
    assert.deepEqual([status, error.details?.['rate']], [400, `rate must be ${problem}`])
  }
  assert.equal((await owner.post(path, { ...NEW, name: '  ' })).error.details?.['name'], 'name must not be blank.')
  assert.equal((await owner.post(path, NEW)).status, 200)
  const twice = await owner.post(path, NEW)
  assert.deepEqual([twice.status, twice.error.message], [400, 'This publisher already has an app "My game".'])
})

test('a change of name, currency and rate is seen by the next request', async () => {
  const { base, visitor, live, appId } = await createOwned()
  const [offerId] = await world.createOffers({ payout: '1.5' })
  assert.equal((await visitor.patch(base, { name: 'New name' })).status, 200)
  assert.equal((await visitor.put(`${base}/currency`, { currency: 'Points', rate: 2 })).status, 200)
  const { offer } = (await world.get(`/v1/offers/${offerId}?userId=u`, live)).body.data
  assert.deepEqual([offer.currency, offer.payout_local], ['Points', 3])
  const { data } = await visitor.get<Static<typeof App>>(base)
  assert.deepEqual([data.name, data.currency, data.rate], ['New name', 'Points', 2])
  assert.equal((await visitor.put(`${base}/currency`, { currency: 'Points', rate: 0 })).status, 400)
  assert.deepEqual(
    (await auditOf(appId)).map(({ action, details }) => [action, details]),
    [
      ['app.change', { name: 'New name', before: { name: 'App', currency: 'Coins', rate: 100 } }],
      ['app.change', { currency: 'Points', rate: 2, before: { name: 'New name', currency: 'Coins', rate: 100 } }],
    ],
  )
})

test('today’s figures and postbacks are counted in the time zone that is asked for', async () => {
  const { base, visitor, live } = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId)
  const { data } = await visitor.get<Static<typeof Overview>>(`${base}/overview?timezone=Asia/Tokyo`)
  assert.deepEqual([data.today.clicks, data.today.approved, data.today.payout], [1, 1, 1])
  assert.deepEqual(data.week, data.today)
  assert.deepEqual([data.postbacks.is_set, data.postbacks.queued], [false, 0])
  const wrong = await visitor.get(`${base}/overview?timezone=Nowhere`)
  assert.deepEqual([wrong.status, Object.keys(wrong.error.details ?? {})], [400, ['timezone']])
})

test('developers change no secrets and no rate, readers nothing, and others see nothing', async () => {
  const { base, appId, publisherId } = await createOwned()
  const member = await visit(world, 'publisher_developer', publisherId)
  const reader = await visit(world, 'operator_reader')
  const stranger = await visit(world, 'publisher_owner', await newPublisher())
  const grace = { grace_hours: 0 }
  const owned: [string, string, unknown][] = [
    ['POST', `/publishers/${publisherId}/apps`, NEW],
    ['POST', `${base}/credentials/live/rotate`, grace],
    ['POST', `${base}/credentials/live/end-old-secret`, {}],
    ['POST', `${base}/credentials/live/signing-secret/rotate`, grace],
    ['PUT', `${base}/credentials/live/expiry`, {}],
    ['POST', `${base}/revoke`, {}],
    ['POST', `${base}/credentials/live/revoke`, {}],
    ['PUT', `${base}/currency`, { currency: 'Points', rate: 2 }],
  ]
  for (const [method, path, body] of owned) assert.equal((await member.send(method, path, body)).status, 403, path)
  for (const [method, path, body] of [...owned, ['PATCH', base, { name: 'x' }] as const]) {
    assert.equal((await reader.send(method, path, body)).status, 403, path)
    assert.equal((await stranger.send(method, path, body)).status, 404, path)
  }
  for (const path of [`/publishers/${publisherId}/apps`, base, `${base}/checklist`, `${base}/overview`]) {
    assert.equal((await member.get(path)).status, 200, path)
    assert.equal((await reader.get(path)).status, 200, path)
    assert.equal((await stranger.get(path)).status, 404, path)
  }
  assert.deepEqual(await auditOf(appId), [])
})

test('the checklist knows whether the publisher has seen a secret, not whether the operator has', async () => {
  const { base, visitor, publisherId } = await createOwned()
  const isDone = async (path: string) =>
    (await visitor.get<Static<typeof Checklist>>(path)).data.steps[0]?.done_at !== null
  assert.equal(await isDone(`${base}/checklist`), false) // made by the command line
  const operator = await visit(world, 'operator')
  const made = await operator.post<Static<typeof IssuedApp>>(`/publishers/${publisherId}/apps`, NEW)
  assert.equal(await isDone(`/apps/${made.data.app_id}/checklist`), false)
  await visitor.post(`${base}/credentials/test/rotate`, { grace_hours: 0 })
  assert.equal(await isDone(`${base}/checklist`), true)
})
