import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InboundCall } from './inbound-call.ts'
import { findIgnored } from './ignored-calls.ts'
import type { Dialect } from './parameters.ts'
import { redactCall } from './redact-call.ts'

const CLICK = '01900000-0000-7000-8000-000000000000'
const DIALECT: Dialect = {
  aliases: { click_id: ['player'] },
  statusMap: {},
  decimalMark: 'detect',
  negativeAmount: 'refuse',
  reversalPrefix: '',
  callRules: { ignored: [{ parameter: 'unpaid', is: 'true', reason: 'Not paid.' }] },
}
const callOf = (query: string, body = ''): InboundCall => ({ inboundId: CLICK, receivedAt: new Date(0), advertiserId: 1, method: 'GET', query, body, isCut: false, ip: null, clickId: null, attempts: 1, before: null }) // prettier-ignore

test('a call is ignored for what it says, in the query or the body, whoever it is about', () => {
  assert.equal(findIgnored(callOf(`click_id=${CLICK}&unpaid=true`), DIALECT), 'Not paid.')
  assert.equal(findIgnored(callOf(`player=${CLICK}&unpaid=TRUE`), DIALECT), 'Not paid.')
  assert.equal(findIgnored(callOf('', JSON.stringify({ click_id: CLICK, unpaid: true })), DIALECT), 'Not paid.')
  assert.equal(findIgnored(callOf('click_id=7&unpaid=true'), DIALECT), 'Not paid.')
  for (const paid of ['unpaid=false', 'unpaid=', 'paid=true', ''])
    assert.equal(findIgnored(callOf(paid), DIALECT), null)
  assert.equal(findIgnored(callOf('unpaid=true'), { ...DIALECT, callRules: {} }), null)
})

test('a call of an erased user is still ignored when it is processed again', () => {
  const redacted = redactCall({ query: `click_id=${CLICK}&idfa=7&unpaid=true`, body: '', clickId: CLICK }, DIALECT)
  assert.equal(redacted.query, `click_id=${CLICK}&unpaid=true`)
  assert.notEqual(findIgnored(callOf(redacted.query), DIALECT), null)
  const other = redactCall(
    { query: `click_id=${CLICK}&unpaid=ada`, body: '{"unpaid":"ada","goal":"2"}', clickId: CLICK },
    DIALECT,
  )
  assert.deepEqual(
    [other.query, other.body],
    [`click_id=${CLICK}`, '{"goal":"2"}'],
    'any other value may name the user',
  )
})
