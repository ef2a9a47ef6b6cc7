// What publishers report and read, beyond the letter of the specification (test/spec/create-conversion.test.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSpoolEmpty, until } from '../../../test/installation.ts'
import { type Reply, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createPublisher } from '../accounts/publishers.ts'
import { createApp } from '../apps/apps.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { distrustApp, trustApp } from '../apps/trust.ts'
import { checkLedger } from '../ledger/check.ts'
import { setCaps } from '../offers/edit-offers.ts'
import { forgetOldKeys } from './conversions.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

let appId: number
let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('conversions_api', async () => {
  ;({ appId, live, test: testMode } = await world.createApp())
})

const keyed = (key: string, body: object, credentials = live) =>
  world.report(credentials, body, { 'idempotency-key': key })
const idOf = ({ body }: Reply) => body.data.conversion.conversion_id
const statusOf = ({ body }: Reply) => [body.data.conversion.status, body.data.conversion.status_reason]

async function newOffer(record: Record<string, unknown> = {}): Promise<number> {
  return (await world.createOffers(record))[0] ?? 0
}

test('the same Idempotency-Key and body is the same conversion; another body is refused', async () => {
  const offerId = await newOffer()
  const first = await keyed('k1', { userId: 'ann', offerId })
  const again = await keyed('k1', { userId: 'ann', offerId })
  assert.deepEqual([first.status, again.status], [201, 200])
  assert.deepEqual(again.body.data, first.body.data)
  for (const other of [
    { userId: 'bob', offerId },
    { userId: 'ann', offerId: await newOffer() },
    { userId: 'ann', offerId, transactionId: 't' },
  ]) {
    const reply = await keyed('k1', other)
    assert.deepEqual([reply.status, reply.body.error.code], [400, 'INVALID_REQUEST'])
    assert.deepEqual(Object.keys(reply.body.error.details ?? {}), ['Idempotency-Key'])
  }
  assert.deepEqual((await world.get('/v1/conversions?userId=bob', live)).body.data.conversions, [])
})

test('a body that is only written otherwise is the same', async () => {
  const offerId = await newOffer()
  const bodies = [
    `{"userId":"ann","offerId":${offerId}}`,
    ` {\n "offerId" : ${offerId}.0,\t"userId":"\\u0061nn", "more": [1] }\n`,
  ]
  const replies = []
  for (const payload of bodies) {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'written otherwise' }
    replies.push(await world.get('/v1/conversions', live, { method: 'POST', payload, headers }))
  }
  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 200],
  )
})

test('a key is of one app and one mode', async () => {
  const offerId = await newOffer()
  const other = await world.createApp()
  await keyed('shared', { userId: 'ann', offerId })
  for (const [i, credentials] of [testMode, other.live, other.test].entries()) {
    const reply = await keyed('shared', { userId: `other ${i}`, offerId }, credentials)
    assert.equal(reply.status, 201, reply.text)
  }
})

test('a key is free again after 24 hours, also before it is cleared away', async () => {
  const offerId = await newOffer()
  const { db } = world.database
  const age = (hours: number) =>
    db
      .updateTable('idempotency_keys')
      .set({ created_at: new Date(Date.now() - hours * 3_600_000) })
      .where('key', '=', 'old')
      .execute()
  await keyed('old', { userId: 'first', offerId })
  await age(23.9)
  await forgetOldKeys(db)
  assert.equal((await keyed('old', { userId: 'second', offerId })).status, 400)
  await age(24.1)
  const second = await keyed('old', { userId: 'second', offerId })
  assert.equal(second.status, 201)
  assert.equal((await keyed('old', { userId: 'first', offerId })).status, 400, 'it stands for the second now')
  assert.equal(idOf(await keyed('old', { userId: 'second', offerId })), idOf(second))
  await age(24.1)
  await forgetOldKeys(db)
  assert.deepEqual(await db.selectFrom('idempotency_keys').select('key').where('key', '=', 'old').execute(), [])
})

test('an empty or too long key is refused by its name', async () => {
  const offerId = await newOffer()
  assert.deepEqual((await keyed('', { userId: 'u', offerId })).body.error.details, {
    'Idempotency-Key': 'Idempotency-Key must not be empty.',
  })
  assert.deepEqual((await keyed('x'.repeat(256), { userId: 'u', offerId })).body.error.details, {
    'Idempotency-Key': 'Idempotency-Key must have at most 255 characters.',
  })
  assert.equal((await keyed('x'.repeat(255), { userId: 'u', offerId })).status, 201)
})

test('of several requests with one key at once, one counts', async () => {
  const offerId = await newOffer()
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => keyed('raced', { userId: `racer ${i % 5}`, offerId })),
  )
  const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, 201, 400, 400, 400, 400, 400, 400, 400, 400])
})

test('a refused report does not use up its key', async () => {
  const offerId = await newOffer()
  assert.equal((await keyed('kept', { userId: 'u', offerId: 1e15 })).status, 404)
  assert.equal((await keyed('kept', { userId: 'u', offerId })).status, 201)
})

test('sub-IDs come from the click, else from the latest list that carried any, else there are none', async () => {
  const offerId = await newOffer()
  const subIds = async (userId: string, credentials = live) => {
    await until(() => isSpoolEmpty(world.dataDir)) // where a busy machine keeps sub-IDs for a moment
    const { conversion } = (await world.report(credentials, { userId, offerId })).body.data
    return [conversion.aff_sub, conversion.aff_sub2, conversion.aff_sub3, conversion.aff_sub4]
  }
  assert.deepEqual(await subIds('nobody'), [null, null, null, null])
  await world.get('/v1/offers?userId=lister&aff_sub=1&aff_sub2=2', live)
  await world.get('/v1/offers?userId=lister&aff_sub3=3&aff_sub4=4', live)
  await world.get('/v1/offers?userId=lister', live)
  await world.get('/v1/offers?userId=lister&aff_sub=test', testMode)
  assert.deepEqual(await subIds('lister'), [null, null, '3', '4'], 'the set replaces, never merges')
  assert.deepEqual(await subIds('lister', testMode), ['test', null, null, null])
  const click = await world.click(offerId, live, 'userId=clicker&aff_sub=click')
  assert.equal(click.status, 302)
  await world.get('/v1/offers?userId=clicker&aff_sub2=later', live)
  assert.deepEqual(await subIds('clicker'), ['click', null, null, null])
})

test('a click without sub-IDs gives none, whatever lists came later', async () => {
  const offerId = await newOffer()
  await world.click(offerId, live, 'userId=plain')
  await world.get('/v1/offers?userId=plain&aff_sub=later', live)
  await until(() => isSpoolEmpty(world.dataDir)) // where a busy machine keeps sub-IDs for a moment
  assert.equal((await world.report(live, { userId: 'plain', offerId })).body.data.conversion.aff_sub, null)
})

test('a click beyond its window counts as none, and the sub-IDs of the latest list do', async () => {
  const offerId = await newOffer({ attribution_window: '60s' })
  await world.click(offerId, live, 'userId=slow&aff_sub=click')
  await world.get('/v1/offers?userId=slow&aff_sub=list', live)
  await until(() => isSpoolEmpty(world.dataDir)) // where a busy machine keeps sub-IDs for a moment
  const report = { kind: 'report', appId, isTest: false, userId: 'slow', offerId, goalId: null } as const
  const [outcome] = await applyCommands(
    world.database.db,
    [{ ...report, transactionId: null, idempotencyKey: null }],
    new Date(Date.now() + 61_000),
  )
  assert.deepEqual([outcome?.conversion?.clickId, outcome?.conversion?.affSub], [null, 'list'])
})

test('an offer that is not open rejects a report without a click, and says why; the same again is the same', async () => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const picky = await world.createApp({ blockedCategories: ['app'] })
  const [full, paused, ended, early, blocked] = [
    await newOffer({ total_conversion_cap: 1 }),
    await newOffer({ status: 'paused' }),
    await newOffer({ ends_at: yesterday }),
    await newOffer({ starts_at: tomorrow }),
    await newOffer(),
  ]
  assert.equal((await world.report(live, { userId: 'first', offerId: full })).body.data.conversion.status, 'pending')
  const cases = [
    { offerId: full, reason: 'cap_exceeded', credentials: live },
    { offerId: paused, reason: 'not_eligible', credentials: live },
    { offerId: ended, reason: 'not_eligible', credentials: live },
    { offerId: early, reason: 'not_eligible', credentials: live },
    { offerId: blocked, reason: 'not_eligible', credentials: picky.live },
  ]
  for (const { offerId, reason, credentials } of cases) {
    const reply = await world.report(credentials, { userId: 'late', offerId })
    assert.equal(reply.status, 201)
    assert.deepEqual(statusOf(reply), ['rejected', reason])
    assert.notEqual(reply.body.data.conversion.rejected_at, null)
    const again = await world.report(credentials, { userId: 'late', offerId })
    assert.deepEqual([again.status, idOf(again)], [200, idOf(reply)])
  }
})

test('a report that a payout cap has no room for is rejected, also while the cap is not reached', async () => {
  const offerId = await newOffer({ payout: 2, total_payout_cap: 3 })
  assert.deepEqual(statusOf(await world.report(live, { userId: 'one', offerId })), ['pending', null])
  assert.deepEqual(statusOf(await world.report(live, { userId: 'two', offerId })), ['rejected', 'cap_exceeded'])
})

test('a user who clicked while the offer was open is honoured when it closes', async () => {
  const { db } = world.database
  const [capped, paused, strict] = [
    await newOffer({ total_conversion_cap: 5 }),
    await newOffer(),
    await newOffer({ total_conversion_cap: 5, over_cap: 'reject' }),
  ]
  for (const offerId of [capped, paused, strict]) await world.click(offerId, live, 'userId=early')
  for (const offerId of [capped, strict]) {
    await world.report(live, { userId: 'another', offerId })
    await setCaps(db, TESTER, offerId, { totalConversions: 1 }, new Date())
  }
  await db.updateTable('offers').set({ status: 'paused' }).where('offer_id', '=', paused).execute()
  assert.deepEqual(statusOf(await world.report(live, { userId: 'early', offerId: capped })), ['pending', null])
  assert.deepEqual(statusOf(await world.report(live, { userId: 'early', offerId: paused })), ['pending', null])
  assert.deepEqual(statusOf(await world.report(live, { userId: 'early', offerId: strict })), [
    'rejected',
    'cap_exceeded',
  ])
})

test('a rejected report gives way to a later one, once the offer is open again', async () => {
  const offerId = await newOffer({ status: 'paused' })
  const rejected = await world.report(live, { userId: 'patient', offerId })
  await world.database.db.updateTable('offers').set({ status: 'active' }).where('offer_id', '=', offerId).execute()
  const made = await world.report(live, { userId: 'patient', offerId })
  assert.deepEqual([made.status, made.body.data.conversion.status], [201, 'pending'])
  assert.notEqual(idOf(made), idOf(rejected))
})

test('the word of a trusted app is approved at once, for that app and offer alone', async () => {
  const { db } = world.database
  const [offerId, other] = [await newOffer(), await newOffer()]
  const stranger = await world.createApp()
  await trustApp(db, TESTER, appId, [offerId])
  const reply = await world.report(live, { userId: 'trusted', offerId })
  assert.deepEqual(statusOf(reply), ['approved', null])
  assert.notEqual(reply.body.data.conversion.approved_at, null)
  assert.deepEqual(statusOf(await world.report(live, { userId: 'trusted', offerId: other })), ['pending', null])
  assert.deepEqual(statusOf(await world.report(stranger.live, { userId: 'trusted', offerId })), ['pending', null])
  await distrustApp(db, TESTER, appId, [offerId])
  assert.deepEqual(statusOf(await world.report(live, { userId: 'later', offerId })), ['pending', null])
  assert.deepEqual(await checkLedger(world.database), [])
})

test('fifty identical reports at once, through two processes, create one conversion and one posting', async () => {
  const offerId = await newOffer()
  const second = await world.start()
  try {
    const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, i) =>
        (i % 2 === 0 ? world.app : second).server.inject({
          method: 'POST',
          url: '/v1/conversions',
          headers,
          payload: { userId: 'crowd', offerId },
        }),
      ),
    )
    const statuses = answers.map((answer) => answer.statusCode)
    assert.equal(statuses.filter((status) => status === 201).length, 1)
    assert.equal(statuses.filter((status) => status === 200).length, 49)
    const ids = new Set(answers.map((answer) => answer.json<Reply['body']>().data.conversion.conversion_id))
    assert.equal(ids.size, 1)
  } finally {
    await second.close()
  }
  const { db } = world.database
  const rows = await db.selectFrom('conversions').selectAll().where('offer_id', '=', offerId).execute()
  assert.equal(rows.length, 1)
  const entries = await db
    .selectFrom('ledger_entries')
    .select(['posting_id', 'amount_micros'])
    .where('conversion_id', '=', rows[0]?.conversion_id ?? '')
    .execute()
  assert.deepEqual([...new Set(entries.map((entry) => entry.posting_id))], [rows[0]?.event_id])
  assert.deepEqual(await checkLedger(world.database), [])
})

test('two apps of one publisher do not see each other’s conversions', async () => {
  const { db } = world.database
  const { publisher_id } = await createPublisher(db, TESTER, 'With two apps')
  const common = { currency: 'Coins', rateMicros: 1_000_000, rateLimit: 1000, expiresAt: null }
  const rules = { blockedCategories: [], blockedKeywords: [], paymentOffers: true }
  const make = (name: string) =>
    createApp(db, TESTER, SECRET_KEY, { publisherId: publisher_id, name, ...common, ...rules })
  const [one, two] = [await make('One'), await make('Two')]
  await world.app.refresh()
  const made = await world.report(one.live, { userId: 'u', offerId: await newOffer() })
  assert.equal(made.status, 201)
  assert.equal((await world.get(`/v1/conversions/${idOf(made)}`, two.live)).status, 404)
  assert.deepEqual((await world.get('/v1/conversions', two.live)).body.data.conversions, [])
})
