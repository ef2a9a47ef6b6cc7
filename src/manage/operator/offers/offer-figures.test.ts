// The operator's offers with their figures, sorted by them, and paused and resumed together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { visit, Visitor } from '../../../../test/people.ts'
import { addClicks, addConversions } from '../../../../test/seed-rows.ts'
import { useWorld } from '../../../../test/world.ts'
import { rollUpStats } from '../../../features/reports/rollup.ts'
import type { OfferHistory, OfferPage, StatusChange } from './schema.ts'

type Page = Static<typeof OfferPage>
type Change = Static<typeof StatusChange>

const USD = 1_000_000
const DAY_MS = 86_400_000

let operator: Visitor
let [busy, dear, quiet, former] = [0, 0, 0, 0]
const world = useWorld('offer_figures', async () => {
  operator = await visit(world, 'operator')
  const { db } = world.database
  const { appId } = await world.createApp()
  ;[busy = 0, dear = 0, quiet = 0, former = 0] = await world.createOffers(
    { name: 'Busy game' },
    { name: 'Dear game' },
    { name: 'Quiet game' },
    { name: 'Former survey', category: 'survey' },
  )
  const at = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toISOString()
  const click = (offerId: number, daysAgo: number) => ({ appId, offerId, at: at(daysAgo) })
  await addClicks(db, ...[0, 1, 2, 3].map((days) => click(busy, days)), click(dear, 4), click(former, 31))
  const worth = { appId, status: 'approved' as const, revenueMicros: 5 * USD }
  await addConversions(db, { ...worth, offerId: busy, payoutMicros: USD, at: at(2) })
  await rollUpStats(db, new Date())
  // After the rollup: a difference to it, and rows of today.
  await addConversions(db, { ...worth, offerId: dear, payoutMicros: 2 * USD, at: at(4) })
  await addClicks(db, click(busy, 0))
})

const list = async (query: string) => (await operator.get<Page>(`/offers?${query}`)).data
const ids = ({ offers }: Page) => offers.map(({ offer_id }) => offer_id)

test('offers come with their figures of the last 30 days, only where they are asked for', async () => {
  const { offers } = await list('with=figures')
  const figures = offers.map((offer) => [
    offer.offer_id,
    offer.figures?.clicks,
    offer.figures?.conversions,
    offer.figures?.conversion_rate,
    offer.figures?.epc,
    offer.figures?.margin,
  ])
  assert.deepEqual(figures, [
    [former, 0, 0, null, null, 0],
    [quiet, 0, 0, null, null, 0],
    [dear, 1, 1, 1, 2, 3],
    [busy, 5, 1, 0.2, 0.2, 4],
  ])
  assert.ok((await list('')).offers.every((offer) => offer.figures === null))
})

test('offers are sorted by any figure, either way, filtered and page by page', async () => {
  assert.deepEqual(ids(await list('sort=clicks')), [busy, dear])
  assert.deepEqual(ids(await list('sort=epc')), [dear, busy])
  assert.deepEqual(ids(await list('sort=conversion_rate&order=asc')), [busy, dear])
  assert.deepEqual(ids(await list('sort=clicks&search=dear')), [dear])
  assert.deepEqual(ids(await list('sort=clicks&search=busy&status=active')), [busy])
  assert.deepEqual(ids(await list('sort=clicks&category=survey')), [])
  const first = await list('sort=clicks&limit=1')
  assert.deepEqual([ids(first), first.offers[0]?.figures?.clicks, first.next_cursor], [[busy], 5, '1'])
  const second = await list(`sort=clicks&limit=1&cursor=${first.next_cursor}`)
  assert.deepEqual([ids(second), second.next_cursor], [[dear], null])
  const { status, error } = await operator.get('/offers?sort=clicks&cursor=20000')
  assert.deepEqual([status, error.details], [400, { cursor: 'At most 10000 offers can be sorted by a figure. Add a filter.' }]) // prettier-ignore
})

test('several offers are paused and resumed at once; each history shows it, and what is unknown is reported', async () => {
  const set = (body: object) => operator.post<Change>('/offers/status', body)
  await set({ offer_ids: [quiet], status: 'paused' })
  const { data } = await set({ offer_ids: [dear, busy, quiet, dear, 999_999], status: 'paused' })
  assert.deepEqual(data, { changed: [busy, dear], unchanged: [quiet], missing: [999_999] })
  assert.deepEqual(ids(await list('status=paused')), [quiet, dear, busy])
  const { data: history } = await operator.get<Static<typeof OfferHistory>>(`/offers/${quiet}/history`)
  assert.deepEqual(history.changes.map(({ action }) => action), ['offer.pause']) // prettier-ignore
  const { data: back } = await set({ offer_ids: [busy, dear, quiet], status: 'active' })
  assert.deepEqual(back.changed, [busy, dear, quiet])
  for (const body of [{ offer_ids: [], status: 'paused' }, { offer_ids: [1], status: 'ended' }, { offer_ids: [1] }])
    assert.equal((await set(body)).status, 400)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.post('/offers/status', { offer_ids: [busy], status: 'paused' })).status, 403)
})
