// The operator's list of offers: what finds an offer in it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { visit, type Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import type { OfferPage, ShownOffer } from './schema.ts'

type Page = Static<typeof OfferPage>

let operator: Visitor
const world = useWorld('manage_offer_list', async () => {
  operator = await visit(world, 'operator')
})

test('offers are found by name, id, external id, status, advertiser and category, page by page, newest first', async () => {
  const ids = await world.createOffers(
    { name: 'Needle 100% one', external_id: 'ext-a' },
    { name: 'Needle 100x two', external_id: 'ext-b', status: 'paused' },
    { name: 'Hay', external_id: 'needle_c', category: 'survey' },
    { name: 'Later', starts_at: '2099-01-01', external_id: 'd' },
    { name: 'Over', ends_at: '2020-01-01', external_id: 'e' },
  )
  const { advertiser_id } = (await operator.get<ShownOffer>(`/offers/${ids[0]}`)).data
  const found = async (query: string) => {
    const { data, text } = await operator.get<Page>(`/offers?advertiser_id=${advertiser_id}&${query}`)
    return data?.offers.map(({ offer_id }) => ids.indexOf(offer_id)) ?? text
  }
  assert.deepEqual(await found(''), [4, 3, 2, 1, 0])
  assert.deepEqual(await found('search=nEEdle'), [2, 1, 0])
  assert.deepEqual(await found('search=100%25'), [0], 'a percent sign is one')
  assert.deepEqual(await found('search=needle_'), [2], 'so is a _')
  assert.deepEqual(await found('search=ext-b'), [1])
  assert.ok((await found(`search=${ids[3]}`)).includes(3))
  assert.deepEqual(await found('status=paused'), [1])
  assert.deepEqual(await found('category=survey'), [2])
  const first = await operator.get<Page>(`/offers?advertiser_id=${advertiser_id}&limit=2`)
  assert.equal(first.data.offers.length, 2)
  assert.deepEqual(await found(`limit=2&cursor=${first.data.next_cursor}`), [2, 1])
  const states = (await operator.get<Page>(`/offers?advertiser_id=${advertiser_id}`)).data.offers.map(({ state }) => state) // prettier-ignore
  assert.deepEqual(states, ['ended', 'scheduled', 'active', 'paused', 'active'])
  assert.equal((await operator.get('/offers?status=gone')).status, 400)
  assert.equal((await operator.get('/offers?cursor=x')).status, 400)
})
