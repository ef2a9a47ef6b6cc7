// The log of calls: everything that came, word for word, but never a token.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { useWorld } from '../../../../test/world.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { listCalls } from './calls.ts'
import { maskToken } from './mask-token.ts'

let live: IssuedCredentials
const world = useWorld('postback_log', async () => {
  live = (await world.createApp()).live
})

const percent = (text: string) => Array.from(text, (c) => `%${c.charCodeAt(0).toString(16)}`).join('')
const escaped = (text: string) => Array.from(text, (c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')

/** The whole table as text. */
async function wholeLog(): Promise<string> {
  const { rows } = await world.database.pool.query<{ row: string }>('SELECT c::text AS row FROM inbound_calls c')
  return rows.map(({ row }) => row).join('\n')
}

async function newClick() {
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live, 'userId=u')
  return { offerId, clickId, token: world.tokenOf(offerId) }
}

test('a call is stored with its content, its origin and its outcome', async () => {
  const { clickId, token } = await newClick()
  const url = `/postback?click_id=${clickId}&token=${token}&note=a%20b+c&empty=`
  const answer = await world.app.server.inject({
    method: 'POST',
    url,
    payload: '{"txn_id": "t1",  "x": [1, null]}',
    headers: { 'content-type': 'application/json' },
    remoteAddress: '2001:db8:0:0::1',
  })
  assert.equal(answer.statusCode, 200)
  const [call] = await listCalls(world.database.db, { clickId }, 10)
  const { conversion_id } = answer.json<{ conversion_id: string }>()
  assert.deepEqual(
    [call?.method, call?.query, call?.body, call?.ip, call?.outcome, call?.conversion_id, call?.attempts],
    [
      'POST',
      `click_id=${clickId}&token=********&note=a%20b+c&empty=`,
      '{"txn_id": "t1",  "x": [1, null]}',
      '2001:db8::1',
      'approved',
      conversion_id,
      1,
    ],
  )
  assert.deepEqual([call?.reason, call?.next_attempt_at], [null, null])
})

test('duplicates and refused calls are stored, too, and change nothing else', async () => {
  const { clickId, token, offerId } = await newClick()
  await world.confirm(offerId, clickId)
  await world.confirm(offerId, clickId)
  await world.app.server.inject(`/postback?click_id=${clickId}&token=${token}&status=nonsense`)
  await world.app.server.inject(`/postback?click_id=${clickId}&token=wrong`)
  const { rows } = await world.database.pool.query<{ outcome: string; advertiser_id: number | null }>(
    'SELECT outcome, advertiser_id FROM inbound_calls WHERE query LIKE $1 ORDER BY inbound_id',
    [`%${clickId}%`],
  )
  assert.deepEqual(
    rows.map(({ outcome }) => outcome),
    ['approved', 'duplicate', 'invalid', 'refused'],
  )
  assert.equal(rows.at(-1)?.advertiser_id, null)
  const { rowCount } = await world.database.pool.query(
    'SELECT FROM conversion_events e JOIN conversions USING (conversion_id) WHERE e.click_id = $1',
    [clickId],
  )
  assert.equal(rowCount, 1)
})

test('no way to write a token brings it into the log, in the right place or in a wrong one', async () => {
  const { clickId, token } = await newClick()
  const query = (text: string): InjectOptions => ({ url: `/postback?click_id=${clickId}&${text}` })
  const body = (payload: string): InjectOptions => ({
    method: 'POST',
    url: `/postback?click_id=${clickId}`,
    payload,
    headers: { 'content-type': 'application/json' },
  })
  const ways = [
    query(`token=${token}`),
    query(`token=${token}&token=${token}`),
    query(`token=${token}&token=other&token=${token}x`),
    query(`TOKEN=${token}`),
    query(`Token=${percent(token)}`),
    query(`%74oken=${token}`),
    query(`${percent('token')}=${percent(token)}`),
    query(`+token+=${percent(token)}`),
    query(`note=${percent(token)}`),
    query(`note=x${token}`),
    query(`my_token=${token}`),
    query(token),
    query(`${percent(token)}=1`),
    query(`token[]=${token}`),
    query(`?token=${token}`),
    query(`x=%ff${percent(token)}`),
    query(`x=%&token=${percent(token)}`),
    body(`token=${token}`),
    body(`a=b&token=${percent(token)}&c=d`),
    body(`\n token=${percent(token)}`),
    body(JSON.stringify({ token })),
    body(`{"TOKEN" : "${token}"}`),
    body(`{"token":"${escaped(token)}"}`),
    body(`{"${escaped('token')}":"${escaped(token)}"}`),
    body(`{"note":"x ${escaped(token)} y"}`),
    body(`{"token":"${token}","token":"${escaped(token)}"}`),
    body(JSON.stringify({ deep: [{ token: [token] }], [token]: 1 })),
    body(`{"token":"${escaped(token)}", broken`),
    body(`[{"token":"${token}"}`),
    body(`{"token":"${token}`),
    body(`{"note":"${escaped(token)}`),
    body(`{"note":"${'x'.repeat(8_140)} ${token}"}`),
    body(`{"note":"${'x'.repeat(8_100)} ${escaped(token)}"}`),
  ]
  for (const [i, way] of ways.entries()) {
    // Each from its own IP address: refused calls are limited, and then not stored.
    await world.app.server.inject({ ...way, remoteAddress: `198.51.100.${i}` })
    const log = await wholeLog()
    const last = String(way.payload ?? way.url)
    for (const form of [token, percent(token), escaped(token), token.slice(4)])
      assert.ok(!log.toLowerCase().includes(form.toLowerCase()), last)
  }
  const { rowCount } = await world.database.pool.query('SELECT FROM inbound_calls WHERE query LIKE $1', [
    `%${clickId}%`,
  ])
  assert.equal(rowCount, ways.length, 'each is in the log')
})

test('what is no token stays as it was written', () => {
  for (const text of [
    '',
    'a=1&b=%zz&&c&=d&e=%C3%A9+f',
    '{"a": 1.50, "b":"\\u00e9", "c":"x"y}',
    'tokens=5&status=adv',
    '{"tokens": 12345678901234567891}',
  ])
    assert.equal(maskToken(text), text)
})

test('bytes that are no UTF-8, and NUL, do not keep a call out of the log', async () => {
  const { clickId, token } = await newClick()
  const sent = [
    Buffer.from(`click_id=${clickId}&token=${token}&note=a\0b`),
    Buffer.concat([
      Buffer.from(`click_id=${clickId}&token=${token}&note=`),
      Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    ]),
    Buffer.from(`click_id=${clickId}&token=${token}&%00=%ff&note=%ED%A0%80`),
  ]
  for (const payload of sent) {
    const answer = await world.app.server.inject({ method: 'POST', url: '/postback', payload })
    assert.equal(answer.statusCode, 200, answer.body)
  }
  assert.equal((await listCalls(world.database.db, { clickId }, 10)).length, sent.length)
})

test('the log is listed newest first, by outcome, advertiser and click, page by page', async () => {
  const { db } = world.database
  const { clickId, offerId } = await newClick()
  for (let i = 0; i < 3; i++) await world.confirm(offerId, clickId)
  const calls = await listCalls(db, { clickId }, 10)
  assert.deepEqual(
    calls.map(({ outcome }) => outcome),
    ['duplicate', 'duplicate', 'approved'],
  )
  const [newest, middle, oldest] = calls
  assert.deepEqual(await listCalls(db, { clickId, before: middle?.inbound_id ?? '' }, 10), [oldest])
  assert.deepEqual(await listCalls(db, { clickId, outcome: 'approved' }, 10), [oldest])
  assert.deepEqual(await listCalls(db, { advertiserId: newest?.advertiser_id ?? 0 }, 1), [newest])
})
