// The operator's offers, through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { publisherOfApp, visit, Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import type { OfferHistory, OfferPage, ShownOffer } from './schema.ts'

type History = Static<typeof OfferHistory>

let operator: Visitor
const world = useWorld('manage_offers', async () => {
  operator = await visit(world, 'operator')
})

const show = async (offerId: number) => (await operator.get<ShownOffer>(`/offers/${offerId}`)).data
const history = async (offerId: number) => (await operator.get<History>(`/offers/${offerId}/history`)).data.changes

/** What the form sends back: what was shown, but for what only the server knows. */
function formOf(offer: ShownOffer) {
  const known = [
    'offer_id',
    'advertiser_id',
    'advertiser',
    'external_id',
    'state',
    'created_at',
    'updated_at',
    'behind_offer_id',
    'waiting_proposal_id',
    'is_out_of_budget',
    'usage',
    'warnings',
  ]
  const fields = Object.fromEntries(Object.entries(offer).filter(([name]) => !known.includes(name)))
  const goals = offer.goals.map(({ goal_id: _id, ...goal }) => goal)
  return { ...fields, goals }
}

async function createAdvertiser(name: string): Promise<number> {
  return (await operator.post<{ advertiser_id: number }>('/advertisers', { name })).data.advertiser_id
}

const FULL = {
  name: 'Castle of Mirrors',
  description: 'Build it.',
  category: 'game',
  countries: ['DE', 'US'],
  platforms: ['android'],
  destination_url: 'https://ads.example.com/?c={click_id}',
  image_url: '/pictures/game-1.svg',
  difficulty: 'hard',
  time_estimate: '3 days',
  language: 'de',
  requirements: 'New users only',
  payment_required: true,
  conversion_type: 'cpe',
  goals: [
    { name: 'Install', description: 'Open it', payout: 0.5, revenue: 1 },
    { name: 'Buy', payout: '1', payout_percent: 10, is_repeatable: true, is_optional: true },
  ],
  starts_at: '2026-01-01T00:00:00Z',
  ends_at: '2099-01-01T00:00:00Z',
  attribution_window: '14d',
  hold: '36h',
  over_cap: 'reject',
  daily_click_cap: 100,
  total_payout_cap: '2500.50',
}

test('an offer is created, shown, and seen by publishers at once', async () => {
  const advertiser_id = await createAdvertiser('Maker')
  const made = await operator.post<{ offer_id: number }>('/offers', { advertiser_id, external_id: 'castle', ...FULL })
  assert.equal(made.status, 200, made.text)
  const offer = await show(made.data.offer_id)
  assert.partialDeepStrictEqual(offer, {
    ...FULL,
    goals: [
      { name: 'Install', payout: 0.5, revenue: 1, is_optional: false, payout_percent: null },
      { name: 'Buy', payout: 1, revenue: 1, is_optional: true, is_repeatable: true, payout_percent: 10 },
    ],
    starts_at: '2026-01-01T00:00:00.000Z',
    ends_at: '2099-01-01T00:00:00.000Z',
    advertiser: 'Maker',
    external_id: 'castle',
    payout: 1.5,
    revenue: 2,
    status: 'active',
    state: 'active',
    total_payout_cap: 2500.5,
    total_click_cap: null,
  })
  assert.deepEqual(offer.usage, {
    full: 'no',
    today: { clicks: 0, conversions: 0, payout: 0, revenue: 0 },
    total: { clicks: 0, conversions: 0, payout: 0, revenue: 0 },
  })
  const { live } = await world.createApp()
  assert.equal((await world.get(`/v1/offers/${offer.offer_id}?userId=u`, live)).body.data.offer.name, FULL.name)
})

test('problems of an offer are reported by field, goals included, and nothing is created', async () => {
  const advertiser_id = await createAdvertiser('Wrong')
  const { status, error } = await operator.post('/offers', {
    advertiser_id,
    external_id: 'w',
    name: ' ',
    category: 'music',
    destination_url: 'javascript:alert(1)',
    goals: [{ name: 'One', payout: 1 }, { name: '', payout: -2, is_optional: true }],
    countries: ['XX'],
    hold: 'long',
    daily_click_cap: 0,
  }) // prettier-ignore
  assert.equal(status, 400)
  assert.deepEqual(Object.keys(error.details ?? {}).toSorted(), [
    'category',
    'countries',
    'daily_click_cap',
    'destination_url',
    'goals.1.name',
    'goals.1.payout',
    'hold',
    'name',
  ])
  assert.equal(error.details?.['category'], 'Category must be one of survey, app, game, video.')
  const types = await operator.post('/offers', { advertiser_id: 'x', external_id: 'w', name: 5 })
  assert.deepEqual(Object.keys(types.error.details ?? {}).toSorted(), ['advertiser_id', 'name'])
  const unknown = await operator.post('/offers', { advertiser_id, external_id: 'w', ...FULL, colour: 'red' })
  assert.match(unknown.error.details?.['colour'] ?? '', /not a parameter/)
  const image_url = `/images/${'0'.repeat(32)}.png`
  const unstored = await operator.post('/offers', { advertiser_id, external_id: 'w', ...FULL, image_url })
  assert.deepEqual([unstored.status, unstored.error.details], [400, { image_url: 'There is no such image on this server. Upload it again.' }]) // prettier-ignore
  const nobody = await operator.post('/offers', { advertiser_id: 987654, external_id: 'w', ...FULL })
  assert.match(nobody.error.details?.['advertiser_id'] ?? '', /No advertiser/)
  const { data } = await operator.get<Static<typeof OfferPage>>(`/offers?advertiser_id=${advertiser_id}`)
  assert.deepEqual(data.offers, [])
})

test('an external id that is taken is refused, and the offer that has it stays as it is', async () => {
  const advertiser_id = await createAdvertiser('Taken')
  const make = (name: string) => operator.post<{ offer_id: number }>('/offers', { advertiser_id, external_id: 'x', ...FULL, name }) // prettier-ignore
  const { data } = await make('First')
  const second = await make('Second')
  assert.equal(second.status, 409)
  assert.match(second.error.details?.['external_id'] ?? '', new RegExp(`Offer ${data.offer_id} `))
  assert.equal((await show(data.offer_id)).name, 'First')
  assert.deepEqual((await history(data.offer_id)).map(({ action }) => action), ['offer.create']) // prettier-ignore
})

test('what was shown can be sent back and changes nothing; a change is kept with before and after', async () => {
  const [offerId = 0] = await world.createOffers({ ...FULL, payout: undefined })
  const offer = await show(offerId)
  const same = await operator.put<ShownOffer>(`/offers/${offerId}`, formOf(offer))
  assert.equal(same.status, 200, same.text)
  assert.deepEqual(same.data, offer)
  assert.deepEqual(await history(offerId), [])
  const changed = await operator.put<ShownOffer>(`/offers/${offerId}`, {
    ...formOf(offer),
    payout: undefined,
    revenue: undefined,
    name: 'Castle of Glass',
    goals: [{ name: 'Install', payout: 2 }],
    daily_click_cap: null,
    seen_updated_at: offer.updated_at,
  })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.data.name, 'Castle of Glass')
  assert.deepEqual(changed.data.goals.map(({ goal_id }) => goal_id), [offer.goals[0]?.goal_id]) // prettier-ignore
  const [entry] = await history(offerId)
  assert.equal(entry?.action, 'offer.change')
  const fields = new Map(entry?.fields.map(({ field, before, after }) => [field, [before, after]]))
  assert.deepEqual([...fields.keys()].toSorted(), ['daily_click_cap', 'goals', 'name', 'payout'])
  assert.deepEqual(fields.get('name'), ['Castle of Mirrors', 'Castle of Glass'])
  assert.deepEqual(fields.get('payout'), [1.5, 2])
  const bad = await operator.put(`/offers/${offerId}`, { ...formOf(offer), name: '' })
  assert.deepEqual([bad.status, Object.keys(bad.error.details ?? {})], [400, ['name']])
})

test('saving over another person’s change is refused, and says so', async () => {
  const [offerId = 0] = await world.createOffers({})
  const offer = await show(offerId)
  const answer = await operator.put(`/offers/${offerId}`, {
    ...formOf(offer),
    name: 'Mine',
    seen_updated_at: '2026-01-01T00:00:00Z',
  })
  assert.equal(answer.status, 409)
  assert.equal((await show(offerId)).name, offer.name)
})

test('an offer is paused, resumed and copied, and its history names the actor', async () => {
  const [offerId = 0] = await world.createOffers({ ...FULL, payout: undefined })
  const { live } = await world.createApp()
  const isSeen = async () => (await world.get(`/v1/offers/${offerId}?userId=u`, live)).status === 200
  for (const [verb, state] of [['pause', 'paused'], ['pause', 'paused'], ['resume', 'active']] as const) {
    assert.equal((await operator.post(`/offers/${offerId}/${verb}`)).status, 200)
    assert.equal((await show(offerId)).state, state)
    assert.equal(await isSeen(), state === 'active')
  } // prettier-ignore
  const changes = await history(offerId)
  assert.deepEqual(changes.map(({ action }) => action), ['offer.resume', 'offer.pause']) // prettier-ignore
  assert.match(changes[0]?.who ?? '', /@example\.com$/)
  assert.deepEqual(changes[1]?.fields, [{ field: 'status', before: 'active', after: 'paused' }])

  const copy = await operator.post<{ offer_id: number }>(`/offers/${offerId}/duplicate`, { external_id: 'copy' })
  const [original, copied] = [await show(offerId), await show(copy.data.offer_id)]
  assert.deepEqual(formOf(copied), { ...formOf(original), status: 'paused' })
  const again = await operator.post(`/offers/${offerId}/duplicate`, { external_id: 'copy' })
  assert.deepEqual([again.status, Object.keys(again.error.details ?? {})], [409, ['external_id']])
})

test('caps that are full are shown with what was used', async () => {
  const [offerId = 0] = await world.createOffers({ total_click_cap: 1 })
  const { live } = await world.createApp()
  await world.click(offerId, live)
  const offer = await show(offerId)
  assert.equal(offer.state, 'full')
  assert.equal(offer.usage?.full, 'for good')
  assert.equal(offer.usage?.total.clicks, 1)
})

test('those who only look change nothing, and publishers see nothing', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { appId } = await world.createApp()
  const reader = await visit(world, 'operator_reader')
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const reads = ['/offers', `/offers/${offerId}`, `/offers/${offerId}/history`]
  const writes: [string, string, object][] = [
    ['POST', '/offers', { advertiser_id: 1, external_id: 'x' }],
    ['PUT', `/offers/${offerId}`, FULL],
    ['POST', `/offers/${offerId}/pause`, {}],
    ['POST', `/offers/${offerId}/resume`, {}],
    ['POST', `/offers/${offerId}/duplicate`, { external_id: 'x' }],
    ['POST', '/offer-imports', { file_name: 'a', format: 'csv', content: '' }],
  ]
  for (const path of reads) {
    assert.equal((await reader.get(path)).status, 200, path)
    assert.equal((await owner.get(path)).status, 404, path)
  }
  for (const [method, path, body] of writes) {
    assert.equal((await reader.send(method, path, body)).status, 403, path)
    assert.equal((await owner.send(method, path, body)).status, 404, path)
  }
  assert.equal((await operator.get('/offers/999999999')).status, 404)
  assert.equal((await operator.post('/offers/999999999/pause')).status, 404)
})

test('a payout above the revenue is a warning in the answer, not a refusal', async () => {
  const goals = [{ name: 'A', payout: 2, revenue: 1.5 }]
  const advertiser_id = await createAdvertiser('Above')
  const body = { advertiser_id, external_id: 'above', ...FULL, goals }
  const made = await operator.post<{ offer_id: number; warnings: string[] }>('/offers', body)
  assert.equal(made.status, 200, made.text)
  assert.deepEqual(made.data.warnings, ['"A" pays 2.00 USD and earns 1.50 USD: the payout is above the revenue.'])
  assert.deepEqual((await show(made.data.offer_id)).warnings, made.data.warnings)
})

test("the advertiser's own id of a goal stays when it is left out, changes, and is cleared", async () => {
  const advertiser_id = await createAdvertiser('Clears')
  const goal = { name: 'A', payout: 1 }
  const put = async (goals: object[]) => {
    const answer = await operator.put(`/offers/${offer_id}`, { ...FULL, goals })
    assert.equal(answer.status, 200, answer.text)
    return (await show(offer_id)).goals.map(({ goal_id, external_id }) => [goal_id, external_id])
  }
  const body = { advertiser_id, external_id: 'clears', ...FULL, goals: [{ ...goal, external_id: 'a-1' }] }
  const { offer_id } = (await operator.post<{ offer_id: number }>('/offers', body)).data
  const [first] = (await show(offer_id)).goals
  assert.ok(first)
  assert.deepEqual(await put([goal]), [[first.goal_id, 'a-1']])
  assert.deepEqual(await put([{ ...goal, external_id: null }]), [[first.goal_id, null]])
  assert.deepEqual(await put([{ ...goal, external_id: 'a-2' }]), [[first.goal_id, 'a-2']])
  assert.deepEqual(await put([{ ...goal, external_id: '' }]), [[first.goal_id, null]])
})
