// Words that come late, twice, or after things changed: which of them count.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { editOffer } from '../../../test/edit-offer.ts'
import { until } from '../../../test/installation.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { ensurePartitions } from '../../db/partitions.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { buildWorker } from '../../worker.ts'
import { banUser } from '../apps/bans.ts'
import { trustApp } from '../apps/trust.ts'
import { dropOldClicks } from '../clicks/retention.ts'
import { checkLedger } from '../ledger/check.ts'
import { readBalances } from '../ledger/ledger.ts'
import type { Move } from './commands.ts'
import { findHeldUntil, findUnconfirmed } from './conversions.ts'
import { setFraudRule } from './fraud.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('late_words')
const DAY_MS = 86_400_000

async function make(record: Record<string, unknown> = {}) {
  const { live, appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers('goals' in record ? { payout: null, ...record } : record)
  const conversions = () =>
    world.database.db
      .selectFrom('conversions')
      .selectAll()
      .where('app_id', '=', appId)
      .orderBy('conversion_id')
      .execute()
  const listed = async () => (await world.get(`/v1/offers?userId=u`, live)).body.data.offers?.some((one) => one.offer_id === offerId) ?? false // prettier-ignore
  return { live, appId, offerId, conversions, listed, db: world.database.db }
}

type Made = Awaited<ReturnType<typeof make>>

/** As if its click had been a while ago. */
async function age({ db }: Made, clickId: string, seconds: number): Promise<void> {
  await sql`UPDATE clicks SET clicked_at = clicked_at - ${seconds} * interval '1 s' WHERE click_id = ${clickId}`.execute(
    db,
  )
}

/** A click that counts as one of now, and is stored among those of long ago. */
async function clickLongAgo({ db, offerId, live }: Made, userId: string): Promise<string> {
  const { clickId } = await world.click(offerId, live, `userId=${userId}`)
  const atMs = Date.now() - 100 * DAY_MS
  const oldId = uuid7(atMs)
  await ensurePartitions(db, 'clicks', [atMs])
  await sql`UPDATE clicks SET click_id = ${oldId} WHERE click_id = ${clickId}`.execute(db)
  return oldId
}

/** Retention drops the clicks of long ago; those of now stay. */
async function drop(made: Made): Promise<void> {
  await world.click(made.offerId, made.live, 'userId=stays')
  assert.equal((await dropOldClicks(made.db, new Date(), 40)).length, 1)
}

const decide = (made: Made, conversionId: string, to: Move['to'], reason?: Move['reason']) =>
  applyCommands(
    made.db,
    [{ kind: 'move', by: TESTER, conversionId, to, ...(reason === undefined ? {} : { reason }) }],
    new Date(),
  )

test('a reversal finds its conversion when the click is gone, by the click or by the transaction', async () => {
  const made = await make()
  const [ann, bob] = [await clickLongAgo(made, 'ann'), await clickLongAgo(made, 'bob')]
  await world.confirm(made.offerId, ann, { txn_id: 't-1' })
  await world.confirm(made.offerId, bob, { txn_id: 'b-1' })
  await drop(made)
  assert.equal((await world.confirm(made.offerId, ann, { txn_id: 't-1' })).outcome, 'duplicate')
  assert.equal((await world.confirm(made.offerId, ann, { status: 'reversed' })).outcome, 'reversed')
  assert.equal((await world.confirm(made.offerId, '', { txn_id: 'b-1', status: 'reversed' })).outcome, 'reversed')
  assert.deepEqual((await made.conversions()).map((one) => one.status), ['reversed', 'reversed']) // prettier-ignore
  const unknown = uuid7(Date.now() - 90 * DAY_MS)
  assert.equal((await world.confirm(made.offerId, unknown, { status: 'reversed' })).outcome, 'unmatched')
})

test('a conversion reported as pending in time is approved after the click is dropped, at what the click promised', async () => {
  const made = await make({ goals: [{ name: 'Order', payout: '1', payout_percent: '10' }], attribution_window: '1h' })
  const [ann, bob] = [await clickLongAgo(made, 'ann'), await clickLongAgo(made, 'bob')]
  for (const [clickId, txn_id] of [
    [ann, 't-2'],
    [bob, 'b-2'],
  ] as const)
    // prettier-ignore
    await world.confirm(made.offerId, clickId, { txn_id, status: 'pending' })
  await editOffer(world, made.offerId, ({ goals }) => ({ goals: goals.map((goal) => ({ ...goal, payoutPpm: 1 })) }))
  await drop(made)
  assert.equal((await world.confirm(made.offerId, ann, { txn_id: 't-2', amount: '50' })).outcome, 'approved')
  assert.equal((await world.confirm(made.offerId, '', { txn_id: 'b-2', amount: '50' })).outcome, 'approved')
  const recorded = (await made.conversions()).map((one) => [one.payout_micros, one.click_id])
  assert.deepEqual(recorded, [[5_000_000, ann], [5_000_000, bob]]) // prettier-ignore
})

test('a confirmation may name its transaction alone, where that is one thing', async () => {
  const made = await make({ goals: [{ name: 'A', payout: '1' }, { name: 'B', payout: '2' }] }) // prettier-ignore
  const { clickId } = await world.click(made.offerId, made.live)
  await world.confirm(made.offerId, clickId, { txn_id: 't-3', goal: 'B' })
  assert.equal((await world.confirm(made.offerId, '', { txn_id: 't-3', status: 'reversed' })).outcome, 'reversed')
  const other = await world.click(made.offerId, made.live, 'userId=other')
  const third = await world.click(made.offerId, made.live, 'userId=third')
  await world.confirm(made.offerId, other.clickId, { txn_id: 't-4', goal: 'A' })
  await world.confirm(made.offerId, third.clickId, { txn_id: 't-4', goal: 'B' })
  const unclear = await world.confirm(made.offerId, '', { txn_id: 't-4', status: 'reversed' })
  assert.deepEqual([unclear.status, unclear.outcome], [400, 'invalid'])
  assert.match(unclear.message, /Several conversions/)
  assert.equal((await world.confirm(made.offerId, '', { txn_id: 'never seen', status: 'reversed' })).status, 202)
  assert.equal((await world.confirm(made.offerId, '')).status, 400)
})

test('the latest amount of a pending conversion counts, whichever side reported it first', async () => {
  for (const isReported of [true, false]) {
    const made = await make({ goals: [{ name: 'Order', payout: '0', payout_percent: '10' }] })
    const { clickId } = await world.click(made.offerId, made.live)
    if (isReported) await world.report(made.live, { userId: 'u', offerId: made.offerId })
    await world.confirm(made.offerId, clickId, { status: 'pending', amount: '70' })
    await world.confirm(made.offerId, clickId, { status: 'pending', amount: '100' })
    await world.confirm(made.offerId, clickId)
    assert.deepEqual((await made.conversions()).map((one) => [one.status, one.payout_micros]), [['approved', 10_000_000]]) // prettier-ignore
  }
  assert.deepEqual(await checkLedger(world.database), [])
})

test('what the advertiser reported as pending in time it may approve later, even where the publisher reported first', async () => {
  const made = await make({ attribution_window: '1h' })
  const { clickId } = await world.click(made.offerId, made.live)
  await world.report(made.live, { userId: 'u', offerId: made.offerId })
  assert.equal((await world.confirm(made.offerId, clickId, { status: 'pending' })).outcome, 'pending')
  await age(made, clickId, 7_200)
  assert.equal((await world.confirm(made.offerId, clickId)).outcome, 'approved')
})

test('a user who is banned during a hold is not paid when it ends', async () => {
  const made = await make({ hold: '1h' })
  const { clickId } = await world.click(made.offerId, made.live)
  await world.confirm(made.offerId, clickId)
  await banUser(made.db, TESTER, { appId: made.appId, userId: 'u', reason: 'found out' })
  const later = new Date(Date.now() + 7_200_000)
  for (const conversionId of await findHeldUntil(made.db, later, 100))
    await applyCommands(made.db, [{ kind: 'release', conversionId }], later)
  const [one] = await made.conversions()
  assert.deepEqual([one?.status, one?.status_reason, one?.signals.includes('banned_user')], ['rejected', 'fraud', true])
})

test('after a reversal the offer is listed, can be clicked, and is paid again for the new click alone', async () => {
  const made = await make()
  const first = await world.click(made.offerId, made.live)
  await world.confirm(made.offerId, first.clickId, { txn_id: 'r-1' })
  await world.confirm(made.offerId, first.clickId, { txn_id: 'r-1', status: 'reversed' })
  await world.app.refresh()
  assert.equal(await made.listed(), true)
  assert.equal((await world.confirm(made.offerId, first.clickId, { txn_id: 'r-2' })).outcome, 'duplicate')
  const second = await world.click(made.offerId, made.live)
  assert.equal((await world.confirm(made.offerId, second.clickId, { txn_id: 'r-3' })).outcome, 'approved')
  assert.equal((await world.confirm(made.offerId, first.clickId, { txn_id: 'r-1' })).outcome, 'duplicate')
  assert.deepEqual((await made.conversions()).map((one) => one.status), ['reversed', 'approved']) // prettier-ignore
})

test('a reversal for fraud, or of an offer that allows no second time, closes list, link and payment', async () => {
  for (const isFraud of [true, false]) {
    const made = await make({ redo_after_reversal: isFraud })
    const link = (await world.get(`/v1/offers/${made.offerId}?userId=u`, made.live)).body.data.offer?.link ?? ''
    const { clickId } = await world.follow(link)
    const { conversion_id } = await world.confirm(made.offerId, clickId)
    if (isFraud) await decide(made, conversion_id ?? '', 'reversed', 'fraud')
    else await world.confirm(made.offerId, clickId, { status: 'reversed' })
    await world.app.refresh()
    assert.equal(await made.listed(), false)
    assert.equal((await world.follow(link)).status, 410)
    assert.equal((await world.confirm(made.offerId, clickId, { txn_id: 'new' })).outcome, 'duplicate')
    assert.equal(
      (await world.report(made.live, { userId: 'u', offerId: made.offerId, transactionId: 'new' })).status,
      200,
    )
  }
})

test('a rejection by an operator or a fraud rule is not undone by another txn_id for the same click', async () => {
  for (const by of ['rule', 'operator', 'operator for fraud'] as const) {
    const made = await make({ hold: by === 'rule' ? '0s' : '1h' })
    if (by === 'rule') await setFraudRule(made.db, TESTER, { offerId: made.offerId, signal: 'too_fast', threshold: 60, action: 'reject' }) // prettier-ignore
    const { clickId } = await world.click(made.offerId, made.live)
    const { conversion_id } = await world.confirm(made.offerId, clickId, { txn_id: 'f-1' })
    if (by !== 'rule') await decide(made, conversion_id ?? '', 'rejected', by === 'operator' ? 'operator' : 'fraud')
    await age(made, clickId, 120)
    assert.equal((await world.confirm(made.offerId, clickId, { txn_id: 'f-2' })).outcome, 'duplicate', by)
    assert.deepEqual((await made.conversions()).map((one) => one.status), ['rejected'], by) // prettier-ignore
  }
})

test('a report that no advertiser confirms expires with an event of its own, and the advertiser may still confirm', async () => {
  const made = await make({ confirm_within: '2d' })
  const { clickId } = await world.click(made.offerId, made.live)
  await world.report(made.live, { userId: 'u', offerId: made.offerId })
  const expire = async (at: number) => {
    for (const conversionId of await findUnconfirmed(made.db, new Date(at), 100))
      await applyCommands(made.db, [{ kind: 'expire', conversionId }], new Date(at))
  }
  await expire(Date.now() + DAY_MS)
  assert.deepEqual((await made.conversions()).map((one) => one.status), ['pending']) // prettier-ignore
  await expire(Date.now() + 3 * DAY_MS)
  assert.deepEqual((await made.conversions()).map((one) => [one.status, one.status_reason]), [['rejected', 'unconfirmed']]) // prettier-ignore
  const { body } = await world.get('/v1/conversions?userId=u', made.live)
  assert.equal(body.data.conversions?.[0]?.status_reason, 'unconfirmed')
  assert.equal((await world.report(made.live, { userId: 'u', offerId: made.offerId })).status, 200)
  assert.equal((await world.confirm(made.offerId, clickId)).outcome, 'approved')
})

test('a report waits 30 days for its advertiser, unless the offer says otherwise', async () => {
  for (const [record, days] of [
    [{}, 30],
    [{ confirm_within: '5d' }, 5],
  ] as const) {
    const made = await make(record)
    await world.report(made.live, { userId: 'u', offerId: made.offerId })
    const [one] = await made.conversions()
    assert.equal((one?.confirm_by?.getTime() ?? 0) - (one?.created_at.getTime() ?? 0), days * DAY_MS)
  }
})

test('the worker ends holds, except for banned users, and expires reports: caps, ledger and feed follow', async () => {
  const held = await make({ hold: '1h' })
  for (const user of ['u', 'banned here', 'banned everywhere']) {
    const { clickId } = await world.click(held.offerId, held.live, `userId=${user}`)
    await world.confirm(held.offerId, clickId)
  }
  await banUser(held.db, TESTER, { appId: held.appId, userId: 'banned here', reason: 'found out' })
  await banUser(held.db, TESTER, { appId: null, userId: 'banned everywhere', reason: 'found out' })
  const capped = await make({ total_conversion_cap: 1, payout: '1', revenue: '3' })
  await world.report(capped.live, { userId: 'reported', offerId: capped.offerId })
  const { advertiser_id: advertiserId = 0 } = (await capped.conversions())[0] ?? {}
  await world.app.refresh()
  assert.equal(await capped.listed(), false, 'the report fills the cap')
  assert.equal((await readBalances(capped.db, { advertiserId })).unconfirmedMicros, 3_000_000)

  await sql`UPDATE conversions SET hold_until = hold_until - interval '1 hour', confirm_by = confirm_by - interval '30 days'
    WHERE app_id IN (${held.appId}, ${capped.appId})`.execute(held.db)
  const { config, database, log } = world
  const worker = await buildWorker({ config, secretKey: SECRET_KEY, database, log })
  try {
    await until(async () =>
      [...(await held.conversions()), ...(await capped.conversions())].every(({ status }) => status !== 'pending'),
    )
    await until(async () => (await held.db.selectFrom('waiting_events').selectAll().execute()).length === 0)
  } finally {
    await worker.close()
  }
  assert.deepEqual((await held.conversions()).map((one) => [one.user_id, one.status, one.status_reason]), [['u', 'approved', null], ['banned here', 'rejected', 'fraud'], ['banned everywhere', 'rejected', 'fraud']]) // prettier-ignore
  await world.app.refresh()
  assert.equal(await capped.listed(), true, 'there is room again')
  assert.deepEqual(await readBalances(capped.db, { advertiserId }), { receivableMicros: 0, unconfirmedMicros: 0 })
  const { events } = (await world.get('/v1/events', capped.live)).body.data
  assert.deepEqual(events.map(({ type, data }) => [type, data.status_reason]), [['conversion.pending', null], ['conversion.rejected', 'unconfirmed']]) // prettier-ignore
})

test('the books have what advertisers confirmed apart from what only a trusted publisher said', async () => {
  const made = await make({ payout: '1', revenue: '3' })
  await trustApp(made.db, TESTER, made.appId, [made.offerId])
  const { clickId } = await world.click(made.offerId, made.live)
  await world.report(made.live, { userId: 'u', offerId: made.offerId })
  const { advertiser_id: advertiserId = 0 } = (await made.conversions())[0] ?? {}
  assert.deepEqual(await readBalances(made.db, { advertiserId }), { receivableMicros: 0, unconfirmedMicros: 3_000_000 })
  assert.equal((await world.confirm(made.offerId, clickId, { txn_id: 'c-1' })).outcome, 'approved')
  assert.deepEqual(await readBalances(made.db, { advertiserId }), { receivableMicros: 3_000_000, unconfirmedMicros: 0 })
  await world.confirm(made.offerId, clickId, { txn_id: 'c-1', status: 'reversed' })
  assert.deepEqual(await readBalances(made.db, { advertiserId }), { receivableMicros: 0, unconfirmedMicros: 0 })
  assert.deepEqual(await checkLedger(world.database), [])
})

test('a payout cap with over_cap reject is never passed, by a new conversion or by a larger amount', async () => {
  const made = await make({ goals: [{ name: 'Order', payout: '1', payout_percent: '10' }], over_cap: 'reject', total_payout_cap: '10' }) // prettier-ignore
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map((user) => world.click(made.offerId, made.live, `userId=${user}`)),
  )
  assert.equal((await world.confirm(made.offerId, a?.clickId ?? '', { amount: '60' })).outcome, 'approved')
  assert.equal((await world.confirm(made.offerId, b?.clickId ?? '', { amount: '50' })).reason, 'cap_exceeded')
  assert.equal(
    (await world.confirm(made.offerId, c?.clickId ?? '', { amount: '30', status: 'pending' })).outcome,
    'pending',
  )
  assert.equal((await world.confirm(made.offerId, c?.clickId ?? '', { amount: '41' })).reason, 'cap_exceeded')
})
