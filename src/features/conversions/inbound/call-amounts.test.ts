// What an amount says in an advertiser's call, and what it is worth.
import { uuid7 } from '../../../lib/uuid7.ts'
import { dayOf, setRates } from '../../rates/rates.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdvertiserCalls } from '../../../../test/advertiser-calls.ts'
import { useWorld } from '../../../../test/world.ts'
import { setAdvertiser } from '../../accounts/advertiser-settings.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { callOf, listCalls } from './calls.ts'
import { reprocessCall } from './confirm.ts'
import { TESTER } from '../../../../test/tester.ts'

let live: IssuedCredentials
const world = useWorld('postback_amounts', async () => {
  live = (await world.createApp()).live
})
const { newOffer, say, send } = createAdvertiserCalls(world, () => live)

test('a share of the amount is paid, rounded down; without an amount the fixed sum', async () => {
  const goals = [{ name: 'Buy', payout: 1, revenue: 2, payout_percent: 33.3333, revenue_percent: 50 }]
  const { offerId } = await newOffer({ payout: 1, revenue: 2, goals })
  const worth = async (amount?: string) => {
    const { row } = await say(offerId, { click_id: 'CLICK', ...(amount === undefined ? {} : { amount }) })
    return [row?.payout_micros, row?.revenue_micros]
  }
  assert.deepEqual(await worth(), [1_000_000, 2_000_000])
  assert.deepEqual(await worth('10'), [3_333_330, 5_000_000])
  assert.deepEqual(await worth('0.0001'), [33, 50])
  assert.deepEqual(await worth('0'), [0, 0])
  assert.deepEqual(await worth('1.9999'), [666_632, 999_950])
})

test('an amount sent with pending counts for an approval without one', async () => {
  const goals = [{ name: 'Buy', payout: 1, revenue: 2, payout_percent: 10, revenue_percent: 50 }]
  const { offerId } = await newOffer({ payout: 1, revenue: 2, goals })
  const pending = await say(offerId, { click_id: 'CLICK', amount: '10', status: 'pending' })
  const token = world.tokenOf(offerId)
  const approved = await send(`token=${token}&click_id=${pending.row?.click_id}`)
  assert.deepEqual([approved.outcome, approved.conversion_id], ['approved', pending.conversion_id])
  assert.deepEqual([approved.row?.payout_micros, approved.row?.revenue_micros], [1_000_000, 5_000_000])
  const dearer = await say(offerId, { click_id: 'CLICK', amount: '10', status: 'pending' })
  const confirmed = await send(`token=${token}&click_id=${dearer.row?.click_id}&amount=20`)
  assert.equal(confirmed.row?.payout_micros, 2_000_000)
})

test('an amount changes nothing where the payout is fixed', async () => {
  const { offerId } = await newOffer({ payout: '1.5' })
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '99' })).row?.payout_micros, 1_500_000)
})

const STRANGE = [
  '1.23456',
  '1,5',
  'x',
  '{amount}',
  '1e3',
  'NaN',
  '9'.repeat(30),
  '$5',
  '.5',
  '1,234',
  '€5',
  'null',
  'y'.repeat(300),
  '%FF',
]

test('an amount that is not used never loses a confirmation, whatever it looks like', async () => {
  const { offerId } = await newOffer({ payout: '1.5' })
  for (const amount of STRANGE) {
    const answer = await say(offerId, { click_id: 'CLICK', amount })
    assert.deepEqual([answer.outcome, answer.row?.payout_micros], ['approved', 1_500_000], amount)
  }
  const { clickId } = await world.click(offerId, live, 'userId=two-amounts')
  assert.equal(
    (await send(`token=${world.tokenOf(offerId)}&click_id=${clickId}&amount=5&amount=6`)).outcome,
    'approved',
  )
})

test('where a share of it is paid, an amount is understood as it is written, or the call is kept for the operator', async () => {
  const goals = [{ name: 'Buy', payout: 1, payout_percent: 100 }]
  const { offerId, advertiserId } = await newOffer({ payout: 1, goals })
  const pays = {
    '1.23456': 1_234_560,
    '$1,234.56': 1_234_560_000,
    '1.234,5': 1_234_500_000,
    '1,5': 1_500_000,
    '1e3': 1_000_000_000,
  }
  for (const [amount, micros] of Object.entries(pays))
    assert.equal((await say(offerId, { click_id: 'CLICK', amount })).row?.payout_micros, micros, amount)
  for (const amount of ['x', '{amount}', '1,234', '€5', 'null', 'NaN']) {
    const answer = await say(offerId, { click_id: 'CLICK', amount })
    assert.deepEqual([answer.status, answer.outcome], [400, 'invalid'], amount)
    assert.match(answer.message, /pays a percentage, and the amount is not a clear number/)
  }
  const huge = await say(offerId, { click_id: 'CLICK', amount: '100000.0001' })
  assert.deepEqual([huge.status, huge.message], [400, 'The amount is above the maximum for a conversion.'])
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '100000' })).row?.payout_micros, 100_000_000_000)

  const { db } = world.database
  await setAdvertiser(db, TESTER, advertiserId, { decimalMark: 'comma' })
  const open = (await listCalls(db, { advertiserId, isOpen: true }, 20)).filter(({ query }) =>
    query.includes('1%2C234'),
  )
  assert.equal(open.length, 1)
  for (const call of open)
    assert.equal((await reprocessCall(db, callOf(call), { countryOf: () => null })).outcome, 'approved')
  const made = await db.selectFrom('conversions').select('payout_micros').where('offer_id', '=', offerId).execute()
  assert.ok(made.some(({ payout_micros }) => payout_micros === 1_234_000))
})

test('a reversal needs no amount, and takes any: negative, strange or too large', async () => {
  const goals = [{ name: 'Buy', payout: 1, payout_percent: 100 }]
  for (const record of [{ payout: 1 }, { payout: 1, goals }]) {
    const { offerId } = await newOffer(record)
    for (const amount of [...STRANGE, '-5', '-$1,234.56', '(5)', '-9999999999999']) {
      const paid = await say(offerId, { click_id: 'CLICK', amount: '5' })
      const token = world.tokenOf(offerId)
      const query = new URLSearchParams({ token, click_id: paid.row?.click_id ?? '', status: 'chargeback', amount })
      const answer = await send(query.toString())
      assert.deepEqual([answer.outcome, answer.conversion_id], ['reversed', paid.conversion_id], amount)
    }
  }
})

test('a negative amount alone is for the operator to explain: a reversal, or nothing', async () => {
  const { offerId, advertiserId } = await newOffer({ payout: 1 })
  const { db } = world.database
  const paid = await say(offerId, { click_id: 'CLICK' })
  const takeBack = () => send(`token=${world.tokenOf(offerId)}&click_id=${paid.row?.click_id}&amount=-1.00`)
  const first = await takeBack()
  assert.deepEqual([first.status, first.outcome], [400, 'invalid'])
  assert.match(first.message, /amount is negative, but status is not a reversal/)
  await setAdvertiser(db, TESTER, advertiserId, { negativeAmount: 'reversal' })
  const [kept] = await listCalls(db, { advertiserId, isOpen: true }, 1)
  assert.ok(kept !== undefined)
  const again = await reprocessCall(db, callOf(kept), { countryOf: () => null, isAgain: true })
  assert.deepEqual([again.outcome, again.conversionId], ['reversed', paid.conversion_id])
  assert.equal((await takeBack()).outcome, 'duplicate')
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '-0.00' })).outcome, 'approved', 'zero has no sign')
  await setAdvertiser(db, TESTER, advertiserId, { negativeAmount: 'ignore' })
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '-1' })).outcome, 'approved')
  await assert.rejects(setAdvertiser(db, TESTER, advertiserId, { negativeAmount: 'guess', decimalMark: ';' }), /"guess" is not valid[\s\S]*";" is not valid/) // prettier-ignore
})

test('an amount of another currency is never taken for dollars; where none is needed it loses nothing', async () => {
  const goals = [{ name: 'Buy', payout: 1, revenue: 2, payout_percent: 50, revenue_percent: 100 }]
  const { offerId, advertiserId } = await newOffer({ payout: 1, revenue: 2, goals })
  const pays = async (parameters: Record<string, string>) =>
    (await say(offerId, { click_id: 'CLICK', ...parameters })).row?.payout_micros
  for (const currency of ['USD', 'usd', 'US$', '$', '', '{currency}'])
    assert.equal(await pays({ amount: '10', currency }), 5_000_000, currency)
  assert.equal(await pays({ currency: 'EUR' }), 1_000_000, 'without an amount it is the fixed sum')
  for (const currency of ['EUR', 'JPY', '978', '€', 'x'.repeat(300)]) {
    const answer = await say(offerId, { click_id: 'CLICK', amount: '1000', currency })
    assert.deepEqual([answer.status, answer.outcome, answer.conversion_id], [400, 'invalid', null], currency)
    assert.match(answer.message, /there is no rate for the currency/)
  }
  const kept = await listCalls(world.database.db, { advertiserId, isOpen: true }, 20)
  assert.equal(kept.length, 5, 'the operator sees them')

  const paid = await say(offerId, { click_id: 'CLICK', amount: '10' })
  const query = `token=${world.tokenOf(offerId)}&click_id=${paid.row?.click_id}&status=reversed&amount=9&currency=EUR`
  assert.equal((await send(query)).outcome, 'reversed')
  const { offerId: fixed, advertiserId: owner } = await newOffer({ payout: '1.5' })
  assert.equal((await say(fixed, { click_id: 'CLICK', amount: '9', currency: 'EUR' })).row?.payout_micros, 1_500_000)
  await setAdvertiser(world.database.db, TESTER, owner, { negativeAmount: 'reversal', aliases: [['currency', 'cur']] })
  const back = await say(fixed, { click_id: 'CLICK' })
  const again = `token=${world.tokenOf(fixed)}&click_id=${back.row?.click_id}&amount=-9&cur=EUR`
  assert.equal((await send(again)).outcome, 'reversed', 'a sign says the same in every currency')
})

test('with a rate, an amount of another currency counts in dollars of the day of its click, also when it is sent again', async () => {
  const goals = [{ name: 'Buy', payout: 1, revenue: 2, payout_percent: 50, revenue_percent: 100 }]
  const { offerId } = await newOffer({ payout: 1, revenue: 2, goals })
  const { db } = world.database
  const now = new Date()
  const setRate = (usd: string, day: string) => setRates(db, TESTER, [{ currency: 'SEK', day, usd }], now)
  await setRate('0.0951', dayOf(now))
  const first = await say(offerId, {
    click_id: 'CLICK',
    amount: '100',
    currency: 'sek',
    status: 'pending',
    txn_id: 'a',
  })
  assert.deepEqual([first.row?.payout_micros, first.row?.revenue_micros], [4_755_000, 9_510_000])
  await setRate('0.5', dayOf(new Date(now.getTime() + 86_400_000)))
  const again = `token=${world.tokenOf(offerId)}&click_id=${first.row?.click_id}&amount=100&currency=SEK&status=pending&txn_id=a`
  assert.equal((await send(again)).outcome, 'duplicate')
  const two = await say(offerId, { click_id: 'CLICK', amount: '100', currency: 'SEK,USD' })
  assert.equal(two.outcome, 'invalid', 'two currencies are none')
})

test('an amount of another currency counts in dollars of the day of its click also in a call that names only the transaction', async () => {
  const goals = [{ name: 'Buy', payout: 1, revenue: 2, payout_percent: 50, revenue_percent: 100 }]
  const { offerId } = await newOffer({ payout: 1, revenue: 2, goals })
  const { db, pool } = world.database
  const now = new Date()
  const before = new Date(now.getTime() - 86_400_000)
  await setRates(db, TESTER, [{ currency: 'NOK', day: dayOf(before), usd: '0.1' }, { currency: 'NOK', day: dayOf(now), usd: '0.2' }], now) // prettier-ignore
  const first = await say(offerId, { click_id: 'CLICK', txn_id: 'n1', status: 'pending', amount: '100', currency: 'NOK' }) // prettier-ignore
  const aged = uuid7(before.getTime())
  await pool.query('UPDATE conversions SET click_id = $1 WHERE click_id = $2', [aged, first.row?.click_id])
  await send(`token=${world.tokenOf(offerId)}&txn_id=n1&amount=100&currency=NOK`)
  const { status, revenue_micros } = await db.selectFrom('conversions').select(['status', 'revenue_micros']).where('click_id', '=', aged).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual([status, revenue_micros], ['approved', 10_000_000])
})

test('the transaction ID of a reversal may begin with a prefix', async () => {
  const { offerId, advertiserId } = await newOffer({ payout: 1 })
  const paid = await say(offerId, { click_id: 'CLICK', txn_id: '17' })
  const send17 = (txn: string) => send(`token=${world.tokenOf(offerId)}&txn_id=${txn}`)
  await setAdvertiser(world.database.db, TESTER, advertiserId, { reversalPrefix: ' r- ' })
  assert.equal((await send17('r-')).outcome, 'unmatched', 'the prefix alone is an ID')
  const back = await send17('r-17')
  assert.deepEqual([back.outcome, back.conversion_id], ['reversed', paid.conversion_id])
  assert.equal((await send17('r-17')).outcome, 'duplicate')
  await assert.rejects(setAdvertiser(world.database.db, TESTER, advertiserId, { reversalPrefix: 'r'.repeat(21) }), /at most 20 characters/) // prettier-ignore
})
