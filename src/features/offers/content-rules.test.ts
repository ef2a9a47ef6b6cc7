// What content rules cost, and what keywords look at.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTRIES } from '../../lib/countries.ts'
import { useWorld } from '../../../test/world.ts'
import { usedMegabytes } from '../../../test/used-memory.ts'
import { CATEGORIES, PLATFORMS, SORTS } from './choices.ts'

const world = useWorld('content_rules')

const totalOf = async (credentials: Parameters<typeof world.get>[1], more = '') =>
  (await world.get(`/v1/offers?userId=u&limit=1${more}`, credentials)).body.data.total

test('keywords look at what an offer says, as whole words, not at the names of its fields', async () => {
  const open = await world.createApp()
  const before = await totalOf(open.live)
  await world.createOffers(
    { name: 'Prescription game', description: 'Écrire' },
    { name: 'Learn a script' },
    { name: 'Anything', description: 'Choose a name' },
  )
  const blocking = async (...blockedKeywords: string[]) =>
    (await totalOf((await world.createApp({ blockedKeywords })).live)) - before
  assert.equal(await blocking('script'), 2)
  assert.equal(await blocking('name', 'description', 'offer_id', 'payout'), 2)
  assert.equal(await blocking('écrire', 'u00c9crire'), 2)
  assert.equal(await blocking('u00c9crire', 'script*'), 2)
})

test('a list with many keywords is built between other requests, not before them', async () => {
  await world.createOffers(
    ...Array.from({ length: 4_000 }, (_, i) => ({
      name: `Ünïcödé öffér ${i}`,
      description: 'Ähnlich wie der vorige. '.repeat(20),
    })),
  )
  const blockedKeywords = Array.from({ length: 200 }, (_, i) => `ähnliches wort ${i}`)
  const [strict, open] = [await world.createApp({ blockedKeywords }), await world.createApp()]
  await totalOf(open.live)
  const answered: string[] = []
  const slow = totalOf(strict.live).then(() => answered.push('strict'))
  for (let i = 0; i < 3; i++) await totalOf(open.live).then(() => answered.push('open'))
  await slow
  assert.deepEqual(answered, ['open', 'open', 'open', 'strict'])
})

test('thousands of lists for an app with thousands of allowed offers share them', async () => {
  const { appId, live } = await world.createApp()
  const { pool } = world.database
  await pool.query(
    `WITH its AS (SELECT publisher_id FROM apps WHERE app_id = $1),
       only_those AS (UPDATE publishers SET only_listed_offers = true WHERE publisher_id = (SELECT publisher_id FROM its))
     INSERT INTO publisher_offers (publisher_id, offer_id, is_allowed)
     SELECT publisher_id, offer_id, true FROM its, offers`,
    [appId],
  )
  await pool.query('UPDATE apps SET name = name WHERE app_id = $1', [appId])
  await world.app.refresh()
  assert.ok((await totalOf(live)) > 4_000)
  const before = usedMegabytes()
  for (const country of COUNTRIES.slice(0, 25)) {
    for (const platform of PLATFORMS)
      for (const category of CATEGORIES)
        for (const sort of SORTS)
          await totalOf(live, `&country=${country}&platform=${platform}&category=${category}&sort=${sort}`)
  }
  const grown = usedMegabytes() - before
  assert.ok(grown < 60, `1,200 lists took ${grown} MB`)
})
