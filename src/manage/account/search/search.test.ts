import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { createPerson, createToken, visit, type Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { readPublisher } from '../../../features/accounts/publishers.ts'
import type { SearchResults } from './schema.ts'

const world = useWorld('manage_search')
const { createOwned } = createOwnedApps(world)
type Results = Static<typeof SearchResults>

async function find(visitor: Visitor, text: string, more = ''): Promise<Results> {
  const { status, data, error } = await visitor.get<Results>(`/search?q=${encodeURIComponent(text)}${more}`)
  assert.equal(status, 200, error?.message)
  return data
}
const conversionsOf = ({ conversions }: Results) => conversions.map(({ conversion_id, matched }) => [conversion_id, matched]) // prettier-ignore
const NOTHING = { publishers: [], advertisers: [], apps: [], offers: [], conversions: [] }

async function createConverted() {
  const owned = await createOwned()
  const name = `Quest ${owned.appId}`
  const [offerId = 0] = await world.createOffers({ name })
  const { clickId } = await world.click(offerId, owned.live, `userId=ann-${owned.appId}`)
  await world.confirm(offerId, clickId, { txn_id: `adv-${owned.appId}` })
  const { body } = await world.report(owned.test, { userId: `bob-${owned.appId}`, offerId, transactionId: 'order-1' })
  const reported = body.data.conversion.conversion_id
  const { conversion_id: confirmed } = await world.database.db.selectFrom('conversions').select('conversion_id').where('user_id', '=', `ann-${owned.appId}`).executeTakeFirstOrThrow() // prettier-ignore
  return { ...owned, name, offerId, reported, confirmed }
}

test('an operator finds publishers, advertisers, apps, offers and conversions of the network, by name and by ID', async () => {
  const { appId, publisherId, offerId, name, reported, confirmed } = await createConverted()
  const operator = await visit(world, 'operator_reader')
  const publisher = (await readPublisher(world.database.db, publisherId))?.name ?? ''
  const { publishers } = await find(operator, publisher.slice(1).toUpperCase())
  assert.deepEqual(publishers, [{ publisher_id: publisherId, name: publisher }])
  assert.equal((await find(operator, String(publisherId))).publishers[0]?.publisher_id, publisherId)
  const advertiser = await world.database.db.selectFrom('offers').innerJoin('advertisers as a', 'a.advertiser_id', 'offers.advertiser_id').select(['a.advertiser_id', 'a.name']).where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual((await find(operator, String(advertiser.advertiser_id))).advertisers[0], advertiser)
  assert.deepEqual((await find(operator, advertiser.name.slice(1).toUpperCase())).advertisers[0], advertiser)
  const [app] = (await find(operator, String(appId))).apps
  assert.deepEqual([app?.app_id, app?.publisher], [appId, publisher])
  assert.deepEqual((await find(operator, ` ${name} `)).offers, [{ offer_id: offerId, name, app_id: null }])
  assert.deepEqual(conversionsOf(await find(operator, confirmed)), [[confirmed, 'id']])
  assert.deepEqual(conversionsOf(await find(operator, `ann-${appId}`)), [[confirmed, 'user']])
  assert.deepEqual(conversionsOf(await find(operator, `adv-${appId}`)), [[confirmed, 'transaction']])
  const [first] = (await find(operator, 'order-1')).conversions
  assert.deepEqual([first?.conversion_id, first?.matched, first?.is_test, first?.offer], [reported, 'transaction', true, name]) // prettier-ignore
  assert.deepEqual(await find(operator, 'there is nothing of that name'), NOTHING)
})

test('the people of a publisher find only what is theirs, and no advertiser’s transaction', async () => {
  const [own, other] = [await createConverted(), await createConverted()]
  const viewer = await visit(world, 'publisher_viewer', own.publisherId)
  assert.deepEqual(conversionsOf(await find(viewer, 'order-1')), [[own.reported, 'transaction']])
  assert.deepEqual(conversionsOf(await find(viewer, own.confirmed)), [[own.confirmed, 'id']])
  assert.deepEqual(conversionsOf(await find(viewer, `bob-${own.appId}`)), [[own.reported, 'user']])
  for (const text of [other.confirmed, `ann-${other.appId}`, `adv-${own.appId}`])
    assert.deepEqual((await find(viewer, text)).conversions, [], text)
  const everything = await find(viewer, 'a')
  assert.deepEqual([everything.publishers, everything.apps.map(({ app_id }) => app_id)], [[], [own.appId]])
  assert.deepEqual((await find(viewer, String(other.appId))).apps, [])
  assert.equal((await viewer.get(`/search?q=x&app_id=${other.appId}`)).status, 404)
})

test('offers are found as the users of the app see them', async () => {
  const { visitor, base, appId, offerId, name } = await createConverted()
  const found = [{ offer_id: offerId, name, app_id: appId }]
  assert.deepEqual((await find(visitor, name.toLowerCase())).offers, found)
  assert.deepEqual((await find(visitor, String(offerId), `&app_id=${appId}`)).offers[0], found[0])
  await visitor.put(`${base}/content-rules`, { blocked_categories: [], blocked_keywords: ['Quest'], payment_offers: true }) // prettier-ignore
  assert.deepEqual((await find(visitor, name)).offers, [])
  assert.ok(!(await find(visitor, String(offerId))).offers.some(({ offer_id }) => offer_id === offerId))
})

test('offers are not found by their description', async () => {
  const { visitor } = await createOwned()
  const [offerId = 0] = await world.createOffers({
    name: 'Plain name',
    description: 'Unheard of words',
    external_id: 'ext-of-theirs',
  })
  const operator = await visit(world, 'operator')
  for (const finder of [visitor, operator]) {
    assert.deepEqual(
      (await find(finder, 'plain name')).offers.map(({ offer_id }) => offer_id),
      [offerId],
    )
    assert.deepEqual((await find(finder, 'unheard of')).offers, [])
  }
  assert.equal((await find(operator, 'ext-of-theirs')).offers[0]?.offer_id, offerId)
})

test('user and transaction IDs are found with the blanks around them, and without', async () => {
  const { live, visitor, appId } = await createOwned()
  const [offerId = 0] = await world.createOffers({})
  const report = async (userId: string, transactionId: string) =>
    (await world.report(live, { userId, offerId, transactionId })).body.data.conversion.conversion_id
  const bare = await report(`cleo-${appId}`, `t-${appId}`)
  const padded = await report(` cleo-${appId}`, ` t-${appId} `)
  for (const finder of [visitor, await visit(world, 'operator')]) {
    assert.deepEqual(conversionsOf(await find(finder, `cleo-${appId}`)), [[bare, 'user']])
    assert.deepEqual(conversionsOf(await find(finder, ` cleo-${appId}`)), [[padded, 'user'], [bare, 'user']])
    assert.deepEqual(conversionsOf(await find(finder, ` t-${appId} `)), [[padded, 'transaction'], [bare, 'transaction']])
  } // prettier-ignore
})

test('at most five of each kind come back, and text that matches patterns is taken literally', async () => {
  const { live, visitor } = await createOwned()
  const offers = await world.createOffers(...Array.from({ length: 7 }, (_, n) => ({ name: `Crowded ${n}` })))
  for (const offerId of offers) await world.report(live, { userId: 'busy', offerId })
  const { offers: shown } = await find(visitor, 'crowded')
  assert.deepEqual([shown.length, (await find(visitor, 'busy')).conversions.length], [5, 5])
  assert.deepEqual(await find(visitor, '%'), NOTHING)
})

test('a search is for the dashboard: without text, or with a token, there is none', async () => {
  const person = await createPerson(world, 'operator')
  const operator = await visit(world, 'operator')
  const blank = await operator.get('/search?q=%20')
  assert.deepEqual([blank.status, Object.keys(blank.error.details ?? {})], [400, ['q']])
  const program = await createToken(world, person.id, ['read'])
  assert.equal((await program.get('/search?q=x')).status, 403)
})
