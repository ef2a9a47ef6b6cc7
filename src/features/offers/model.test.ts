// The list against a naive model of it: whatever the offers, the changes and the parameters, the answers are equal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { naiveList, readNaiveRows, searchOf } from '../../../test/naive-list.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { CATEGORIES, PLATFORMS, SORTS } from './choices.ts'

let live: IssuedCredentials
const world = useWorld('offers_model', async () => {
  live = (await world.createApp()).live
})

const COUNTRIES = ['US', 'DE', 'JP']

const someOf = (values: readonly string[], minLength: number) => fc.subarray([...values], { minLength })

const record = fc.record({
  name: fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((name) => !/[\0\ufffd]/.test(name) && name.trim() !== ''),
  category: fc.constantFrom(...CATEGORIES),
  payout: fc.integer({ min: 0, max: 30 }).map((n) => String(n / 10)), // few values, so that ties are common
  countries: someOf(COUNTRIES, 0),
  platforms: someOf(PLATFORMS, 1),
  status: fc.constantFrom('active', 'active', 'active', 'paused'),
  starts_at: fc.constantFrom(null, '2000-01-01', '2100-01-01'),
  ends_at: fc.constantFrom(null, '2000-02-01', '2100-02-01'),
})

const query = fc.record({
  country: fc.constantFrom(undefined, ...COUNTRIES, 'FR'),
  platform: fc.constantFrom(undefined, ...PLATFORMS),
  category: fc.constantFrom(undefined, ...CATEGORIES),
  sort: fc.constantFrom(undefined, ...SORTS),
  limit: fc.constantFrom(undefined, 1, 3, 20, 100),
  offset: fc.constantFrom(undefined, 0, 1, 5, 1000),
})
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

async function compare(queries: Query[]): Promise<void> {
  const rows = await readNaiveRows(world.database.db)
  for (const one of queries) {
    const search = searchOf(one)
    const { body } = await world.get(`/v1/offers?${search}`, live)
    const { offers, total, has_more } = body.data
    const actual = {
      ids: offers.map((offer) => offer.offer_id),
      names: offers.map((offer) => offer.name),
      total,
      has_more,
    }
    assert.deepEqual(actual, naiveList(rows, one, new Date()), search)
  }
}

test('after any changes and for any parameters the list equals the naive model of it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 12 }),
      fc.array(query, { minLength: 1, maxLength: 8 }),
      fc.nat(),
      async (records, queries, seed) => {
        await compare(queries) // so that the lists exist and the changes must be worked into them
        if (records.length > 0)
          await world.createOffers(
            ...records.map((one) => ({ ...one, ends_at: one.starts_at === '2100-01-01' ? null : one.ends_at })),
          )
        await world.database.pool.query(
          `UPDATE offers SET status = CASE WHEN status = 'active' THEN 'paused' ELSE 'active' END, popularity = offer_id % 4,
           payout_micros = payout_micros + 100000, created_at = created_at - (offer_id % 3) * interval '1 hour'
         WHERE offer_id % 7 = $1`,
          [seed % 7],
        )
        await world.app.refresh()
        await compare(queries)
      },
    ),
    { numRuns: 40 },
  )
})

test('pages neither overlap nor leave a gap, in any order, also far down', async () => {
  await world.createOffers(
    ...Array.from({ length: 2_500 }, (_, i) => ({
      payout: String((i % 5) + 1),
      category: 'video',
      platforms: ['ios'],
    })),
  )
  for (const sort of SORTS) {
    const seen: number[] = []
    for (let offset = 0; ; offset += 100) {
      const { data } = (await world.get(`/v1/offers?userId=u&sort=${sort}&limit=100&offset=${offset}`, live)).body
      seen.push(...data.offers.map((offer) => offer.offer_id))
      assert.ok(data.total >= 2_500)
      if (!data.has_more) {
        assert.equal(seen.length, data.total)
        break
      }
    }
    assert.equal(new Set(seen).size, seen.length)
  }
})

test('a list longer than what is kept of it stays right while its offers change', async () => {
  const order = async () =>
    (await world.get('/v1/offers?userId=u&category=video&sort=payout_desc&limit=100', live)).body.data
  for (let round = 0; round < 12; round++) {
    await world.database.pool.query(
      `UPDATE offers SET status = 'paused' WHERE offer_id IN (SELECT offer_id FROM offers WHERE category = 'video' AND status = 'active' ORDER BY payout_micros DESC, offer_id LIMIT 100)`,
    )
    await world.app.refresh()
    const { offers, total } = await order()
    const { rows } = await world.database.pool.query<{ ids: number[]; total: number }>(
      `SELECT count(*)::integer AS total, (array_agg(offer_id ORDER BY payout_micros DESC, offer_id))[1:100] AS ids
       FROM offers WHERE category = 'video' AND status = 'active' AND (starts_at IS NULL OR starts_at <= now()) AND (ends_at IS NULL OR ends_at > now())`,
    )
    assert.equal(total, rows[0]?.total)
    assert.deepEqual(
      offers.map((offer) => offer.offer_id),
      rows[0]?.ids.map(Number),
    )
  }
})
