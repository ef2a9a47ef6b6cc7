// Prices of goals that an advertiser proposes, and the payouts that it never sees.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { visit, type Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import type { ShownOffer } from '../../operator/offers/schema.ts'
import type { ReviewedProposal } from '../../operator/proposals/schema.ts'
import type { OwnProposal } from './schema.ts'

type Own = Static<typeof OwnProposal>
type Review = Static<typeof ReviewedProposal>

let operator: Visitor
const world = useWorld('proposed_prices', async () => {
  operator = await visit(world, 'operator')
})

async function createOwn(goals: object[]) {
  const [offerId = 0] = await world.createOffers({ goals, payout: undefined })
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const self = await visit(world, 'advertiser', { publisherId: null, advertiserId })
  return { offerId, self, path: `/advertisers/${advertiserId}/proposals` }
}

const show = async (offerId: number) => (await operator.get<ShownOffer>(`/offers/${offerId}`)).data
const review = async (id: number) => (await operator.get<Review>(`/offer-proposals/${id}`)).data
const approve = (id: number, body: object = {}) => operator.post(`/offer-proposals/${id}/approve`, body)
const refuse = (id: number) => operator.post(`/offer-proposals/${id}/refuse`, { reason: 'No.' })

test('a goal that changes between an amount and a percentage waits for its payout, and shows none of it', async () => {
  const percent = { name: 'Order', payout: 1, payout_percent: 11, revenue: 2, revenue_percent: 20 }
  const { offerId, self, path } = await createOwn([percent])
  const propose = async (goal: object) => {
    const body = { offer_id: offerId, goals: [{ name: 'Order', ...goal }] }
    const id = (await self.post<{ proposal_id: number }>(path, body)).data.proposal_id
    const { changes } = (await self.get<Own>(`${path}/${id}`)).data
    return {
      id,
      goal: (changes[0]?.after as Record<string, unknown>[] | undefined)?.[0],
      record: (await review(id)).record?.goals[0],
    }
  }
  const fixed = await propose({ revenue: 3, revenue_percent: '' })
  assert.partialDeepStrictEqual(fixed.goal, { revenue: 3, revenue_percent: null })
  assert.partialDeepStrictEqual(fixed.record, { payout: null, payout_percent: null, revenue: 3, revenue_percent: null })
  assert.deepEqual((await approve(fixed.id)).error.details, { 'goals.0.payout': 'Payout is missing.' })
  assert.equal((await approve(fixed.id, { goals: [{ ...fixed.record, payout: 1.5 }] })).status, 200)
  assert.partialDeepStrictEqual((await show(offerId)).goals[0], { payout: 1.5, payout_percent: null, revenue: 3, revenue_percent: null }) // prettier-ignore
  const back = await propose({ revenue: '', revenue_percent: 30 })
  assert.partialDeepStrictEqual(back.goal, { revenue: 3, revenue_percent: 30 })
  assert.partialDeepStrictEqual(back.record, { payout: null, payout_percent: null, revenue: 3, revenue_percent: 30 })
  await refuse(back.id)
  const same = await propose({ revenue: 4 })
  assert.partialDeepStrictEqual(same.record, { payout: 1.5, revenue: 4 })
})

test('an offer without goals cannot be proposed, and says so in words for advertisers', async () => {
  const { offerId, self, path } = await createOwn([{ name: 'Order', payout: 1, revenue: 2 }])
  const refused = await self.post(path, { offer_id: offerId, goals: [] })
  assert.deepEqual([refused.status, refused.error.details], [400, { goals: 'Add at least one goal.' }])
})
