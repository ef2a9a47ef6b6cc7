// What an advertiser says, in our words or in its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../../test/world.ts'
import { setAdvertiser } from '../../accounts/advertiser-settings.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { callOf, listCalls } from './calls.ts'
import { reprocessCall } from './confirm.ts'

let live: IssuedCredentials
const world = useWorld('postback_words', async () => {
  live = (await world.makeApp()).live
})

let users = 0

async function newOffer(record: Record<string, unknown> = {}) {
  const [offerId = 0] = await world.makeOffers(record)
  const { advertiser_id } = await world.database.db
    .selectFrom('offers')
    .select('advertiser_id')
    .where('offer_id', '=', offerId)
    .executeTakeFirstOrThrow()
  return { offerId, advertiserId: advertiser_id }
}

/** Confirms a click of a new user with just these parameters; `CLICK` stands for its id. */
async function say(offerId: number, parameters: Record<string, string>) {
  const { clickId } = await world.click(offerId, live, `userId=u${users++}`)
  const query = new URLSearchParams({ token: world.tokenOf(offerId), ...parameters }).toString()
  return send(query.replaceAll('CLICK', clickId))
}

async function send(query: string, payload?: string) {
  const answer = await world.app.server.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url: `/postback?${query}`,
    ...(payload === undefined ? {} : { payload, headers: { 'content-type': 'application/json' } }),
  })
  type Told = { outcome: string; reason: string | null; conversion_id: string | null; message: string }
  const told = answer.json<Told>()
  const row =
    told.conversion_id === null
      ? null
      : await world.database.db
          .selectFrom('conversions')
          .selectAll()
          .where('conversion_id', '=', told.conversion_id)
          .executeTakeFirstOrThrow()
  return { status: answer.statusCode, ...told, row }
}

test('every usual name of a parameter is understood', async () => {
  const { offerId } = await newOffer({
    payout: 3,
    goals: [
      { name: 'Install', payout: 1 },
      { name: 'Play', payout: 2, payout_percent: 50 },
    ],
  })
  for (const clickName of ['click_id', 'clickid', 'transaction_id'])
    assert.equal((await say(offerId, { [clickName]: 'CLICK' })).outcome, 'approved', clickName)
  for (const goalName of ['goal', 'goal_id', 'event_id'])
    assert.equal(
      (await say(offerId, { click_id: 'CLICK', [goalName]: 'Play' })).row?.payout_micros,
      2_000_000,
      goalName,
    )
  for (const [i, name] of ['txn_id', 'tid', 'action_id', 'order_id'].entries())
    assert.equal((await say(offerId, { click_id: 'CLICK', [name]: `t${i}` })).row?.advertiser_transaction_id, `t${i}`)
  for (const name of ['amount', 'sum'])
    assert.equal((await say(offerId, { click_id: 'CLICK', goal: 'Play', [name]: '9' })).row?.payout_micros, 4_500_000)
})

test('our own name goes before another for the same', async () => {
  const { offerId } = await newOffer()
  const { row } = await say(offerId, { transaction_id: 'theirs', order_id: 'order', click_id: 'CLICK', txn_id: 'ours' })
  assert.equal(row?.advertiser_transaction_id, 'ours')
})

test('an advertiser may have names of its own, instead of the usual ones', async () => {
  const { offerId, advertiserId } = await newOffer()
  await setAdvertiser(world.database.db, advertiserId, {
    aliases: [
      ['click_id', 'their_click'],
      ['txn_id', 'ref'],
    ],
  })
  const told = await say(offerId, { their_click: 'CLICK', ref: 'r1', tid: 'usual' })
  assert.deepEqual([told.outcome, told.row?.advertiser_transaction_id], ['approved', 'r1'])
  assert.equal((await say(offerId, { clickid: 'CLICK' })).message, 'click_id is missing.')
  assert.equal((await say(offerId, { click_id: 'CLICK' })).outcome, 'approved', 'ours is always understood')
})

test('the usual words for a status are understood in any case; without one it is approved', async () => {
  const { offerId } = await newOffer()
  const outcomes = {
    approved: ['approved', 'APPROVED', ' 1 ', '', 'Paid', 'confirmed'],
    pending: ['pending', '0', 'hold'],
    rejected: ['rejected', '2', 'Declined', 'cancelled', 'reversed', 'chargeback'],
  }
  for (const [outcome, words] of Object.entries(outcomes))
    for (const status of words)
      assert.equal((await say(offerId, { click_id: 'CLICK', status })).outcome, outcome, status)
})

test('an unknown status is 400, also one that is a name of JavaScript’s', async () => {
  const { offerId } = await newOffer()
  for (const status of ['done', '4', 'constructor', '__proto__', 'toString', '{status}']) {
    const told = await say(offerId, { click_id: 'CLICK', status })
    assert.deepEqual([told.status, told.outcome, told.conversion_id], [400, 'invalid', null], status)
    assert.match(told.message, /^status ".+" is not known\./)
  }
})

test('an advertiser may have words of its own, which go before the usual ones', async () => {
  const { offerId, advertiserId } = await newOffer()
  await setAdvertiser(world.database.db, advertiserId, {
    statusMap: [
      ['Erledigt', 'approved'],
      ['1', 'rejected'],
    ],
  })
  assert.equal((await say(offerId, { click_id: 'CLICK', status: 'ERLEDIGT' })).outcome, 'approved')
  assert.equal((await say(offerId, { click_id: 'CLICK', status: '1' })).outcome, 'rejected')
  assert.equal((await say(offerId, { click_id: 'CLICK', status: 'paid' })).outcome, 'approved')
})

test('a goal is named by its id or its name; without one it is the first; an unknown one is 400', async () => {
  const goals = [
    { name: 'Install it', payout: 1 },
    { name: 'Level 5', payout: 2 },
  ]
  const { offerId } = await newOffer({ payout: 3, goals })
  const { offer } = (await world.get(`/v1/offers/${offerId}?userId=x`, live)).body.data
  const [first, second] = offer.goals.map((goal) => goal.goal_id)
  const goalOf = async (goal?: string) =>
    (await say(offerId, { click_id: 'CLICK', ...(goal === undefined ? {} : { goal }) })).row?.goal_id
  assert.equal(await goalOf(), first)
  assert.equal(await goalOf(String(second)), second)
  assert.equal(await goalOf(' level 5 '), second)
  assert.equal(await goalOf(''), first)
  const { offerId: other } = await newOffer()
  const foreign = (await world.get(`/v1/offers/${other}?userId=x`, live)).body.data.offer.goals[0]?.goal_id
  for (const goal of ['Level 6', String(foreign), '0']) {
    const told = await say(offerId, { click_id: 'CLICK', goal })
    assert.deepEqual([told.status, told.outcome, told.message], [400, 'invalid', 'The offer has no such goal.'], goal)
  }
})

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

test('an amount told with pending holds for the approval that comes without one', async () => {
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
    const told = await say(offerId, { click_id: 'CLICK', amount })
    assert.deepEqual([told.outcome, told.row?.payout_micros], ['approved', 1_500_000], amount)
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
    const told = await say(offerId, { click_id: 'CLICK', amount })
    assert.deepEqual([told.status, told.outcome], [400, 'invalid'], amount)
    assert.match(told.message, /pays a percentage, and the amount is not a clear number/)
  }
  const huge = await say(offerId, { click_id: 'CLICK', amount: '100000.0001' })
  assert.deepEqual([huge.status, huge.message], [400, 'The amount is larger than any conversion is worth.'])
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '100000' })).row?.payout_micros, 100_000_000_000)

  const { db } = world.database
  await setAdvertiser(db, advertiserId, { decimalMark: 'comma' })
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
      const told = await send(query.toString())
      assert.deepEqual([told.outcome, told.conversion_id], ['reversed', paid.conversion_id], amount)
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
  assert.match(first.message, /amount is negative, but status does not say that this is a reversal/)
  await setAdvertiser(db, advertiserId, { negativeAmount: 'reversal' })
  const [kept] = await listCalls(db, { advertiserId, isOpen: true }, 1)
  assert.ok(kept !== undefined)
  const again = await reprocessCall(db, callOf(kept), { countryOf: () => null, isAgain: true })
  assert.deepEqual([again.outcome, again.conversionId], ['reversed', paid.conversion_id])
  assert.equal((await takeBack()).outcome, 'duplicate')
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '-0.00' })).outcome, 'approved', 'zero has no sign')
  await setAdvertiser(db, advertiserId, { negativeAmount: 'ignore' })
  assert.equal((await say(offerId, { click_id: 'CLICK', amount: '-1' })).outcome, 'approved')
  await assert.rejects(setAdvertiser(db, advertiserId, { negativeAmount: 'guess', decimalMark: ';' }), /"guess" is not known[\s\S]*";" is not known/) // prettier-ignore
})

test('a macro that nobody filled in is no transaction: it must not make one of many', async () => {
  const { offerId } = await newOffer({ payout: 1 })
  for (const txn of ['{txn_id}', '{{order.id}}', '[order]', '%ORDER%', '#order_id#', ['$', '{id}'].join('')]) {
    const told = await say(offerId, { click_id: 'CLICK', txn_id: txn })
    assert.deepEqual([told.outcome, told.row?.advertiser_transaction_id], ['approved', null], txn)
  }
})

test('what only helps to judge a conversion does not lose it', async () => {
  const { offerId } = await newOffer({ payout: 1 })
  const { clickId } = await world.click(offerId, live, 'userId=hints')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  assert.equal(
    (await send(`${call}&ip=1.2.3.4&ip=5.6.7.8&country=%FF&country=DE&ip=${'x'.repeat(300)}`)).outcome,
    'approved',
  )
})

test('everything that is wrong is told at once', async () => {
  const { offerId } = await newOffer()
  const token = world.tokenOf(offerId)
  const { message } = await send(`token=${token}&status=x&amount=-1`)
  for (const part of [/click_id is missing/, /amount is negative/, /status "x" is not known/])
    assert.match(message, part)
  assert.match((await send(`token=${token}&click_id=5`)).message, /click_id is not one of ours/)
  assert.match((await send(`token=${token}&click_id=a&click_id=b`)).message, /click_id was given twice/)
})

test('a transaction id is at most 256 characters of UTF-8; a broken one is refused, and the call is kept', async () => {
  const { offerId } = await newOffer()
  const { clickId } = await world.click(offerId, live, 'userId=bytes')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  for (const txn of ['x'.repeat(257), 'a%00b', '%FF', '%ED%A0%80', '%C3%28']) {
    const told = await send(`${call}&txn_id=${txn}`)
    assert.deepEqual([told.status, told.outcome], [400, 'invalid'], txn)
    assert.match(told.message, /^txn_id must be UTF-8 of at most 256 characters, without NUL\.$/)
  }
  for (const body of [String.raw`{"txn_id":"a\u0000b"}`, String.raw`{"txn_id":"\ud800"}`, '{"txn_id":"a\u0000b"}'])
    assert.equal((await send(call, body)).status, 400, body)
  const { rowCount } = await world.database.pool.query(
    "SELECT FROM inbound_calls WHERE outcome = 'invalid' AND query LIKE $1",
    [`%${clickId}%`],
  )
  assert.equal(rowCount, 8)
  const longest = await send(`${call}&txn_id=${encodeURIComponent('😀'.repeat(256))}`)
  assert.equal(longest.row?.advertiser_transaction_id, '😀'.repeat(256))
})

test('JSON is taken with its numbers digit by digit; what is not plain in it is ignored', async () => {
  const { offerId } = await newOffer({ payout: 1, goals: [{ name: 'Buy', payout: 1, is_repeatable: true }] })
  const { clickId } = await world.click(offerId, live, 'userId=json')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  const first = await send(call, '{"txn_id":12345678901234567891,"amount":1.50,"status":1,"more":{"x":[]},"goal":null}')
  assert.deepEqual([first.outcome, first.row?.advertiser_transaction_id], ['approved', '12345678901234567891'])
  assert.equal((await send(call, '{"txn_id":12345678901234567892}')).outcome, 'approved')
  assert.equal((await send(call, '{"txn_id":"12345678901234567892"}')).outcome, 'duplicate')
  assert.equal((await send(call, '{"txn_id":7}')).row?.advertiser_transaction_id, '7')
  for (const body of ['[]', '{"txn_id":', '[1'])
    assert.equal((await send(call, body)).message, 'The body is not a form and not a JSON object.')
})

test('what is said twice must agree', async () => {
  const { offerId } = await newOffer()
  const { clickId } = await world.click(offerId, live, 'userId=twice')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  const told = await send(`${call}&txn_id=a`, '{"txn_id":"b"}')
  assert.deepEqual([told.status, told.message], [400, 'txn_id was given twice, with different values.'])
  assert.equal((await send(`${call}&txn_id=a`, '{"txn_id":"a"}')).outcome, 'approved')
})
