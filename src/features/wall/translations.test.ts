// Offers in the language of whoever looks: on the page, in its data, in what was started and earned, and in lockers.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { createLocker } from '../lockers/lockers.ts'
import type { LockerState } from '../lockers/schema.ts'
import type { Activity, WallOfferList } from './schema.ts'
import { signUser } from './signature.ts'
import type { WallTicket } from './ticket-schema.ts'

const world = useWorld('wall_translations')

const GERMAN = { name: 'Umfrage über Kaffee', description: 'Was trinkst du? </script>' }
const OFFER = {
  name: 'Coffee survey',
  description: 'What do you drink?',
  requirements: 'Adults only',
  payout: undefined,
  translations: { de: GERMAN, pl: { name: 'Ankieta' } },
  goals: [{ name: 'Finish', description: 'All of it', payout: '1', translations: { de: { name: 'Fertig werden' } } }],
}

type Shown = Static<typeof WallOfferList>['offers'][number]

async function ask<T>(path: string, query: Record<string, string>, headers: Record<string, string> = {}) {
  const url = `${path}?${new URLSearchParams(query).toString()}`
  const answer = await world.app.server.inject({ url, headers: { 'user-agent': BROWSER, ...headers } })
  const isJson = answer.headers['content-type']?.toString().startsWith('application/json') === true
  const data = isJson ? (JSON.parse(answer.body) as { data: T }).data : null
  return { status: answer.statusCode, etag: String(answer.headers.etag), body: answer.body, data }
}

const textsOf = ({ name, description, requirements, goals: [goal] }: Shown) =>
  [name, description, requirements, goal?.name, goal?.description] // prettier-ignore
const OWN = ['Coffee survey', 'What do you drink?', 'Adults only', 'Finish', 'All of it']
const IN_GERMAN = [GERMAN.name, GERMAN.description, 'Adults only', 'Fertig werden', 'All of it']

test('a wall shows what is translated in its language, and the rest as it is', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers(OFFER)
  const query = { apiKey: live.api_key, userId: 'ann', limit: '100' }
  const shown = async (more: Record<string, string>, headers = {}) => {
    const { data } = await ask<{ offers: Shown[] }>('/wall/v1/offers', { ...query, ...more }, headers)
    const found = data?.offers.find(({ offer_id }) => offer_id === offerId)
    assert.ok(found)
    return textsOf(found)
  }
  assert.deepEqual(await shown({}), OWN)
  assert.deepEqual(await shown({ lang: 'de-AT' }), IN_GERMAN)
  assert.deepEqual(await shown({}, { 'accept-language': 'de,en;q=0.5' }), IN_GERMAN)
  assert.deepEqual((await shown({ lang: 'pl' })).slice(0, 2), ['Ankieta', OWN[1]])
  assert.deepEqual(await shown({ lang: 'fr' }), OWN)
  assert.deepEqual(await shown({ lang: 'de', search: 'kaffee umfrage' }), IN_GERMAN, 'found by its translation')

  const { limit: _limit, ...opened } = query
  const { body } = await ask('/wall', { ...opened, lang: 'de' })
  const [, json = ''] = /id="offers">(.*?)<\/script>/.exec(body) ?? []
  const { offers } = JSON.parse(json) as { offers: Shown[] }
  assert.deepEqual(offers.filter(({ offer_id }) => offer_id === offerId).map(textsOf), [IN_GERMAN])

  const one = (lang: string) => ask<{ offer: Shown }>(`/wall/v1/offers/${offerId}`, { ...opened, lang })
  const [german, french] = [await one('de'), await one('fr')]
  assert.deepEqual([german.data?.offer, french.data?.offer].map((offer) => offer && textsOf(offer)), [IN_GERMAN, OWN]) // prettier-ignore
  assert.notEqual(german.etag, french.etag)
  assert.notEqual((await ask('/wall/v1/offers', { ...query, lang: 'de' })).etag, (await ask('/wall/v1/offers', query)).etag) // prettier-ignore

  const listed = await world.get(`/v1/offers/${offerId}?userId=ann`, live)
  assert.deepEqual([listed.body.data.offer.name, 'translations' in listed.body.data.offer], ['Coffee survey', false])
})

test('a translation that is changed, or removed, is so at the next look', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers(OFFER)
  const nameNow = async () => {
    const query = { apiKey: live.api_key, userId: 'ann', lang: 'de' }
    return (await ask<{ offer: Shown }>(`/wall/v1/offers/${offerId}`, query)).data?.offer.name
  }
  assert.equal(await nameNow(), GERMAN.name)
  await editOffer(world, offerId, () => ({ translations: '{"de":{"name":"Kaffee"}}' }))
  assert.equal(await nameNow(), 'Kaffee')
  await editOffer(world, offerId, () => ({ translations: '' }))
  assert.equal(await nameNow(), 'Coffee survey')
})

test('what was started, earned and asked about has the names of the language', async () => {
  const { live } = await world.createApp()
  const { api_key: apiKey } = live
  const goals = [...OFFER.goals, { name: 'More', payout: '1' }]
  const [offerId = 0] = await world.createOffers({ ...OFFER, goals })
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await world.confirm(offerId, clickId, { goal: 'Finish' })
  const expiresAtS = Math.floor(Date.now() / 1000) + 60
  const sig = signUser(live.signing_secret, { apiKey, userId: 'ann', expiresAtS })
  const user = { apiKey, userId: 'ann', exp: String(expiresAtS), sig }
  const url = `/wall/v1/tickets?${new URLSearchParams({ ...user, lang: 'de' }).toString()}`
  const payload = { key: randomUUID(), kind: 'question', offer_id: offerId, text: 'How?' }
  const { body } = await world.app.server.inject({ method: 'POST', url, payload, headers: { 'user-agent': BROWSER } })
  assert.equal((JSON.parse(body) as { data: { ticket: WallTicket } }).data.ticket.offer_name, GERMAN.name)
  const names = async (lang: string) => {
    const query = { ...user, lang }
    const { data } = await ask<Static<typeof Activity>>('/wall/v1/activity', query)
    const [{ offer_name, goals: steps }, item] = [data!.started[0]!, data!.items[0]!]
    const tickets = await ask<{ tickets: WallTicket[] }>('/wall/v1/tickets', query)
    return [
      offer_name,
      ...steps.map(({ name }) => name),
      item.offer_name,
      item.goal_name,
      tickets.data?.tickets[0]?.offer_name,
    ]
  }
  assert.deepEqual(await names('de'), [GERMAN.name, 'Fertig werden', 'More', GERMAN.name, 'Fertig werden', GERMAN.name])
  assert.deepEqual(await names('en'), ['Coffee survey', 'Finish', 'More', 'Coffee survey', 'Finish', 'Coffee survey'])
})

test('a blocked word keeps an offer away also where only a translation has it', async () => {
  const { live } = await world.createApp({ blockedKeywords: ['kaffee'] })
  const [offerId = 0, other = 0] = await world.createOffers(OFFER, { name: 'Tea' })
  const { data } = await ask<{ offers: Shown[] }>('/wall/v1/offers', { apiKey: live.api_key, userId: 'ann', limit: '100' }) // prettier-ignore
  const isShown = (id: number) => data?.offers.some(({ offer_id }) => offer_id === id)
  assert.deepEqual([isShown(offerId), isShown(other)], [false, true])
})

test('a locker shows its offers in the language of its page', async () => {
  const { appId } = await world.createApp()
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker' })
  const [offerId = 0] = await world.createOffers(OFFER)
  const shown = async (payload: object, headers = {}) => {
    const url = `/locker/v1/lockers/${lockerId}/visits`
    const { body } = await world.app.server.inject({ method: 'POST', url, payload, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
    const { data } = JSON.parse(body) as { data: LockerState }
    return data.offers.find(({ offer_id }) => offer_id === offerId)?.name
  }
  assert.equal(await shown({}), 'Coffee survey')
  assert.equal(await shown({ lang: 'de' }), GERMAN.name)
  assert.equal(await shown({}, { 'accept-language': 'pl' }), 'Ankieta')
})
