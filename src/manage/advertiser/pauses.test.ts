// Pauses by an advertiser: it resumes what it paused itself, and never what the operator paused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'

const world = useWorld('advertiser_pauses')

async function createOwn() {
  const [offerId = 0] = await world.createOffers({})
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const self = await visit(world, 'advertiser', { publisherId: null, advertiserId })
  const path = `/advertisers/${advertiserId}/offers/${offerId}`
  const pausedBy = async () => (await self.get<{ paused_by: string | null }>(path)).data.paused_by
  return { offerId, self, operator: await visit(world, 'operator'), path, pausedBy }
}

test('an advertiser pauses and resumes its own offer; the audit log says so', async () => {
  const { offerId, self, operator, path, pausedBy } = await createOwn()
  for (let round = 0; round < 2; round++) assert.equal((await self.post(`${path}/pause`)).status, 200)
  assert.equal(await pausedBy(), 'advertiser')
  assert.equal((await self.post(`${path}/resume`)).status, 200)
  assert.equal(await pausedBy(), null)
  assert.equal((await self.post(`${path}/resume`)).status, 409, 'there is nothing to resume')
  const { data } = await operator.get<{ changes: { action: string }[] }>(`/offers/${offerId}/history`)
  assert.deepEqual(
    data.changes.map(({ action }) => action),
    ['offer.resume', 'offer.pause'],
  )
})

test('a pause by the operator stays, however the offer was paused before', async () => {
  const { offerId, self, operator, path, pausedBy } = await createOwn()
  const isRefused = async () => {
    assert.equal(await pausedBy(), 'operator')
    const { status, error } = await self.post(`${path}/resume`)
    assert.deepEqual([status, error.code], [409, 'CONFLICT'])
  }
  await operator.post(`/offers/${offerId}/pause`)
  await self.post(`${path}/pause`)
  await isRefused()
  await operator.post(`/offers/${offerId}/resume`)
  // The operator pauses what the advertiser had paused: from then on it is the operator's pause.
  await self.post(`${path}/pause`)
  await operator.post(`/offers/${offerId}/pause`)
  await isRefused()
  await operator.post(`/offers/${offerId}/resume`)
  // The advertiser's pause ended in another way, and a later one is not the advertiser's.
  await self.post(`${path}/pause`)
  for (const status of ['active', 'paused'])
    await world.database.pool.query('UPDATE offers SET status = $1 WHERE offer_id = $2', [status, offerId])
  await isRefused()
})
