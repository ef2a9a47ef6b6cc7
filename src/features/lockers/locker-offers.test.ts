// Which offers a locker shows, however many there are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { changeLocker, createLocker, takeDownLocker } from './lockers.ts'
import type { LockerInput, LockerState } from './schema.ts'

const world = useWorld('locker_offers')
const ANDROID =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36'

test('offers that fit are found behind any number of others that are recommended more', async () => {
  const { appId } = await world.createApp()
  const many = Array.from({ length: 1_200 }, (_, i) => ({ name: `Game ${i}`, category: 'game', payout: '9' }))
  const rare = { name: 'Tea', category: 'survey', payout: '0.05' }
  const ids = await world.createOffers(...many, rare, { ...rare, name: 'Clip', category: 'video', payout: '0.1' })
  const [tea = 0, clip = 0] = ids.slice(-2)
  const shown = async (input: Partial<LockerInput>) => {
    const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker', ...input })
    const answer = await world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: {}, headers: { 'user-agent': BROWSER } }) // prettier-ignore
    return (JSON.parse(answer.body) as { data: LockerState }).data.offers.map(({ offer_id }) => offer_id)
  }
  assert.equal((await shown({})).length, 20)
  assert.deepEqual(await shown({ categories: ['survey'] }), [tea])
  assert.deepEqual(
    (await shown({ categories: ['survey', 'video'] })).toSorted((a, b) => a - b),
    [tea, clip],
  )
  assert.deepEqual(await shown({ max_payout: 0.05 }), [tea])
  assert.deepEqual(await shown({ min_payout: 0.06, max_payout: 0.1 }), [clip])
  assert.deepEqual(await shown({ categories: ['app'] }), [])
})

test('where a locker has offers for other devices only, it says for which', async () => {
  const { appId } = await world.createApp()
  const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1' // prettier-ignore
  const seen = async (platforms: LockerInput['platforms'], agent: string) => {
    const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker', ...(platforms && { platforms }) }) // prettier-ignore
    const answer = await world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: {}, headers: { 'user-agent': agent } }) // prettier-ignore
    const { offers, only_on } = (JSON.parse(answer.body) as { data: LockerState }).data
    return [offers.length > 0, only_on]
  }
  assert.deepEqual(await seen(['ios', 'android'], BROWSER), [false, ['ios', 'android']])
  assert.deepEqual(await seen(['ios', 'android'], IPHONE), [true, null])
  assert.deepEqual(await seen(['android'], IPHONE), [false, ['android']])
  assert.deepEqual(await seen(['web'], IPHONE), [false, ['web']])
  for (const agent of [BROWSER, IPHONE]) assert.deepEqual(await seen([], agent), [true, null])
})

/** Follows a link as its visitor would, with another offer put into it. */
async function follow(link: string, offerId: number, agent = BROWSER): Promise<number> {
  const url = new URL(link).pathname.replace(/^\/c\/\d+\//, `/c/${offerId}/`)
  return (await world.app.server.inject({ url, headers: { 'user-agent': agent } })).statusCode
}

async function visit(lockerId: number, agent = BROWSER): Promise<LockerState> {
  const answer = await world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: {}, headers: { 'user-agent': agent } }) // prettier-ignore
  return (JSON.parse(answer.body) as { data: LockerState }).data
}

test('a link of a locker leads to no offer that the locker would not show', async () => {
  const { appId } = await world.createApp()
  const [dear = 0, second = 0, cheap = 0, other = 0] = await world.createOffers(
    { category: 'survey', payout: '5' },
    { category: 'survey', payout: '6' },
    { category: 'survey', payout: '0.01' },
    { category: 'video', payout: '5' },
  )
  const chosen: Partial<LockerInput> = { categories: ['survey'], min_payout: 2 }
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker', ...chosen })
  const { offers } = await visit(lockerId)
  const link = offers.find(({ offer_id }) => offer_id === dear)?.link ?? ''
  assert.deepEqual(
    [await follow(link, dear), await follow(link, second), await follow(link, cheap), await follow(link, other)],
    [302, 302, 403, 403],
  )
  const phones = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Phones', platforms: ['android'] }) // prettier-ignore
  const [first] = (await visit(phones, ANDROID)).offers
  assert.deepEqual(
    [await follow(first?.link ?? '', dear, ANDROID), await follow(first?.link ?? '', dear, BROWSER)],
    [302, 403],
  )
})

test('a locker that is closed meanwhile starts no more offers, as they would unlock nothing', async () => {
  const app = await world.createApp()
  const { db } = world.database
  const chosen: LockerInput = { name: 'Locker', categories: ['app'] }
  const [offerId = 0] = await world.createOffers({ category: 'app' })
  const lockerId = await createLocker(db, TESTER, world.config, app.appId, chosen)
  const of = { appId: app.appId, lockerId }
  const link = (await visit(lockerId)).offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
  await changeLocker(db, TESTER, world.config, of, { ...chosen, enabled: false })
  assert.equal(await follow(link, offerId), 403)
  await changeLocker(db, TESTER, world.config, of, chosen)
  assert.equal(await follow(link, offerId), 302)
  await takeDownLocker(db, TESTER, lockerId, { reason: 'Phishing' })
  assert.equal(await follow(link, offerId), 403)
})
