// What an advertiser sees of its offers, figures and conversions, and what it does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversion, createDeal, type Deal } from '../../../test/conversion-rows.ts'
import { type Visitor, visit } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'

let deal: Deal
let other: Deal
let self: Visitor
let base: string
const world = useWorld('advertiser_figures', async () => {
  deal = await createDeal(world, { name: 'Tidewater Tiles', goals: [{ name: 'Level 5', payout: 1, revenue: 1.5 }] })
  other = await createDeal(world)
  base = `/advertisers/${deal.advertiserId}`
  self = await visit(world, 'advertiser', { publisherId: null, advertiserId: deal.advertiserId })
  const at = new Date(Date.now() - 60_000)
  const amounts = { payoutMicros: 1_000_000, revenueMicros: 1_500_000, at }
  await createConversion(world, deal, { status: 'approved', ...amounts })
  await createConversion(world, deal, { status: 'reversed', ...amounts })
  await createConversion(world, other, { status: 'approved', ...amounts, revenueMicros: 70_000_000 })
})

const HIDDEN = /payout|margin|epc|user_id|aff_sub|"app_|publisher_transaction/

test('figures are clicks, conversions and spend of their own offers, and nothing of payouts', async () => {
  type Report = { rows: { key: string; spend: number }[]; totals: Record<string, number> }
  const { data, text } = await self.get<Report>(`${base}/report`)
  assert.deepEqual([data.totals['conversions'], data.totals['reversed'], data.totals['spend']], [2, 1, 1.5])
  assert.doesNotMatch(text, HIDDEN)
  const { data: byOffer, text: offers } = await self.get<Report>(`${base}/report?group_by=offer`)
  assert.deepEqual(
    byOffer.rows.map(({ key, spend }) => [key, spend]),
    [[String(deal.offerId), 1.5]],
  )
  assert.doesNotMatch(offers, HIDDEN)
  const { data: foreign } = await self.get<Report>(`${base}/report?offer_id=${other.offerId}`)
  assert.equal(foreign.totals['conversions'], 0)
  const file = await self.get(`${base}/report.csv`)
  assert.match(file.text, /^day,clicks,conversions,pending,approved,rejected,reversed,conversion_rate,spend\r\n/)
  assert.match(file.text, /,2,0,1,0,1,,1.5\r\n/)
})

test('conversions have their transaction IDs, and are found by them', async () => {
  type List = { conversions: { transaction_id: string | null; spend: number; status: string; conversion_id: string }[] }
  const { data, text } = await self.get<List>(`${base}/conversions`)
  assert.deepEqual(
    data.conversions.map(({ status, spend }) => [status, spend]),
    [
      ['reversed', 1.5],
      ['approved', 1.5],
    ],
  )
  assert.doesNotMatch(text, HIDDEN)
  const [wanted] = data.conversions
  const { pool } = world.database
  await pool.query('UPDATE conversions SET advertiser_transaction_id = $1 WHERE conversion_id = $2', ['order 7', wanted?.conversion_id]) // prettier-ignore
  const { data: found } = await self.get<List>(`${base}/conversions?transaction_id=order%207`)
  assert.deepEqual(
    found.conversions.map(({ conversion_id }) => conversion_id),
    [wanted?.conversion_id],
  )
  const { data: none } = await self.get<List>(`${base}/conversions?offer_id=${other.offerId}`)
  assert.deepEqual(none.conversions, [])
  const file = await self.get(`${base}/conversions.csv`)
  assert.equal(file.text.trim().split('\r\n').length, 3)
  assert.match(file.text, /order 7/)
})

test('offers show what the advertiser pays, not what publishers are paid', async () => {
  type List = { offers: { offer_id: number; revenue: number }[] }
  const { data, text } = await self.get<List>(`${base}/offers`)
  assert.deepEqual(
    data.offers.map(({ offer_id, revenue }) => [offer_id, revenue]),
    [[deal.offerId, 1.5]],
  )
  const shown = await self.get<{ goals: { revenue: number }[] }>(`${base}/offers/${deal.offerId}`)
  assert.equal(shown.data.goals[0]?.revenue, 1.5)
  for (const answer of [text, shown.text]) assert.doesNotMatch(answer, /payout|boost|pin_position/)
  assert.equal((await self.get(`${base}/offers/${other.offerId}`)).status, 404)
  const { data: found } = await self.get<{ offers: { offer_id: number }[] }>('/search?q=tidewater')
  assert.deepEqual(
    found.offers.map(({ offer_id }) => offer_id),
    [deal.offerId],
  )
})

test('of publishers they see what the operator allows: nothing, IDs or names', async () => {
  const operator = await visit(world, 'operator')
  type Seen = { conversions: { publisher_id: number | null; publisher: string | null }[] }
  for (const [sees, id, name] of [
    ['nothing', null, null],
    ['id', deal.publisherId, null],
    ['name', deal.publisherId, deal.publisher],
  ] as const) {
    assert.equal((await operator.patch(base, { sees_publishers: sees })).status, 200)
    const { data } = await self.get<Seen>(`${base}/conversions`)
    assert.deepEqual([data.conversions[0]?.publisher_id, data.conversions[0]?.publisher], [id, name])
    const report = await self.get<{ rows: { key: string; name: string | null }[] }>(`${base}/report?group_by=publisher`)
    assert.equal(report.status, sees === 'nothing' ? 400 : 200)
    if (sees !== 'nothing') assert.deepEqual([report.data.rows[0]?.key, report.data.rows[0]?.name], [String(id), name])
  }
  assert.equal((await self.patch(base, { sees_publishers: 'name' })).status, 404, 'they do not set it themselves')
})
