// What a catalogue costs in memory, at the start, when it is reloaded and after many changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ChangeFeed } from '../../db/changes.ts'
import { useWorld } from '../../../test/world.ts'
import { Catalogue } from './catalogue.ts'
import { allOffers, type OfferRow, readChangedOffers } from './offer-rows.ts'

const OFFERS = 10_500 // more than a page
const BLOCK = 2 ** 20 // the last one is never full
const OVERHEAD = 220 // bytes an offer, beside its texts: columns, index, numbers, lengths

let textBytes = 0
const world = useWorld('catalogue_memory', async () => {
  const { pool } = world.database
  await pool.query(`INSERT INTO advertisers (name) VALUES ('A')`)
  await pool.query(
    `INSERT INTO offers (advertiser_id, external_id, name, description, category, payout_micros, revenue_micros, countries,
       platforms, destination_url, difficulty, time_estimate, requirements, payment_required, conversion_type, status)
     SELECT 1, n, 'Offer ' || n, repeat('What is to be done. ', 10), 'game', n, n, '{DE,US}', '{web}',
       'https://ads.example.com/' || n, 'easy', '15 min', 'New users only', false, 'cpa', 'active'
     FROM generate_series(1, ${OFFERS}) n`,
  )
  await pool.query(
    `INSERT INTO goals (offer_id, place, name, description, payout_micros, revenue_micros, is_optional)
     SELECT offer_id, place, 'Step ' || place, 'Play on.', 1, 1, false FROM offers, generate_series(1, 2) place`,
  )
  const { rows } = await pool.query<{ bytes: number }>(
    `SELECT (SELECT sum(octet_length(name || description || destination_url || time_estimate || requirements)) FROM offers)
       + (SELECT sum(octet_length(name || description)) FROM goals) AS bytes`,
  )
  textBytes = Number(rows[0]?.bytes)
})

async function loaded(): Promise<Catalogue> {
  const catalogue = new Catalogue('https://offers.test')
  await catalogue.load(allOffers(world.database), Date.now())
  return catalogue
}

async function totalOf(catalogue: Catalogue): Promise<number> {
  return (await catalogue.list({ country: 'US', rules: null }, 'newest')).total
}

test('reading all offers creates an object for each connection, however many there are', async () => {
  const objects = new Set<OfferRow>()
  let count = 0
  await allOffers(world.database).read((offer) => {
    objects.add(offer)
    count++
  })
  assert.deepEqual([count, objects.size], [OFFERS, 2])
})

test('an offer takes the bytes of its texts and a few more', async () => {
  const catalogue = await loaded()
  assert.equal(await totalOf(catalogue), OFFERS)
  const bytes = catalogue.bytes - BLOCK - textBytes
  assert.ok(bytes / OFFERS <= OVERHEAD, `${bytes / OFFERS} bytes an offer beside its texts`)
})

test('reloading everything keeps the bytes that are the same, and a failed reload leaves nothing behind', async () => {
  const catalogue = await loaded()
  const before = catalogue.bytes
  const { count, read } = allOffers(world.database)
  let whenRead = 0
  await catalogue.load({ count, read: (take) => read(take).then(() => void (whenRead = catalogue.bytes)) }, Date.now())
  assert.deepEqual([whenRead, catalogue.bytes], [before, before])
  const failing = catalogue.load(
    {
      count,
      read: (take) =>
        read((offer) => {
          if (offer.offerId > OFFERS / 2) throw new Error('connection lost')
          take(offer)
        }),
    },
    Date.now(),
  )
  await assert.rejects(failing, /connection lost/)
  assert.equal(catalogue.bytes, before)
  assert.equal(await totalOf(catalogue), OFFERS)
})

test('what was replaced is given back, however often offers change', async () => {
  const catalogue = await loaded()
  const before = catalogue.bytes
  const feed = await ChangeFeed.open(world.database.db, 'offers')
  for (let round = 0; round < 6; round++) {
    await world.database.pool.query(
      `UPDATE offers SET description = reverse(description) || $1 WHERE offer_id <= 3000`,
      [round],
    )
    await feed.look(async (since) => {
      for await (const batch of readChangedOffers(world.database, since)) await catalogue.apply(batch, Date.now())
    })
  }
  assert.match(catalogue.get(1)?.template ?? '', /5","payout"/)
  assert.ok(catalogue.bytes < before + 3 * BLOCK, `${catalogue.bytes} bytes, ${before} before`)
})

test('while a transaction stays open, what was read is not read again', async () => {
  const { db, pool } = world.database
  const client = new pg.Client(world.connection(world.databaseName))
  await client.connect()
  const feed = await ChangeFeed.open(db, 'offers')
  const look = async () => {
    const ids: number[] = []
    await feed.look(async (since) => {
      for await (const batch of readChangedOffers(world.database, since)) ids.push(...batch.map((row) => row.offerId))
    })
    return ids
  }
  try {
    await client.query('BEGIN; UPDATE offers SET popularity = 7 WHERE offer_id = 1')
    await pool.query('UPDATE offers SET popularity = 8 WHERE offer_id BETWEEN 2 AND 4')
    assert.deepEqual(new Set(await look()), new Set([2, 3, 4]))
    assert.deepEqual(await look(), [])
    await pool.query('UPDATE offers SET popularity = 9 WHERE offer_id = 5')
    assert.deepEqual(await look(), [5])
    await client.query('COMMIT')
    assert.deepEqual(await look(), [1])
    assert.deepEqual(await look(), [])
  } finally {
    await client.end()
  }
})
