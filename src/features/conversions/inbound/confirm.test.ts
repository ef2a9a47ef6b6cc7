// Calls that match no click yet are retried automatically, and any call by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import { setAdvertiser } from '../../accounts/advertiser-settings.ts'
import { rotateToken } from '../../accounts/advertisers.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { checkLedger } from '../../ledger/check.ts'
import { type CallRow, callOf, findCall, listCalls } from './calls.ts'
import { reprocessCall, retryUnmatched } from './confirm.ts'
import { dismissCalls, nextAttemptAt, trimOpenCalls } from './open-calls.ts'
import { TESTER } from '../../../../test/tester.ts'

let live: IssuedCredentials
const world = useWorld('postback_retry', async () => {
  live = (await world.createApp()).live
})

const SECOND = 1_000
const HOUR = 3_600_000
const nowhere = { countryOf: () => null }
const later = (row: CallRow, ms: number) => new Date(row.received_at.getTime() + ms)
const retry = (now: Date) => retryUnmatched(world.database.db, now, () => null)

/** A call about a click that is not in the database, because it is in another process's spool. */
async function unmatchedCall(parameters: Record<string, string> = {}, offer: Record<string, unknown> = {}) {
  const [offerId = 0] = await world.createOffers(offer)
  const { clickId } = await world.click(offerId, live, 'userId=u')
  const { rows } = await world.database.pool.query<{ row: object }>(
    'WITH gone AS (DELETE FROM clicks WHERE click_id = $1 RETURNING *) SELECT to_jsonb(gone) AS row FROM gone',
    [clickId],
  )
  const bringClick = async () => {
    await world.database.pool.query('INSERT INTO clicks SELECT * FROM jsonb_populate_record(NULL::clicks, $1)', [
      JSON.stringify(rows[0]?.row),
    ])
  }
  const answer = await world.confirm(offerId, clickId, parameters)
  const read = async () => (await listCalls(world.database.db, { clickId }, 1))[0] as CallRow
  return { offerId, clickId, bringClick, answer, read }
}

const conversionsOf = (clickId: string) =>
  world.database.db.selectFrom('conversions').selectAll().where('click_id', '=', clickId).execute()

test('a call without its click is accepted, kept, and matched once the click arrives', async () => {
  const { clickId, bringClick, answer, read } = await unmatchedCall({ txn_id: 'early' })
  assert.deepEqual([answer.status, answer.outcome, answer.conversion_id], [202, 'unmatched', null])
  assert.match(answer.message, /retried for three days/)
  const kept = await read()
  assert.ok(kept.next_attempt_at !== null)
  await retry(later(kept, 60 * SECOND))
  assert.equal((await read()).outcome, 'unmatched')
  await bringClick()
  await retry(later(kept, HOUR))
  const matched = await read()
  assert.deepEqual([matched.outcome, matched.attempts, matched.next_attempt_at], ['approved', 2, null])
  const [conversion] = await conversionsOf(clickId)
  assert.deepEqual([conversion?.conversion_id, conversion?.status], [matched.conversion_id, 'approved'])
  assert.equal(conversion?.advertiser_transaction_id, 'early')
  await retry(later(kept, 2 * HOUR))
  assert.deepEqual(await read(), matched, 'it is done with')
  assert.deepEqual(await checkLedger(world.database), [])
})

test('a call counts from when it came, however long it waits for its click or for its words', async () => {
  const { db } = world.database
  const short = { attribution_window: '1h' }
  const { clickId, bringClick, read } = await unmatchedCall({ txn_id: 'in-time' }, short)
  const unread = await unmatchedCall({ txn_id: 'in-time-2', status: 'erledigt' }, short)
  await bringClick()
  await unread.bringClick()
  await retry(later(await read(), 70 * HOUR))
  assert.deepEqual([(await read()).outcome, (await conversionsOf(clickId)).length], ['approved', 1])
  const [late] = await listCalls(db, { outcome: 'invalid' }, 1)
  assert.ok(late !== undefined && late.query.includes('in-time-2'))
  await setAdvertiser(db, TESTER, late.advertiser_id ?? 0, { statusMap: [['erledigt', 'approved']] })
  const again = await reprocessCall(db, callOf(late), { ...nowhere, now: later(late, 70 * HOUR) })
  assert.deepEqual([again.outcome, again.reason], ['approved', null])
})

test('the delays double up to ten minutes, and after 72 hours there are no more retries', async () => {
  const { read } = await unmatchedCall()
  const first = await read()
  let now = first.next_attempt_at
  for (let i = 0; i < 12 && now !== null; i++) {
    assert.equal(await retry(new Date(now.getTime() - 1)), 0, 'not before its time')
    await retry(now)
    const { next_attempt_at } = await read()
    const ageMs = now.getTime() - first.received_at.getTime()
    assert.equal(Number(next_attempt_at) - now.getTime(), Math.min(ageMs, 600 * SECOND))
    now = next_attempt_at
  }
  await retry(later(first, 72 * HOUR))
  assert.ok((await read()).next_attempt_at !== null)
  await retry(later(first, 73 * HOUR))
  const last = await read()
  assert.deepEqual([last.outcome, last.next_attempt_at, last.attempts], ['unmatched', null, 1])
  assert.ok(last.is_open, 'it is the operator’s now')
  assert.equal(await retry(later(first, 100 * HOUR)), 0)
})

test('the first delay is short, and no age leads to an invalid one', () => {
  const receivedAt = Date.parse('2026-01-01T00:00:00Z')
  const inboundId = uuid7(receivedAt)
  const waitAt = (ageMs: number) => Number(nextAttemptAt(inboundId, new Date(receivedAt + ageMs))) - receivedAt - ageMs
  assert.deepEqual([waitAt(0), waitAt(-5_000), waitAt(32_000), waitAt(71 * HOUR)], [2_000, 2_000, 32_000, 600_000])
  assert.equal(nextAttemptAt(inboundId, new Date(receivedAt + 73 * HOUR)), null)
})

test('two retries at once create one conversion, and the log has the outcome', async () => {
  const { clickId, bringClick, read } = await unmatchedCall()
  await bringClick()
  const now = later(await read(), HOUR)
  await Promise.all([retry(now), retry(now), retry(now)])
  assert.equal((await conversionsOf(clickId)).length, 1)
  const call = await read()
  assert.deepEqual([call.outcome, call.attempts], ['approved', 2])
})

test('a call whose token was wrong is not processed again, whatever happens to its advertiser', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=u')
  await world.app.server.inject(`/postback?click_id=${clickId}&token=wrong`)
  const [refused] = await listCalls(world.database.db, { outcome: 'refused' }, 1)
  assert.ok(refused !== undefined && refused.query.includes(clickId))
  const again = await reprocessCall(world.database.db, callOf(refused), { ...nowhere, isAgain: true })
  assert.deepEqual([again.outcome, again.message], ['refused', 'The token was missing or wrong when the callback arrived, so it cannot be processed.']) // prettier-ignore
  assert.deepEqual(await findCall(world.database.db, refused.inbound_id), refused)
  assert.deepEqual(await conversionsOf(clickId), [])
})

test('the token of another advertiser stays that of another one', async () => {
  const [offerId = 0] = await world.createOffers({})
  const [other = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=u')
  await world.confirm(other, clickId)
  const [call] = await listCalls(world.database.db, { clickId }, 1)
  const again = await reprocessCall(world.database.db, callOf(call as CallRow), { ...nowhere, isAgain: true })
  assert.equal(again.outcome, 'refused')
  assert.deepEqual(await conversionsOf(clickId), [])
})

test('a call that was not understood is, once its words are mapped', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=u')
  const answer = await world.confirm(offerId, clickId, { status: 'fertig', txn_id: 'x' })
  assert.equal(answer.outcome, 'invalid')
  const [call] = await listCalls(db, { outcome: 'invalid' }, 1)
  await setAdvertiser(db, TESTER, call?.advertiser_id ?? 0, { statusMap: [['fertig', 'approved']] })
  const again = await reprocessCall(db, callOf(call as CallRow), { ...nowhere, isAgain: true })
  assert.equal(again.outcome, 'approved')
  const kept = await findCall(db, call?.inbound_id ?? '')
  assert.deepEqual([kept?.outcome, kept?.attempts, kept?.click_id], ['approved', 2, clickId])
})

test('what the system had rejected is judged again by hand, and only by hand', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({ total_conversion_cap: 1, over_cap: 'reject' })
  const { clickId } = await world.click(offerId, live, 'userId=late')
  await world.report(live, { userId: 'first', offerId })
  assert.deepEqual(
    [(await world.confirm(offerId, clickId)).reason, (await world.confirm(offerId, clickId)).outcome],
    ['cap_exceeded', 'duplicate'],
  )
  await db.updateTable('offers').set({ over_cap: 'honour' }).where('offer_id', '=', offerId).execute()
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'duplicate')
  const calls = await listCalls(db, { clickId, outcome: 'rejected' }, 1)
  const again = await reprocessCall(db, callOf(calls[0] as CallRow), { ...nowhere, isAgain: true })
  assert.equal(again.outcome, 'approved')
  assert.deepEqual((await conversionsOf(clickId)).map((one) => one.status).toSorted(), ['approved', 'rejected'])
  assert.deepEqual(await checkLedger(world.database), [])
})

test('a click id that was never ours is unmatched, not an error', async () => {
  const [offerId = 0] = await world.createOffers({})
  for (const clickId of [
    uuid7(Date.now()),
    uuid7(Date.now()).toUpperCase(),
    '00000000-0000-0000-0000-000000000000',
    'f0f0f0f0-f0f0-4f0f-8f0f-f0f0f0f0f0f0',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])
    for (const parameters of [{}, { amount: '5', currency: 'EUR' }] as Record<string, string>[])
      assert.equal((await world.confirm(offerId, clickId, parameters)).status, 202, clickId)
})

test('any number of calls about an unknown click cost one look each, and are refused in the end', async () => {
  const { clickId, offerId, bringClick } = await unmatchedCall({ txn_id: '0' })
  for (let i = 1; i < 50; i++) assert.equal((await world.confirm(offerId, clickId, { txn_id: String(i) })).status, 202)
  const turned = await world.confirm(offerId, clickId, { txn_id: '50' })
  assert.deepEqual([turned.status, turned.outcome, turned.reason], [429, 'refused', 'too_many'])
  const calls = await listCalls(world.database.db, { clickId }, 100)
  assert.equal(calls.length, 50)
  assert.ok(calls.every(({ attempts }) => attempts === 1), 'none was settled again') // prettier-ignore
  await retry(later(calls.at(-1) as CallRow, HOUR))
  assert.ok((await listCalls(world.database.db, { clickId }, 100)).every(({ attempts }) => attempts === 1))
  await bringClick()
  assert.equal((await world.confirm(offerId, clickId, { txn_id: '50' })).outcome, 'duplicate', 'the first one made it')
  const [conversion] = await conversionsOf(clickId)
  assert.equal(conversion?.advertiser_transaction_id, '0', 'in the order in which they came')
  assert.deepEqual(await listCalls(world.database.db, { clickId, isOpen: true }, 100), [])
})

test('what came to nothing is listed as open until it is processed or dismissed; of each advertiser, the newest', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=open')
  await world.confirm(offerId, clickId, { status: 'fertig' })
  await world.confirm(offerId, clickId, { status: 'nonsense' })
  const { advertiser_id: advertiserId } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const open = () => listCalls(db, { advertiserId, isOpen: true }, 10)
  const [nonsense, done] = await open()
  await setAdvertiser(db, TESTER, advertiserId, { statusMap: [['fertig', 'approved']] })
  await reprocessCall(db, callOf(done as CallRow), nowhere)
  assert.deepEqual((await open()).map((call) => call.inbound_id), [nonsense?.inbound_id]) // prettier-ignore
  await trimOpenCalls(db, () => {})
  assert.deepEqual(await dismissCalls(db, TESTER, [nonsense?.inbound_id ?? '', done?.inbound_id ?? '']), [
    nonsense?.inbound_id,
  ])
  assert.deepEqual(await open(), [])
  assert.equal((await findCall(db, nonsense?.inbound_id ?? ''))?.outcome, 'invalid', 'the log keeps it')
})

test('a call from a disallowed IP address is its advertiser’s, and processed once the address is allowed', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=address')
  const { advertiser_id: advertiserId } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  await setAdvertiser(db, TESTER, advertiserId, { allowedIps: ['192.0.2.1'] })
  assert.equal((await world.confirm(offerId, clickId)).status, 403)
  const [call] = await listCalls(db, { advertiserId, isOpen: true }, 10)
  assert.deepEqual([call?.outcome, call?.reason, call?.ip], ['refused', 'wrong_address', '127.0.0.1'])
  const again = () => reprocessCall(db, callOf(call as CallRow), { ...nowhere, isAgain: true })
  assert.match((await again()).message, /127\.0\.0\.1 is still not on this advertiser's IP allowlist/)
  await setAdvertiser(db, TESTER, advertiserId, { allowedIps: ['192.0.2.1', '127.0.0.0/8'] })
  assert.deepEqual((await Promise.all([again(), again()])).map(({ outcome }) => outcome).toSorted(), ['approved', 'duplicate']) // prettier-ignore
  assert.equal((await findCall(db, call?.inbound_id ?? ''))?.outcome, 'approved')
  assert.equal((await conversionsOf(clickId)).length, 1)
})

test('a call with a token that was rotated away is known as its advertiser’s, and stays refused', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=rotated')
  const { advertiser_id: advertiserId } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  for (let i = 0; i < 2; i++) await rotateToken(db, TESTER, SECRET_KEY, advertiserId, 0, new Date())
  const answer = await world.confirm(offerId, clickId)
  assert.deepEqual([answer.status, answer.reason], [401, 'expired_token'])
  const [call] = await listCalls(db, { advertiserId, isOpen: true }, 10)
  const again = await reprocessCall(db, callOf(call as CallRow), { ...nowhere, isAgain: true })
  assert.match(again.message, /had expired when the callback arrived/)
  assert.deepEqual(await conversionsOf(clickId), [])
})

test('a yes that is understood late does not undo the no that came after it', async () => {
  const { db } = world.database
  for (const txn of [{}, { txn_id: 'late' }] as Record<string, string>[]) {
    const [offerId = 0] = await world.createOffers({})
    const { clickId } = await world.click(offerId, live, 'userId=late')
    await world.confirm(offerId, clickId, { status: 'fertig', ...txn })
    assert.equal((await world.confirm(offerId, clickId, { status: 'rejected', ...txn })).outcome, 'rejected')
    const [yes] = await listCalls(db, { outcome: 'invalid' }, 1)
    await setAdvertiser(db, TESTER, yes?.advertiser_id ?? 0, { statusMap: [['fertig', 'approved']] })
    const again = await reprocessCall(db, callOf(yes as CallRow), { ...nowhere, isAgain: true })
    assert.equal(again.outcome, 'duplicate', JSON.stringify(txn))
    assert.deepEqual((await conversionsOf(clickId)).map(({ status }) => status), ['rejected']) // prettier-ignore
  }
})

test('a call that was ignored does not undo the no that came after it', async () => {
  const { db } = world.database
  const [offerId = 0] = await world.createOffers({})
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  await setAdvertiser(db, TESTER, advertiser_id, { callRules: { ignored: [{ parameter: 'test', is: '1', reason: 'A test.' }] } }) // prettier-ignore
  const { clickId } = await world.click(offerId, live, 'userId=ignored')
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'ignored', test: '1' })).outcome, 'ignored')
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'ignored', status: 'rejected' })).outcome, 'rejected')
  const [ignored] = await listCalls(db, { outcome: 'ignored' }, 1)
  await setAdvertiser(db, TESTER, advertiser_id, { callRules: {} })
  const again = await reprocessCall(db, callOf(ignored as CallRow), { ...nowhere, isAgain: true })
  assert.equal(again.outcome, 'duplicate')
  assert.deepEqual((await conversionsOf(clickId)).map(({ status }) => status), ['rejected']) // prettier-ignore
})
