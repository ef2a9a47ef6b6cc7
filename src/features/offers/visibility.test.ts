import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'

const DAY_MS = 86_400_000

let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('visibility', async () => {
  ;({ live, test: testMode } = await world.createApp())
})

type Why = { offer_id: number; visible: boolean; reasons: { code: string; message: string }[] }

async function why(offerId: number | string, query = '', credentials = live) {
  const { status, body } = await world.get(`/v1/offers/${offerId}/why?userId=u${query}`, credentials)
  const data = body.data as unknown as Why | undefined
  return { status, codes: data?.reasons.map(({ code }) => code), data, body }
}

async function createOffer(more: Record<string, unknown> = {}): Promise<number> {
  const [offerId = 0] = await world.createOffers(more)
  return offerId
}

const at = (ms: number) => new Date(Date.now() + ms).toISOString()

test('an offer that the user sees has no reasons', async () => {
  const offerId = await createOffer({ countries: ['SE'], platforms: ['ios'] })
  const { status, data, body } = await why(offerId, '&country=se&platform=ios')
  assert.equal(status, 200)
  assert.deepEqual(data, { offer_id: offerId, visible: true, reasons: [] })
  assert.equal(body.message, 'The user sees this offer.')
  assert.deepEqual((await why(offerId)).codes, [], 'what is not given is not a reason')
})

test('every reason is reported by itself, and then the offer is in no list', async () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ['paused', { status: 'paused' }, ''],
    ['not_started', { starts_at: at(DAY_MS) }, ''],
    ['ended', { ends_at: at(-DAY_MS) }, ''],
    ['country', { countries: ['SE'] }, '&country=NO'],
    ['platform', { platforms: ['android'] }, '&platform=web'],
  ]
  for (const [code, more, query] of cases) {
    const offerId = await createOffer(more)
    const { codes, data, body } = await why(offerId, query)
    assert.deepEqual(codes, [code])
    assert.equal(data?.visible, false)
    assert.match(data?.reasons[0]?.message ?? '', /^[A-Z].*\.$/)
    assert.equal(body.message, data?.reasons[0]?.message)
    const list = await world.get(`/v1/offers?userId=u&limit=100${query}`, live)
    assert.ok(!list.body.data.offers.some((offer) => offer.offer_id === offerId))
  }
})

test('an offer that reached its cap says so', async () => {
  const offerId = await createOffer({ total_click_cap: 1 })
  await world.click(offerId, live)
  await world.app.refresh()
  assert.deepEqual((await why(offerId)).codes, ['full'])
})

test('an app’s content rules are a reason for that app', async () => {
  const strict = await world.createApp({
    blockedKeywords: ['casino'],
    blockedCategories: ['game'],
    paymentOffers: false,
  })
  for (const more of [{ name: 'Casino' }, { category: 'game' }, { payment_required: true }]) {
    const offerId = await createOffer(more)
    assert.deepEqual((await why(offerId, '', strict.live)).codes, ['content'])
    assert.deepEqual((await why(offerId)).codes, [])
  }
})

test('a completed offer is hidden from that user, in that mode', async () => {
  const offerId = await createOffer()
  await world.report(live, { userId: 'u', offerId })
  await world.app.refresh()
  assert.deepEqual((await why(offerId)).codes, ['completed'])
  assert.deepEqual((await why(offerId, '', testMode)).codes, [])
})

test('all reasons are reported at once', async () => {
  const { db } = world.database
  const app = await world.createApp()
  const offerId = await createOffer({ category: 'survey', countries: ['SE'], platforms: ['ios'] })
  await world.report(app.live, { userId: 'u', offerId })
  const tomorrow = new Date(Date.now() + DAY_MS)
  await db
    .updateTable('apps')
    .set({ blocked_categories: ['survey'] })
    .where('app_id', '=', app.appId)
    .execute()
  await db
    .updateTable('offers')
    .set({ status: 'paused', starts_at: tomorrow, full_until: tomorrow })
    .where('offer_id', '=', offerId)
    .execute()
  await world.app.refresh()
  const { codes, body, data } = await why(offerId, '&country=NO&platform=web', app.live)
  assert.deepEqual(codes, ['paused', 'not_started', 'full', 'country', 'platform', 'content', 'completed'])
  assert.equal(body.message, data?.reasons.map(({ message }) => message).join(' '))
})

test('an unknown offer is 404, whatever its ID looks like', async () => {
  for (const id of ['999999999', '0', '-1', '1e3', 'abc', `${10n ** 20n}`, '%20', '%F0%9F%98%80']) {
    const { status, body } = await why(id)
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'], id)
  }
})

test('bad parameters: 400, all of them named; no credentials: 401', async () => {
  const offerId = await createOffer()
  const { status, body } = await world.get(`/v1/offers/${offerId}/why?country=XX&platform=mobile`, live)
  assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'])
  assert.deepEqual(Object.keys(body.error.details ?? {}).toSorted(), ['country', 'platform', 'userId'])
  assert.equal((await world.get(`/v1/offers/${offerId}/why?userId=a&userId=b`, live)).status, 400)
  assert.equal((await world.get(`/v1/offers/${offerId}/why?userId=${'x'.repeat(257)}`, live)).status, 400)
  assert.equal((await world.get(`/v1/offers/${offerId}/why?userId=u`)).status, 401)
})
