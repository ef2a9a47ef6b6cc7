// Unused lists cost a bounded amount of memory, and nothing when offers change.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OfferRecord, rowOf } from '../../../test/offer-record.ts'
import { usedMegabytes } from '../../../test/used-memory.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { Catalogue } from './catalogue.ts'
import { PLATFORMS, SORTS } from './choices.ts'

const OFFERS = 1_100 // more than a list keeps at hand

const createOffer = (offerId: number, changedXid = 1): OfferRecord => ({
  offerId,
  name: `Offer ${offerId}`,
  description: 'What is to be done',
  category: 'game',
  payoutMicros: offerId,
  countries: [],
  platforms: [...PLATFORMS],
  paymentRequired: false,
  status: 'active',
  startsAt: null,
  endsAt: null,
  fullUntilMs: null,
  popularity: changedXid,
  createdAt: new Date(1_700_000_000_000),
  changedXid,
})

async function load(): Promise<Catalogue> {
  const catalogue = new Catalogue('https://offers.test')
  const read = async (take: (row: ReturnType<typeof rowOf>) => void) => {
    for (let id = 1; id <= OFFERS; id++) take(rowOf(createOffer(id)))
  }
  await catalogue.load({ count: async () => OFFERS, read }, Date.now())
  return catalogue
}

/** Asks for the lists of all countries, platforms and orders under rules of this number; returns how many. */
async function askForAll(catalogue: Catalogue, id: number): Promise<number> {
  const rules = { id, fingerprint: `${id}`, blockedCategories: [], blockedKeywords: [`w${id}`], paymentOffers: true, listed: null, minReward: null } // prettier-ignore
  let count = 0
  for (const country of COUNTRIES)
    for (const platform of PLATFORMS)
      for (const sort of SORTS)
        for (const category of [{}, { category: 'game' as const }]) {
          const { total } = await catalogue.list({ country, platform, ...category, rules }, sort)
          assert.equal(total, OFFERS)
          count++
        }
  return count
}

test('all lists together take a bounded amount of memory, whatever is asked for', async () => {
  const catalogue = await load()
  const before = usedMegabytes()
  let lists = 0
  for (let id = 1; id <= 7; id++) lists += await askForAll(catalogue, id)
  const grown = usedMegabytes() - before
  assert.ok(grown < 130, `${lists} lists take ${grown} MB`)
})

test('a change costs the same, however many unused lists there are', async () => {
  const [few, many] = [await load(), await load()]
  await askForAll(many, 1)
  let xid = 1
  const cpuOf = async (catalogue: Catalogue) => {
    const rows = Array.from({ length: 1_000 }, (_, i) => rowOf(createOffer(i + 1)))
    let spent = 0
    for (let round = 0; round < 2; round++) {
      xid++
      for (const row of rows) row.changedXid = xid
      const start = process.threadCpuUsage()
      await catalogue.apply(rows, Date.now())
      const { user, system } = process.threadCpuUsage(start)
      spent += user + system
    }
    return spent
  }
  // The least of a few, because whatever else this process has left behind is collected meanwhile, too.
  const least = { few: Infinity, many: Infinity }
  for (let attempt = 0; attempt < 4; attempt++) {
    least.few = Math.min(least.few, await cpuOf(few))
    least.many = Math.min(least.many, await cpuOf(many))
  }
  const ratio = least.many / Math.max(least.few, 10_000)
  assert.ok(ratio < 4, `beside 6,000 lists a change takes ${ratio} times as long`)
})
