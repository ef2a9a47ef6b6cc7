// Section 4.2 of the specification: which bodies of a report are read, and what is said about others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { useWorld } from '../world.ts'
import { assertInvalid, createReporter, newUser } from './reports.ts'

let live: IssuedCredentials
let offerId: number
const world = useWorld('spec_conversion_bodies', async () => {
  live = (await world.createApp()).live
  ;[offerId] = (await world.createOffers({ payout: '1.2345' })) as [number]
})

const { send, detailsOf } = createReporter(() => ({ world, live }))

test('JSON is taken with any charset and in any case of its name', async () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/json; charset="utf-8"',
  ]) {
    const userId = `é😀 ${newUser()}`
    const reply = await send(JSON.stringify({ userId, offerId }), { 'content-type': type })
    assert.equal(reply.status, 201, type)
    assert.equal(reply.body.data.conversion.user_id, userId)
  }
})

test('a body of another type, without a type, empty, or no JSON is refused', async () => {
  const body = JSON.stringify({ userId: newUser(), offerId })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/json', 'application/jsonx', 'nonsense'])
    assertInvalid(await send(body, { 'content-type': type }), type)
  assertInvalid(await world.get('/v1/conversions', live, { method: 'POST' }), 'no body at all')
  for (const broken of ['', ' ', '{', '{"userId":"u"', "{'userId':'u'}", 'userId=u&offerId=1', '{"userId":"u",}'])
    assertInvalid(await send(broken), broken)
})

test('of a compressed body it is said that it is', async () => {
  const payload = gzipSync(JSON.stringify({ userId: newUser(), offerId }))
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const reply = await world.get('/v1/conversions', live, { method: 'POST', payload, headers })
  assertInvalid(reply, 'gzip')
  assert.deepEqual(reply.body.error.details, { body: 'The body is compressed. Send it uncompressed, without Content-Encoding.' }) // prettier-ignore
})

test('JSON that is no object is refused, saying so', async () => {
  for (const body of [[], [{ userId: 'u', offerId }], null, 'text', 5, true])
    assert.deepEqual(await detailsOf(body), { body: 'Send a JSON object.' })
})

test('a body over 64 KiB is refused, one just below is read', async () => {
  const sized = (bytes: number) => {
    const body = { userId: newUser(), offerId, note: '' }
    return JSON.stringify({ ...body, note: 'x'.repeat(bytes - JSON.stringify(body).length) })
  }
  assert.equal((await send(sized(65_536))).status, 201)
  const reply = await send(sized(65_537))
  assertInvalid(reply, 'too large')
  assert.match(reply.body.error.message, /65536 bytes/)
})

test('where a body stops being JSON is said', async () => {
  for (const [body, message] of [
    ['{"userId":"u","offerId":1,}', 'The body is not valid JSON: remove the comma before line 1, column 27.'],
    [
      '{\n  "userId": "u",\n  "offerId": 1,\n}',
      'The body is not valid JSON: remove the comma before line 4, column 1.',
    ],
    ["{'userId':'u'}", 'The body is not valid JSON: see line 1, column 2.'],
    ['{"userId":"u"', 'The body is not valid JSON: it ends too early.'],
    ['{"userId": u}', 'The body is not valid JSON: “u” cannot be there.'],
    ['userId=u&offerId=1', 'The body is not valid JSON: “u” cannot be there.'],
    ['<userId>u</userId>', 'The body is XML or HTML. Send a JSON object.'],
    ['\u001f\ufffd\b', 'The body is compressed. Send it uncompressed, without Content-Encoding.'],
    ['{"__proto__":1}', 'The body must not have properties named __proto__ or constructor.'],
    ['', 'The body is empty. Send a JSON object.'],
  ] as const) {
    const reply = await send(body)
    assertInvalid(reply, body)
    assert.deepEqual([reply.body.error.message, reply.body.error.details], [message, { body: message }])
  }
})
