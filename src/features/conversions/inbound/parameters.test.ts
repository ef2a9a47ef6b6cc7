// What an advertiser says, in our words or in its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdvertiserCalls } from '../../../../test/advertiser-calls.ts'
import { useWorld } from '../../../../test/world.ts'
import { setAdvertiser } from '../../accounts/advertiser-settings.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { TESTER } from '../../../../test/tester.ts'
import { type Dialect, readCall } from './parameters.ts'

let live: IssuedCredentials
const world = useWorld('postback_words', async () => {
  live = (await world.createApp()).live
})
const { newOffer, say, send } = createAdvertiserCalls(world, () => live)

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

test('our own parameter name takes precedence over another for the same', async () => {
  const { offerId } = await newOffer()
  const { row } = await say(offerId, { transaction_id: 'theirs', order_id: 'order', click_id: 'CLICK', txn_id: 'ours' })
  assert.equal(row?.advertiser_transaction_id, 'ours')
})

test('an advertiser may have names of its own, instead of the usual ones', async () => {
  const { offerId, advertiserId } = await newOffer()
  await setAdvertiser(world.database.db, TESTER, advertiserId, {
    aliases: [
      ['click_id', 'their_click'],
      ['txn_id', 'ref'],
    ],
  })
  const answer = await say(offerId, { their_click: 'CLICK', ref: 'r1', tid: 'usual' })
  assert.deepEqual([answer.outcome, answer.row?.advertiser_transaction_id], ['approved', 'r1'])
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
    const answer = await say(offerId, { click_id: 'CLICK', status })
    assert.deepEqual([answer.status, answer.outcome, answer.conversion_id], [400, 'invalid', null], status)
    assert.match(answer.message, /^status ".+" is not supported\./)
  }
})

test('an advertiser may have words of its own, which go before the usual ones', async () => {
  const { offerId, advertiserId } = await newOffer()
  await setAdvertiser(world.database.db, TESTER, advertiserId, {
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
  assert.equal(await goalOf('0'), first, 'tracking platforms send it for the conversion itself')
  const { offerId: other } = await newOffer()
  const foreign = (await world.get(`/v1/offers/${other}?userId=x`, live)).body.data.offer.goals[0]?.goal_id
  for (const goal of ['Level 6', String(foreign), '00']) {
    const answer = await say(offerId, { click_id: 'CLICK', goal })
    assert.deepEqual(
      [answer.status, answer.outcome, answer.message],
      [400, 'invalid', 'The offer has no such goal.'],
      goal,
    )
  }
})

test('an unfilled macro is no goal: it means the only one, and of several none', async () => {
  const { offerId } = await newOffer({ payout: 1 })
  assert.equal((await say(offerId, { click_id: 'CLICK', goal: '{event_id}' })).outcome, 'approved')
  const goals = [
    { name: 'Install it', payout: 1 },
    { name: 'Level 5', payout: 2 },
  ]
  const { offerId: several } = await newOffer({ payout: 3, goals })
  assert.equal((await say(several, { click_id: 'CLICK', goal: '{event_id}' })).message, 'The offer has no such goal.')
})

test('an unfilled macro is no transaction ID: it must not merge many transactions into one', async () => {
  const { offerId } = await newOffer({ payout: 1 })
  for (const txn of ['{txn_id}', '{{order.id}}', '[order]', '%ORDER%', '#order_id#', ['$', '{id}'].join('')]) {
    const answer = await say(offerId, { click_id: 'CLICK', txn_id: txn })
    assert.deepEqual([answer.outcome, answer.row?.advertiser_transaction_id], ['approved', null], txn)
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

test('a problem names its parameter, and says it as the advertiser does', () => {
  const dialect: Dialect = {
    aliases: { click_id: ['cid'] },
    statusMap: {},
    decimalMark: 'point',
    negativeAmount: 'refuse',
    reversalPrefix: '',
    callRules: {},
  }
  const read = (query: string, body = '') => readCall({ query, body, isCut: false }, dialect)
  assert.deepEqual(read('cid=a&cid=b&status=x', '<xml/>'), {
    problems: [
      { field: 'body', message: 'The body is XML or HTML. Send the parameters as a query, a form (name=value&name=value) or a JSON object.' },
      { field: 'click_id', message: 'cid was sent twice with different values.' },
      { field: 'click_id', message: 'click_id is not one of ours: send the value you received from our link.' },
      { field: 'status', message: 'status "x" is not supported. Send one of pending, approved, rejected, reversed, or ask the network to map it.' },
    ],
  }) // prettier-ignore
})

test('all problems are reported at once', async () => {
  const { offerId } = await newOffer()
  const token = world.tokenOf(offerId)
  const { message } = await send(`token=${token}&status=x&amount=-1`)
  for (const part of [/click_id is missing/, /amount is negative/, /status "x" is not supported/])
    assert.match(message, part)
  assert.match((await send(`token=${token}&click_id=5`)).message, /click_id is not one of ours/)
  assert.match(
    (await send(`token=${token}&click_id={click_id}`)).message,
    /click_id is the macro \{click_id\}, not filled in: send the value/,
  )
  assert.match((await send(`token=${token}&click_id=a&click_id=b`)).message, /click_id was sent twice/)
})

test('a transaction id is at most 256 characters of UTF-8; a broken one is refused, and the call is kept', async () => {
  const { offerId } = await newOffer()
  const { clickId } = await world.click(offerId, live, 'userId=bytes')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  for (const txn of ['x'.repeat(257), 'a%00b', '%FF', '%ED%A0%80', '%C3%28']) {
    const answer = await send(`${call}&txn_id=${txn}`)
    assert.deepEqual([answer.status, answer.outcome], [400, 'invalid'], txn)
    assert.match(answer.message, /^txn_id must be UTF-8 of at most 256 characters, without NUL\.$/)
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
  for (const [body, problem] of [
    ['[]', 'a JSON object'],
    ['{"txn_id":', 'valid JSON: it ends too early'],
    ['{"click_id":"x",}', 'valid JSON: remove the comma before line 1, column 17'],
  ])
    assert.match((await send(call, body)).message, new RegExp(`^The body is not ${problem}\\. Send .* as a query, a form`)) // prettier-ignore
})

test('a body of XML or plain text is named where the call lacks something, and ignored where it does not', async () => {
  const { offerId } = await newOffer()
  const { clickId } = await world.click(offerId, live, 'userId=xml')
  const token = `token=${world.tokenOf(offerId)}`
  const xml = `<call><click_id>${clickId}</click_id></call>`
  assert.match(
    (await send(token, xml)).message,
    /^The body is XML or HTML\. Send the parameters as .* click_id is missing/,
  )
  assert.match(
    (await send(token, clickId)).message,
    /^The body is plain text\. Send the parameters as .* click_id is missing/,
  )
  assert.equal((await send(`${token}&click_id=${clickId}`, xml)).outcome, 'approved')
})

test('what is said twice must agree', async () => {
  const { offerId } = await newOffer()
  const { clickId } = await world.click(offerId, live, 'userId=twice')
  const call = `token=${world.tokenOf(offerId)}&click_id=${clickId}`
  const answer = await send(`${call}&txn_id=a`, '{"txn_id":"b"}')
  assert.deepEqual([answer.status, answer.message], [400, 'txn_id was sent twice with different values.'])
  assert.equal((await send(`${call}&txn_id=a`, '{"txn_id":"a"}')).outcome, 'approved')
})
