// Reading conversions back: filters, pages, and whose they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { applyCommands } from './apply-commands.ts'

let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('conversions_list', async () => {
  ;({ live, test: testMode } = await world.createApp())
})

async function list(query: string, credentials = live) {
  const { status, body, text } = await world.get(`/v1/conversions?${query}`, credentials)
  assert.equal(status, 200, text)
  return body.data
}

const idsOf = async (query: string, credentials = live) =>
  (await list(query, credentials)).conversions.map((one) => one.conversion_id)

async function report(userId: string, offerId: number, credentials = live): Promise<string> {
  const { body } = await world.report(credentials, { userId, offerId })
  return body.data.conversion.conversion_id
}

test('the list is filtered by user, offer, state and time, newest first', async () => {
  const offers = await world.createOffers({}, { status: 'paused' })
  const [open = 0, paused = 0] = offers
  const ann = await report('ann', open)
  const bob = await report('bob', open)
  const rejected = await report('ann', paused)
  const mine = `offerId=${open}`
  assert.deepEqual(await idsOf(mine), [bob, ann])
  assert.deepEqual(await idsOf('userId=ann'), [rejected, ann])
  assert.deepEqual(await idsOf(`userId=ann&${mine}`), [ann])
  assert.deepEqual(await idsOf('userId=ann&status=rejected'), [rejected])
  assert.deepEqual(await idsOf('userId=ann&status=approved'), [])
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  assert.deepEqual(await idsOf(`${mine}&from=${anHourAgo}&to=${inAnHour}`), [bob, ann])
  assert.deepEqual(await idsOf(`${mine}&from=${inAnHour}`), [])
  assert.deepEqual(await idsOf(`${mine}&to=${anHourAgo}`), [])
  assert.deepEqual(await idsOf(`${mine}&from=${anHourAgo.slice(0, 10)}`), [bob, ann], 'a date is its midnight in UTC')
})

test('from is the first moment that counts, to the first that does not', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { appId, live: own } = await world.createApp()
  const at = new Date('2026-03-01T12:00:00Z')
  const made = { kind: 'report', appId, isTest: false, userId: 'u', offerId, goalId: null } as const
  await applyCommands(world.database.db, [{ ...made, transactionId: null, idempotencyKey: null }], at)
  assert.equal((await idsOf('from=2026-03-01T12:00:00Z', own)).length, 1)
  assert.equal((await idsOf('from=2026-03-01T12:00:01Z', own)).length, 0)
  assert.equal((await idsOf('to=2026-03-01T12:00:00Z', own)).length, 0)
  assert.equal((await idsOf('to=2026-03-01T13:00:01%2B01:00', own)).length, 1)
})

test('pages walk over everything once, also while new ones come', async () => {
  const { live: own } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const before: string[] = []
  for (let i = 0; i < 7; i++) before.unshift(await report(`old ${i}`, offerId, own))
  const seen: string[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page = await list(`limit=3${cursor === null ? '' : `&cursor=${cursor}`}`, own)
    seen.push(...page.conversions.map((one) => one.conversion_id))
    cursor = page.next_cursor
    await report(`new ${pages++}`, offerId, own)
  } while (cursor !== null)
  assert.deepEqual(seen, before)
  assert.equal(pages, 3)
  assert.equal((await list('limit=10', own)).next_cursor, null, 'a page that is just full is the last')
})

test('limit is 20 by default and from 1 to 100; all problems are reported at once', async () => {
  const { live: own } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  await Promise.all(Array.from({ length: 21 }, (_, i) => report(`u${i}`, offerId, own)))
  assert.equal((await list('', own)).conversions.length, 20)
  assert.equal((await list('limit=100', own)).conversions.length, 21)
  const { status, body } = await world.get(
    '/v1/conversions?limit=101&status=done&offerId=x&from=yesterday&to=2026-02-30&userId=&cursor=',
    own,
  )
  assert.equal(status, 400)
  assert.deepEqual(Object.keys(body.error.details ?? {}).toSorted(), [
    'cursor',
    'from',
    'limit',
    'offerId',
    'status',
    'to',
    'userId',
  ])
  for (const limit of ['0', '-1', '1.5', ''])
    assert.equal((await world.get(`/v1/conversions?limit=${limit}`, own)).status, 400, limit)
})

test('a cursor that is none of ours is refused', async () => {
  for (const cursor of ['x', '1', "'%20OR%201=1", uuid7(Date.now()).slice(1), '%00']) {
    const { status, body } = await world.get(`/v1/conversions?cursor=${cursor}`, live)
    assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], cursor)
    assert.deepEqual(Object.keys(body.error.details ?? {}), ['cursor'])
  }
})

test('one conversion is read by its id, on both paths', async () => {
  const [offerId = 0] = await world.createOffers({})
  const made = (await world.report(live, { userId: 'one', offerId })).body.data.conversion
  for (const prefix of ['/v1', '/api/v1']) {
    const { status, body } = await world.get(`${prefix}/conversions/${made.conversion_id}`, live)
    assert.deepEqual([status, body.data.conversion], [200, made])
  }
})

test('the conversions of another app or mode are not visible', async () => {
  const { live: stranger } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const mine = await report('private', offerId)
  const tried = await report('private', offerId, testMode)
  assert.notEqual(mine, tried)
  assert.deepEqual(await idsOf('userId=private'), [mine])
  assert.deepEqual(await idsOf('userId=private', testMode), [tried])
  assert.deepEqual(await idsOf('userId=private', stranger), [])
  assert.deepEqual(await idsOf(`userId=private&cursor=${uuid7(Date.now() + 1000)}`, stranger), [])
  const foreign = [
    { id: mine, credentials: stranger },
    { id: mine, credentials: testMode },
    { id: tried, credentials: live },
    { id: uuid7(Date.now()), credentials: live },
    { id: 'nonsense', credentials: live },
    { id: '%00', credentials: live },
  ]
  for (const { id, credentials } of foreign) {
    const { status, body } = await world.get(`/v1/conversions/${id}`, credentials)
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    assert.deepEqual(body.error.details, { conversion_id: 'No conversion of this app has this ID.' })
  }
})
