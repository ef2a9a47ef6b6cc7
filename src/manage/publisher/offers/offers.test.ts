import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { addClicks, addConversions } from '../../../../test/seed-rows.ts'
import { rollUpStats } from '../../../features/reports/rollup.ts'
import { setOfferStatus } from '../../../features/offers/offers.ts'
import type { AppOfferList, AppOfferReply, ContentRules } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('manage_app_offers')
type List = Static<typeof AppOfferList>
type Details = Static<typeof AppOfferReply>
type Rules = Static<typeof ContentRules>
type Why = { visible: boolean; reasons: { code: string; message: string }[] }

/** An app, and a member of its publisher. */
async function createOwned() {
  const made = await world.createApp()
  const publisherId = await publisherOfApp(world, made.appId)
  return {
    ...made,
    publisherId,
    base: `/apps/${made.appId}`,
    visitor: await visit(world, 'publisher_developer', publisherId),
  }
}

let count = 0
/** A word that no other offer of this file has. */
const word = () => `Zebra${count++}x`

test('the offers are those that v1 gives the same user, without links', async () => {
  const { base, visitor, live } = await createOwned()
  await world.createOffers({ name: 'One', countries: ['SE'], payout: '2.5' }, { name: 'Two', platforms: ['ios'] })
  for (const query of ['limit=100', 'limit=100&country=se', 'limit=2&offset=1&sort=payout_desc', 'platform=ios']) {
    const { data, text } = await visitor.get<List>(`${base}/offers?user_id=u&${query}`)
    const v1 = (await world.get(`/v1/offers?userId=u&${query}`, live)).body.data
    const offers = v1.offers.map(({ link: _link, ...offer }) => offer)
    assert.deepEqual(data, { ...v1, offers })
    assert.ok(offers.length > 0)
    assert.doesNotMatch(text, /\/c\/\d/)
  }
})

test('a search finds offers by name, description and id, page by page', async () => {
  const { base, visitor } = await createOwned()
  const unique = word()
  const [first = 0, second = 0, third = 0] = await world.createOffers(
    { name: `Play ${unique}`, payout: '1' },
    { description: `With ${unique.toUpperCase()} inside`, payout: '2' },
    { name: 'Nothing of it' },
  )
  const idsOf = async (query: string) => {
    const { data } = await visitor.get<List>(`${base}/offers?sort=payout_desc&${query}`)
    return { ids: data.offers.map(({ offer_id }) => offer_id), total: data.total, more: data.has_more }
  }
  assert.deepEqual(await idsOf(`search=${unique}`), { ids: [second, first], total: 2, more: false })
  assert.deepEqual(await idsOf(`search=${unique}&limit=1`), { ids: [second], total: 2, more: true })
  assert.deepEqual(await idsOf(`search=${unique}&limit=1&offset=1`), { ids: [first], total: 2, more: false })
  assert.ok((await idsOf(`search=${third}&limit=100`)).ids.includes(third))
  assert.deepEqual(await idsOf(`search=${unique}&category=game`), { ids: [], total: 0, more: false })
})

test('what a user has completed is not among their offers, in the mode where they did', async () => {
  const { base, visitor, live } = await createOwned()
  const unique = word()
  const [offerId = 0] = await world.createOffers({ name: unique })
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId)
  await world.app.refresh()
  const totalFor = async (query: string) =>
    (await visitor.get<List>(`${base}/offers?search=${unique}&${query}`)).data.total
  assert.equal(await totalFor('user_id=u'), 0)
  assert.equal(await totalFor('user_id=u&mode=test'), 1)
  assert.equal(await totalFor('user_id=somebody-else'), 1)
  assert.equal(await totalFor(''), 1)
  const why = await visitor.get<Why>(`${base}/offers/${offerId}/why?user_id=u`)
  assert.deepEqual(why.data.reasons, [{ code: 'completed', message: 'The user has completed the offer.' }])
})

test('offers come with the figures of this app, where they are asked for', async () => {
  const [own, other] = [await createOwned(), await createOwned()]
  const name = word()
  const [offerId = 0] = await world.createOffers({ name })
  const { db } = world.database
  const at = new Date(Date.now() - 2 * 86_400_000).toISOString()
  await addClicks(db, ...[own, own, other].map(({ appId }) => ({ appId, offerId, at })), { appId: own.appId, offerId, at, isTest: true }) // prettier-ignore
  await addConversions(db, { appId: own.appId, offerId, at, status: 'approved', payoutMicros: 3_000_000, revenueMicros: 5_000_000 }) // prettier-ignore
  const figuresOf = async ({ visitor, base }: typeof own, query = '&with=figures') =>
    (await visitor.get<List>(`${base}/offers?search=${name}${query}`)).data.offers.map(
      ({ figures: its }) => its && [its.clicks, its.conversion_rate, its.epc],
    )
  for (const _ of ['from rows', 'from rollups']) {
    assert.deepEqual(await figuresOf(own), [[2, 0.5, 1.5]])
    assert.deepEqual(await figuresOf(other), [[1, 0, 0]])
    await rollUpStats(db, new Date())
  }
  assert.deepEqual(await figuresOf(await createOwned()), [[0, null, null]])
  assert.deepEqual(await figuresOf(own, ''), [undefined])
})

test('in the order of the wall, offers say why they stand where they stand', async () => {
  const { base, visitor, live } = await createOwned()
  const name = word()
  const [pinned = 0, boosted = 0, excluded = 0, plain = 0] = await world.createOffers(
    { name, payout: '1', pin_position: 1 },
    { name, payout: '1', boost: 2 },
    { name, payout: '9', is_excluded: true },
    { name, payout: '2' },
  )
  const where = 'country=US&platform=ios'
  const { data } = await visitor.get<List>(`${base}/offers?search=${name}&sort=recommended&user_id=u&${where}`)
  const { body } = await world.app.server.inject({ url: `/wall/v1/offers?apiKey=${live.api_key}&userId=u&search=${name}&${where}` }) // prettier-ignore
  const onWall = (JSON.parse(body) as { data: { offers: { offer_id: number }[] } }).data.offers
  const ids = data.offers.map(({ offer_id }) => offer_id)
  assert.deepEqual(ids, onWall.map(({ offer_id }) => offer_id)) // prettier-ignore
  assert.deepEqual(ids, [pinned, boosted, plain, excluded])
  assert.deepEqual(data.offers.map(({ rank }) => rank?.reasons.map(({ code }) => code)), [['pinned'], ['boosted', 'new'], ['new'], ['excluded']]) // prettier-ignore
  assert.match(data.offers[0]?.rank?.reasons[0]?.message ?? '', /position 1\.$/)
  for (const { rank, payout } of data.offers)
    assert.ok(rank !== undefined && rank.expected_epc > 0 && rank.expected_epc <= payout && rank.clicks === 0)
  const one = await visitor.get<Details>(`${base}/offers/${boosted}`)
  assert.deepEqual(one.data.rank.reasons.map(({ code }) => code), ['boosted', 'new']) // prettier-ignore
  const other = await visitor.get<List>(`${base}/offers?search=${name}&sort=newest`)
  assert.ok(other.data.offers.every(({ rank }) => rank === undefined))
})

test('one offer has its goals, its reward and whether it can be seen', async () => {
  const { base, visitor } = await createOwned()
  const [offerId = 0, full = 0] = await world.createOffers(
    {
      payout: '3',
      goals: [
        { name: 'Install', payout: '1' },
        { name: 'Level 5', payout: '2' },
      ],
    },
    { name: 'Capped', total_click_cap: 1 },
  )
  const { data } = await visitor.get<Details>(`${base}/offers/${offerId}`)
  assert.deepEqual([data.offer.payout, data.offer.payout_local, data.offer.currency], [3, 300, 'Coins'])
  assert.deepEqual(data.offer.goals.map(({ name, payout_local }) => [name, payout_local]), [['Install', 100], ['Level 5', 200]]) // prettier-ignore
  assert.deepEqual([data.available, data.reasons, data.cap], [true, [], 'open'])
  await world.click(full, (await createOwned()).live)
  await world.app.refresh()
  const filled = await visitor.get<Details>(`${base}/offers/${full}`)
  assert.deepEqual([filled.data.available, filled.data.cap], [false, 'full'])
  const { rank: _rank, ...more } = filled.data
  assert.doesNotMatch(JSON.stringify(more), /click_cap|clicks/)
})

test('an offer that does not run is not listed, but its reasons are', async () => {
  const { base, visitor } = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  await setOfferStatus(world.database.db, TESTER, offerId, 'paused')
  await world.app.refresh()
  assert.equal((await visitor.get(`${base}/offers/${offerId}`)).status, 404)
  assert.equal((await visitor.get(`${base}/offers/999999999`)).status, 404)
  const { data } = await visitor.get<Why>(`${base}/offers/${offerId}/why?country=se&platform=web`)
  assert.deepEqual(data.reasons.map(({ code }) => code), ['paused']) // prettier-ignore
  assert.equal((await visitor.get(`${base}/offers/999999999/why`)).status, 404)
})

test('content rules hold from the next request on, say how many offers are left, and are in the audit log', async () => {
  const { base, visitor, live, appId, publisherId } = await createOwned()
  const unique = word()
  await world.createOffers({ name: `A game of ${unique}`, category: 'game' }, { name: `An app of ${unique}` })
  const before = (await visitor.get<Rules>(`${base}/content-rules`)).data
  assert.deepEqual([before.blocked_categories, before.blocked_keywords, before.payment_offers], [[], [], true])
  assert.equal(before.offers_left, before.offers_total)
  const changed = await visitor.put<Rules>(`${base}/content-rules`, {
    blocked_categories: [],
    blocked_keywords: [` ${unique} `, unique.toLowerCase(), ''],
    payment_offers: true,
  })
  assert.equal(changed.status, 200)
  assert.deepEqual(changed.data.blocked_keywords, [unique.toLowerCase()])
  assert.equal(changed.data.offers_left, before.offers_total - 2)
  const { offers } = (await world.get('/v1/offers?userId=u&limit=100', live)).body.data
  assert.ok(!offers.some(({ name }) => name.includes(unique)))
  const entries = await world.database.db.selectFrom('audit_log').select(['action', 'publisher_id', 'details']).where('action', '=', 'content_rules.change').where('subject', '=', String(appId)).execute() // prettier-ignore
  assert.deepEqual(entries, [
    {
      action: 'content_rules.change',
      publisher_id: publisherId,
      details: {
        before: { blockedCategories: [], blockedKeywords: [], paymentOffers: true },
        after: { blockedCategories: [], blockedKeywords: [unique.toLowerCase()], paymentOffers: true },
      },
    },
  ])
})

test('an offer that the app’s own rules exclude can be read, and says so', async () => {
  const { base, visitor } = await createOwned()
  const [offerId] = await world.createOffers({ payment_required: true })
  await visitor.put(`${base}/content-rules`, { blocked_categories: [], blocked_keywords: [], payment_offers: false })
  const { data } = await visitor.get<Details>(`${base}/offers/${offerId}`)
  assert.deepEqual([data.available, data.reasons.map(({ code }) => code)], [false, ['content']])
})

test('what cannot be is refused with what is wrong', async () => {
  const { base, visitor } = await createOwned()
  for (const [query, field] of [['country=XX', 'country'], ['platform=tv', 'platform'], ['limit=101', 'limit'], ['sort=best', 'sort'], ['mode=both', 'mode']]) {
    const { status, error } = await visitor.get(`${base}/offers?${query}`)
    assert.deepEqual([status, Object.keys(error.details ?? {})], [400, [field]])
  } // prettier-ignore
  assert.equal((await visitor.get(`${base}/offers/abc`)).status, 400)
  const rules = { blocked_categories: [], blocked_keywords: [], payment_offers: true }
  for (const wrong of [{ blocked_keywords: ['x'.repeat(101)] }, { blocked_keywords: Array.from({ length: 201 }, (_, i) => `k${i}`) }, { blocked_keywords: ['a\0b'] }]) {
    const { status, error } = await visitor.put(`${base}/content-rules`, { ...rules, ...wrong })
    assert.deepEqual([status, Object.keys(error.details ?? {})], [400, ['blocked_keywords']])
  } // prettier-ignore
  assert.equal((await visitor.put(`${base}/content-rules`, { ...rules, blocked_categories: ['cars'] })).status, 400)
})

test('no one sees the offers or rules of another publisher’s app, and a reader changes nothing', async () => {
  const { base } = await createOwned()
  const [offerId] = await world.createOffers({})
  const stranger = (await createOwned()).visitor
  const rules = { blocked_categories: [], blocked_keywords: [], payment_offers: true }
  for (const path of ['/offers', `/offers/${offerId}`, `/offers/${offerId}/why`, '/content-rules'])
    assert.equal((await stranger.get(base + path)).status, 404, path)
  assert.equal((await stranger.put(`${base}/content-rules`, rules)).status, 404)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.get(`${base}/offers`)).status, 200)
  assert.equal((await reader.put(`${base}/content-rules`, rules)).status, 403)
})
