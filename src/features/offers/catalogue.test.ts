// Many lists in two processes while offers change, start and end at the same time: all equal the naive model.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { App } from '../../app.ts'
import { type NaiveQuery, naiveList, readNaiveRows, searchOf } from '../../../test/naive-list.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { CATEGORIES, PLATFORMS, SORTS } from './choices.ts'

const COUNTRIES = ['US', 'DE', 'JP', 'FR', 'GB', 'BR']
const QUERIES: NaiveQuery[] = COUNTRIES.flatMap((country) =>
  [undefined, ...PLATFORMS].flatMap((platform) =>
    [undefined, ...CATEGORIES].flatMap((category) =>
      SORTS.map((sort) => ({ country, platform, category, sort, limit: 100 })),
    ),
  ),
)

let live: IssuedCredentials
let second: App
after(() => second.close())
const world = useWorld('catalogue', async () => {
  live = (await world.createApp()).live
  await world.createOffers(
    ...Array.from({ length: 1_500 }, (_, i) => ({
      name: `Offer ${i}`,
      category: CATEGORIES[i % 4],
      payout: String(((i * 7) % 50) / 10),
      countries: COUNTRIES.filter((_, place) => (i + place) % 3 === 0),
      platforms: PLATFORMS.filter((_, place) => (i >> place) % 2 === 0 || place === i % 3),
    })),
  )
  second = await world.start()
})

async function ask(app: App, query: NaiveQuery) {
  const { body } = await app.server.inject({
    url: `/api/v1/offers?${searchOf(query)}`,
    headers: { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret },
  })
  const { offers, total, has_more } = (
    JSON.parse(body) as { data: { offers: { offer_id: number; name: string }[]; total: number; has_more: boolean } }
  ).data
  return {
    ids: offers.map((offer) => offer.offer_id),
    names: offers.map((offer) => offer.name),
    total,
    has_more,
  }
}

/** How many lists of a process are not what they should be, once it has heard of everything. */
async function countWrong(app: App): Promise<number> {
  await app.refresh()
  const rows = await readNaiveRows(world.database.db)
  let wrong = 0
  for (const query of QUERIES) {
    const expected = naiveList(rows, query, new Date())
    const actual = await ask(app, query)
    if (JSON.stringify(actual) !== JSON.stringify(expected)) wrong++
  }
  return wrong
}

test('lists of two processes are right after offers changed while others started and ended', async () => {
  const { pool } = world.database
  for (const app of [world.app, second]) assert.equal(await countWrong(app), 0)
  await pool.query(
    `UPDATE offers SET starts_at = CASE WHEN offer_id % 2 = 0 THEN clock_timestamp() + offer_id % 97 * interval '30 ms' END,
       ends_at = CASE WHEN offer_id % 2 = 1 THEN clock_timestamp() + offer_id % 97 * interval '30 ms' END
     WHERE offer_id % 7 = 0`,
  )
  for (let step = 0; step < 12; step++) {
    await pool.query(
      `UPDATE offers SET status = CASE WHEN status = 'paused' THEN 'active' ELSE 'paused' END, popularity = offer_id % ($1 + 2)
       WHERE offer_id % 3 = $1 % 3`,
      [step],
    )
    await Promise.all([world.app.refresh(), second.refresh()])
  }
  await pool.query(
    `SELECT pg_sleep(greatest(0, extract(epoch FROM max(greatest(starts_at, ends_at)) - clock_timestamp()))) FROM offers`,
  ) // so that nothing starts or ends while lists are compared
  for (const app of [world.app, second]) assert.equal(await countWrong(app), 0)
})
