// Testing one's own postback: a test click, a call, and what came of it, without money.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, Visitor, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('advertiser_tester')

type Test = {
  click: { click_id: string; callback_url: string } | null
  call: { outcome: string; is_understood: boolean; reason: string | null } | null
  conversion: { status: string; spend: number } | null
}

async function createOwn() {
  const [offerId = 0] = await world.createOffers({ goals: [{ name: 'Install', payout: 1, revenue: 2 }] })
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const self = await visit(world, 'advertiser', { publisherId: null, advertiserId })
  return { offerId, advertiserId, self, base: `/advertisers/${advertiserId}/postback-tests` }
}

const follow = async (link: string) => {
  const { statusCode } = await world.app.server.inject({ url: new URL(link).pathname, headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0' } }) // prettier-ignore
  assert.equal(statusCode, 302)
}

test('each step of a test shows: the click, the call, that it was understood, the conversion', async () => {
  const { offerId, advertiserId, self, base } = await createOwn()
  const { data: started } = await self.post<{ test_id: string; link: string }>(base, { offer_id: offerId })
  const read = async () => (await self.get<Test>(`${base}/${started.test_id}`)).data
  assert.deepEqual(await read(), { test_id: started.test_id, click: null, call: null, conversion: null })
  await follow(started.link)
  const clicked = await read()
  const clickId = clicked.click?.click_id ?? ''
  assert.match(clicked.click?.callback_url ?? '', new RegExp(`click_id=${clickId}&.*token=YOUR_TOKEN$`))
  // With a word that is not known, then as it should be.
  await world.confirm(offerId, clickId, { status: 'what' })
  assert.deepEqual([(await read()).call?.outcome, (await read()).conversion], ['invalid', null])
  await world.confirm(offerId, clickId, { txn_id: 'test-1' })
  const done = await read()
  assert.deepEqual([done.call?.outcome, done.call?.is_understood], ['approved', true])
  assert.deepEqual([done.conversion?.status, done.conversion?.spend], ['approved', 2])
  const { data: report } = await self.get<{ totals: { clicks: number; spend: number } }>(`/advertisers/${advertiserId}/report`) // prettier-ignore
  assert.deepEqual([report.totals.clicks, report.totals.spend], [0, 0])
  const { rows } = await world.database.pool.query('SELECT count(*)::int AS entries FROM ledger_entries')
  assert.equal(rows[0]?.entries, 0)
})

test('a test of another advertiser is not there, nor one of its offers', async () => {
  const [ours, theirs] = [await createOwn(), await createOwn()]
  assert.equal((await ours.self.post(ours.base, { offer_id: theirs.offerId })).status, 404)
  const { data } = await theirs.self.post<{ test_id: string; link: string }>(theirs.base, { offer_id: theirs.offerId })
  await follow(data.link)
  const unknown = { test_id: data.test_id, click: null, call: null, conversion: null }
  const { status, data: seen } = await ours.self.get(`${ours.base}/${data.test_id}`)
  assert.deepEqual([status, seen], [200, unknown], 'as one that no one has started')
})

test('those who start at once share one app, which belongs to no publisher of the network', async () => {
  const teams = [await createOwn(), await createOwn(), await createOwn()]
  await world.database.pool.query('DELETE FROM tester_app')
  await world.database.pool.query(`UPDATE publishers SET name = 'Before' WHERE name LIKE 'Postback tests%'`)
  const answers = await Promise.all(teams.map(({ self, base, offerId }) => self.post(base, { offer_id: offerId })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  )
  const { rows } = await world.database.pool.query('SELECT count(*)::int AS apps FROM tester_app')
  assert.equal(rows[0]?.apps, 1)
  const { email } = await createPerson(world, 'operator_reader')
  const reader = await new Visitor(world).signIn(email)
  assert.equal((await reader.post(teams[0]?.base ?? '', { offer_id: teams[0]?.offerId })).status, 403)
})
