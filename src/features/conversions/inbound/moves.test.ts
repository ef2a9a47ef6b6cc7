// What confirmations do to a conversion: adopt it, move it, or nothing. And what a hold and test mode change about that.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../../test/world.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { checkLedger } from '../../ledger/check.ts'
import { recomputePopularity } from '../../offers/popularity.ts'
import { findHeldUntil, readHistory } from '../conversions.ts'
import { applyCommands } from '../apply-commands.ts'

let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('postback_moves', async () => {
  ;({ live, test: testMode } = await world.createApp())
})

async function newOffer(record: Record<string, unknown> = {}): Promise<number> {
  return (await world.createOffers(record))[0] ?? 0
}

const clickOf = async (offerId: number, userId: string, credentials = live) =>
  (await world.click(offerId, credentials, `userId=${userId}`)).clickId

const conversionsOf = (offerId: number) =>
  world.database.db
    .selectFrom('conversions')
    .selectAll()
    .where('offer_id', '=', offerId)
    .orderBy('conversion_id')
    .execute()

const entriesOf = (conversionId: string) =>
  world.database.db.selectFrom('ledger_entries').selectAll().where('conversion_id', '=', conversionId).execute()

const sound = async () => assert.deepEqual(await checkLedger(world.database), [])

// What is said one after the other about one click, and what each comes to.
const STORIES: [string, string][][] = [
  [['pending', 'pending'], ['pending', 'duplicate'], ['approved', 'approved'], ['approved', 'duplicate'], ['pending', 'duplicate'], ['reversed', 'reversed'], ['approved', 'duplicate'], ['pending', 'duplicate'], ['rejected', 'duplicate'], ['reversed', 'duplicate']],
  [['approved', 'approved'], ['rejected', 'reversed'], ['approved', 'duplicate']],
  [['pending', 'pending'], ['rejected', 'rejected'], ['rejected', 'duplicate'], ['reversed', 'duplicate']],
  [['pending', 'pending'], ['reversed', 'rejected'], ['reversed', 'duplicate']],
  [['rejected', 'rejected'], ['rejected', 'duplicate'], ['approved', 'approved'], ['approved', 'duplicate'], ['reversed', 'reversed']],
  [['reversed', 'rejected'], ['reversed', 'duplicate']],
] // prettier-ignore

for (const story of STORIES) {
  test(`after ${story.map(([status]) => status).join(', ')} it is ${story.map(([, outcome]) => outcome).join(', ')}`, async () => {
    const offerId = await newOffer()
    const clickId = await clickOf(offerId, 'u')
    for (const [status, outcome] of story) {
      const answer = await world.confirm(offerId, clickId, { status, txn_id: 't' })
      assert.deepEqual([answer.status, answer.outcome], [200, outcome], status)
    }
    for (const { conversion_id, status } of await conversionsOf(offerId)) {
      const history = await readHistory(world.database.db, conversion_id)
      assert.deepEqual(
        history.map(({ sequence }) => sequence),
        history.map((_, i) => i + 1),
      )
      assert.equal(history.at(-1)?.status, status)
    }
    await sound()
  })
}

test('a duplicate writes neither an event nor an entry', async () => {
  const offerId = await newOffer()
  const clickId = await clickOf(offerId, 'u')
  const { conversion_id } = await world.confirm(offerId, clickId, { txn_id: 't' })
  const before = [await readHistory(world.database.db, conversion_id ?? ''), await entriesOf(conversion_id ?? '')]
  const again = await world.confirm(offerId, clickId, { txn_id: 't', amount: '99' })
  assert.deepEqual([again.outcome, again.conversion_id], ['duplicate', conversion_id])
  assert.match(again.message, /nothing was changed/)
  assert.deepEqual(
    [await readHistory(world.database.db, conversion_id ?? ''), await entriesOf(conversion_id ?? '')],
    before,
  )
})

test('the confirmation may come before the report, which then changes nothing', async () => {
  const offerId = await newOffer()
  const { conversion_id } = await world.confirm(offerId, await clickOf(offerId, 'u'))
  const { status, body } = await world.report(live, { userId: 'u', offerId })
  const { conversion } = body.data
  assert.deepEqual([status, conversion.conversion_id, conversion.status], [200, conversion_id, 'approved'])
})

test('a second click of the same user pays no second time', async () => {
  const offerId = await newOffer()
  const [first, second] = [await clickOf(offerId, 'u'), await clickOf(offerId, 'u')]
  const one = await world.confirm(offerId, first, { txn_id: 'a' })
  const two = await world.confirm(offerId, second, { txn_id: 'b' })
  assert.deepEqual([one.outcome, two.outcome, two.conversion_id], ['approved', 'duplicate', one.conversion_id])
})

test('the same transaction for another user was paid already', async () => {
  const offerId = await newOffer()
  const one = await world.confirm(offerId, await clickOf(offerId, 'ann'), { txn_id: 'same' })
  const clickId = await clickOf(offerId, 'bob')
  const two = await world.confirm(offerId, clickId, { txn_id: 'same' })
  assert.deepEqual([one.outcome, two.outcome, two.conversion_id], ['approved', 'duplicate', one.conversion_id])
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'same', status: 'reversed' })).outcome, 'duplicate')
  assert.equal((await conversionsOf(offerId))[0]?.status, 'approved', 'nor can it be taken back from there')
})

test('fifty confirmations of one click at once create one conversion', async () => {
  const offerId = await newOffer()
  const clickId = await clickOf(offerId, 'u')
  const answer = await Promise.all(Array.from({ length: 50 }, () => world.confirm(offerId, clickId, { txn_id: 't' })))
  const outcomes = answer.map(({ outcome }) => outcome).toSorted()
  assert.deepEqual(outcomes, ['approved', ...Array.from({ length: 49 }, () => 'duplicate')])
  assert.equal((await conversionsOf(offerId)).length, 1)
  await sound()
})

test('a goal that repeats needs a transaction, and pays once for each', async () => {
  const offerId = await newOffer({ payout: 1, goals: [{ name: 'Buy', payout: 1, is_repeatable: true }] })
  const clickId = await clickOf(offerId, 'u')
  const without = await world.confirm(offerId, clickId)
  assert.deepEqual([without.status, without.outcome], [400, 'invalid'])
  const say = async (txn_id: string, status = 'approved') =>
    (await world.confirm(offerId, clickId, { txn_id, status })).outcome
  assert.deepEqual([await say('a'), await say('b'), await say('a')], ['approved', 'approved', 'duplicate'])
  assert.deepEqual([await say('a', 'reversed'), await say('b')], ['reversed', 'duplicate'])
})

test('beyond its window a click is paid no more', async () => {
  const offerId = await newOffer({ attribution_window: '60s' })
  const clickId = await clickOf(offerId, 'u')
  const { pool } = world.database
  await pool.query("UPDATE clicks SET clicked_at = clicked_at - interval '61 seconds' WHERE click_id = $1", [clickId])
  const answer = await world.confirm(offerId, clickId)
  assert.deepEqual([answer.status, answer.outcome, answer.reason], [200, 'rejected', 'click_expired'])
  assert.equal(answer.message, 'The conversion is rejected (click_expired).')
})

test('a hold is kept until its time is over, and not a moment less', async () => {
  const { db } = world.database
  const offerId = await newOffer({ hold: '2d' })
  const clickId = await clickOf(offerId, 'u')
  const answer = await world.confirm(offerId, clickId)
  assert.equal(answer.outcome, 'pending')
  const id = answer.conversion_id ?? ''
  const { conversion } = (await world.get(`/v1/conversions/${id}`, live)).body.data
  const confirmedAt = Date.parse(conversion.created_at)
  assert.equal(Date.parse(conversion.hold_until ?? '') - confirmedAt, 2 * 86_400_000)
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'duplicate', 'saying it again does not help')
  const [{ hold_until: due } = { hold_until: null }] = await conversionsOf(offerId)
  const early = new Date((due?.getTime() ?? 0) - 1)
  assert.ok(!(await findHeldUntil(db, early, 100)).includes(id))
  await applyCommands(db, [{ kind: 'release', conversionId: id }], early)
  assert.equal((await conversionsOf(offerId))[0]?.status, 'pending')
  assert.ok((await findHeldUntil(db, due ?? early, 100)).includes(id))
  await applyCommands(db, [{ kind: 'release', conversionId: id }], due ?? early)
  await applyCommands(db, [{ kind: 'release', conversionId: id }], due ?? early)
  const history = await readHistory(db, id)
  assert.deepEqual(
    history.map(({ status, actor }) => [status, actor]),
    [
      ['pending', 'advertiser'],
      ['approved', 'system'],
    ],
  )
  await sound()
})

test('a reversal during the hold rejects, and the hold is over for good', async () => {
  const { db } = world.database
  const offerId = await newOffer({ hold: '1h' })
  const clickId = await clickOf(offerId, 'u')
  await world.report(live, { userId: 'u', offerId })
  const held = await world.confirm(offerId, clickId)
  assert.equal(held.outcome, 'pending', 'the report is adopted, and held')
  const answer = await world.confirm(offerId, clickId, { status: 'reversed' })
  assert.deepEqual([answer.outcome, answer.reason], ['rejected', 'advertiser_reversed'])
  const inADay = new Date(Date.now() + 86_400_000)
  assert.ok(!(await findHeldUntil(db, inADay, 100)).includes(held.conversion_id ?? ''))
  await applyCommands(db, [{ kind: 'release', conversionId: held.conversion_id ?? '' }], inADay)
  assert.deepEqual(
    (await conversionsOf(offerId)).map(({ status }) => status),
    ['rejected'],
  )
  await sound()
})

test('a report alone is never released, however long it waits', async () => {
  const offerId = await newOffer({ hold: '1h' })
  const { conversion } = (await world.report(live, { userId: 'u', offerId })).body.data
  assert.equal(conversion.hold_until, null)
  const inAYear = new Date(Date.now() + 365 * 86_400_000)
  await applyCommands(world.database.db, [{ kind: 'release', conversionId: conversion.conversion_id }], inAYear)
  assert.equal((await conversionsOf(offerId))[0]?.status, 'pending')
})

test('with test credentials the whole path works, and touches no money, cap, popularity or statistic', async () => {
  const { db, pool } = world.database
  const offerId = await newOffer({ total_conversion_cap: 1, total_click_cap: 1, payout: 5 })
  const statsBefore = (await world.get('/v1/stats', live)).body.data
  const clickId = await clickOf(offerId, 'tester', testMode)
  const answer = await world.confirm(offerId, clickId, { txn_id: 't' })
  assert.equal(answer.outcome, 'approved')
  assert.equal((await world.report(testMode, { userId: 'tester 2', offerId })).body.data.conversion.status, 'approved')
  const shown = (await world.get(`/v1/conversions/${answer.conversion_id}`, testMode)).body.data.conversion
  assert.deepEqual([shown.is_test, shown.status, shown.payout], [true, 'approved', 5])
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 't', status: 'reversed' })).outcome, 'reversed')

  assert.deepEqual(await entriesOf(answer.conversion_id ?? ''), [])
  const usage = await pool.query('SELECT FROM offer_usage WHERE offer_id = $1 AND conversions + clicks > 0', [offerId])
  assert.equal(usage.rowCount, 0)
  await recomputePopularity(db, new Date())
  const { popularity, full_until } = await db
    .selectFrom('offers')
    .select(['popularity', 'full_until'])
    .where('offer_id', '=', offerId)
    .executeTakeFirstOrThrow()
  assert.deepEqual([popularity, full_until], [0, null])
  const totals = (data: unknown) => (data as { totals: object }).totals
  assert.deepEqual(totals((await world.get('/v1/stats', live)).body.data), totals(statsBefore))
  assert.equal((totals((await world.get('/v1/stats', testMode)).body.data) as { clicks: number }).clicks, 0)

  const liveClick = await clickOf(offerId, 'tester')
  const real = await world.confirm(offerId, liveClick, { txn_id: 't' })
  assert.equal(real.outcome, 'approved', 'the same user, offer and transaction is still free in live mode')
})
