// The advertisers' door: how a call may come, who may call, and what is answered.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { rotateToken } from '../../accounts/advertisers.ts'
import { setAdvertiser } from '../../accounts/advertiser-settings.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { callOf, listCalls } from './calls.ts'
import { reprocessCall } from './confirm.ts'
import { TESTER } from '../../../../test/tester.ts'

let live: IssuedCredentials
const world = useWorld('postback_door', async () => {
  live = (await world.createApp()).live
})

const form = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()

type CallReply = { outcome: string; reason: string | null; conversion_id: string | null; message: string }

async function call(options: InjectOptions) {
  const answer = await world.app.server.inject(options)
  const reply = (answer.body.startsWith('{') ? answer.json() : {}) as CallReply
  return { status: answer.statusCode, text: answer.body, headers: answer.headers, ...reply }
}

const postBody = (type: string, payload: string, query = '') =>
  call({ method: 'POST', url: `/postback${query}`, headers: { 'content-type': type }, payload })

/** A click, with the parameters that confirm it. */
async function newClick(record: Record<string, unknown> = {}, userId = 'u') {
  const [offerId = 0] = await world.createOffers(record)
  const { clickId } = await world.click(offerId, live, `userId=${userId}`)
  const { advertiser_id: advertiserId } = await world.database.db
    .selectFrom('offers')
    .select('advertiser_id')
    .where('offer_id', '=', offerId)
    .executeTakeFirstOrThrow()
  return { offerId, clickId, advertiserId, sent: { click_id: clickId, token: world.tokenOf(offerId) } }
}

const conversionsOf = (offerId: number) =>
  world.database.db.selectFrom('conversions').selectAll().where('offer_id', '=', offerId).execute()

test('a confirmation may come as query, form or JSON, or partly as each, whatever its type is called', async () => {
  const ways: ((sent: Record<string, string>) => ReturnType<typeof call>)[] = [
    (sent) => call({ url: `/postback?${form(sent)}` }),
    (sent) => call({ method: 'POST', url: `/postback?${form(sent)}` }),
    (sent) => postBody('application/x-www-form-urlencoded', form(sent)),
    (sent) => postBody('application/json', JSON.stringify(sent)),
    (sent) => postBody('application/json; charset=utf-8', `\n ${JSON.stringify(sent)} \n`),
    (sent) => postBody('text/plain', `${form(sent)}\r\n`),
    (sent) => postBody('nonsense', JSON.stringify(sent)),
    ({ token = '', ...sent }) => postBody('application/json', JSON.stringify(sent), `?token=${token}`),
  ]
  for (const [i, send] of ways.entries()) {
    const { sent } = await newClick()
    const answer = await send({ ...sent, txn_id: `t${i}` })
    assert.deepEqual([answer.status, answer.outcome, answer.reason], [200, 'approved', null], String(i))
    assert.match(answer.conversion_id ?? '', /^[\da-f-]{36}$/)
    assert.equal(answer.message, 'The conversion is approved.')
    assert.equal(answer.headers['cache-control'], 'no-store')
  }
})

test('with format=text the answer is one word', async () => {
  const { sent, clickId } = await newClick()
  const ask = async (more: Record<string, string>) => {
    const query = form({ ...sent, format: 'text', ...more })
    const { status, text, headers } = await call({ url: `/postback?${query}` })
    assert.match(String(headers['content-type']), /^text\/plain/)
    return [status, text]
  }
  assert.deepEqual(await ask({}), [200, 'approved'])
  assert.deepEqual(await ask({}), [200, 'duplicate'])
  assert.deepEqual(await ask({ status: 'reversed' }), [200, 'reversed'])
  assert.deepEqual(await ask({ status: 'what' }), [400, 'invalid'])
  assert.deepEqual(await ask({ token: 'wrong' }), [401, 'refused'])
  assert.deepEqual(await ask({ click_id: clickId.replace(/^.{8}/, '00000000') }), [202, 'unmatched'])
})

test('HEAD and other methods do nothing', async () => {
  const { sent, offerId } = await newClick()
  for (const method of ['HEAD', 'PUT', 'DELETE', 'PATCH'] as const) {
    const answer = await call({ method, url: `/postback?${form(sent)}` })
    assert.equal(answer.status, 404)
    assert.match(String(answer.headers['allow']), /GET/)
  }
  assert.deepEqual(await conversionsOf(offerId), [])
  assert.deepEqual(await listCalls(world.database.db, { clickId: sent.click_id }, 10), [])
})

test('a missing, wrong or ambiguous token is 401 and changes nothing', async () => {
  const { sent, offerId } = await newClick()
  const { click_id, token } = sent
  for (const query of [
    `click_id=${click_id}`,
    `click_id=${click_id}&token=`,
    `click_id=${click_id}&token=${token}x`,
    `click_id=${click_id}&token=${token.slice(0, -1)}`,
    `click_id=${click_id}&token=${token.toLowerCase()}`,
    `click_id=${click_id}&TOKEN=${token}`,
    `click_id=${click_id}&token=${token}&token=other`,
  ]) {
    const answer = await call({ url: `/postback?${query}` })
    assert.deepEqual([answer.status, answer.outcome, answer.reason], [401, 'refused', 'wrong_token'], query)
  }
  assert.deepEqual(await conversionsOf(offerId), [])
  assert.equal((await call({ url: `/postback?click_id=${click_id}&token=${token}&token=${token}` })).status, 200)
})

test('the token of another advertiser does not confirm, and the response says so', async () => {
  const { sent, offerId } = await newClick()
  const other = await newClick()
  const answer = await call({ url: `/postback?click_id=${sent.click_id}&token=${other.sent.token}` })
  assert.deepEqual([answer.status, answer.outcome, answer.conversion_id], [401, 'refused', null])
  assert.match(answer.message, /belongs to another advertiser/)
  assert.deepEqual(await conversionsOf(offerId), [])
  const [logged] = await listCalls(world.database.db, { clickId: sent.click_id }, 10)
  assert.deepEqual([logged?.outcome, logged?.advertiser_id], ['refused', other.advertiserId])
})

test('after a rotation the old token is valid for the grace period, and no longer', async () => {
  const { sent, advertiserId } = await newClick()
  const { db } = world.database
  const statusWith = async (token: string) =>
    (await call({ url: `/postback?click_id=${sent.click_id}&token=${token}` })).status
  const { token: next } = await rotateToken(db, TESTER, SECRET_KEY, advertiserId, 60_000, new Date())
  assert.deepEqual([await statusWith(sent.token), await statusWith(next)], [200, 200])
  const { token: last } = await rotateToken(db, TESTER, SECRET_KEY, advertiserId, 0, new Date())
  assert.deepEqual([await statusWith(sent.token), await statusWith(next), await statusWith(last)], [401, 401, 200])
})

test('an advertiser with an IP allowlist confirms from those addresses alone', async () => {
  const { sent, offerId, advertiserId } = await newClick()
  const url = `/postback?${form(sent)}`
  await setAdvertiser(world.database.db, TESTER, advertiserId, { allowedIps: ['192.0.2.0/24', '2001:db8::7'] })
  for (const remoteAddress of ['198.51.100.1', '2001:db8::8', '::ffff:198.51.100.1', '127.0.0.1']) {
    const answer = await call({ url, remoteAddress })
    assert.deepEqual([answer.status, answer.outcome, answer.reason], [403, 'refused', 'wrong_address'], remoteAddress)
  }
  assert.deepEqual(await conversionsOf(offerId), [])
  assert.equal((await call({ url, remoteAddress: '2001:db8::7' })).outcome, 'approved')
  for (const remoteAddress of ['192.0.2.77', '::ffff:192.0.2.77', '2001:db8:0::7'])
    assert.equal((await call({ url, remoteAddress })).outcome, 'duplicate', remoteAddress)
})

test('behind a trusted proxy the IP address is the client’s; an invalid one is stored as unknown', async () => {
  const { sent, advertiserId } = await newClick()
  await setAdvertiser(world.database.db, TESTER, advertiserId, { allowedIps: ['192.0.2.1'] })
  const behind = await world.start({ trustProxy: ['127.0.0.1'] })
  try {
    const statusFor = async (client: string) =>
      (
        await behind.server.inject({
          url: `/postback?${form(sent)}`,
          headers: { 'x-forwarded-for': client },
        })
      ).statusCode
    assert.equal(await statusFor('192.0.2.1'), 200)
    assert.equal(await statusFor('192.0.2.1, 192.0.2.2'), 403)
    for (const strange of ['unknown', '1', 'fe80::1%eth0', '0x7f.1'])
      assert.equal(await statusFor(strange), 403, strange)
  } finally {
    await behind.close()
  }
})

test('refused calls are limited per IP address, and then no longer stored; valid ones go on', async () => {
  const { sent } = await newClick()
  const from = (remoteAddress: string, query: string) => call({ url: `/postback?${query}`, remoteAddress })
  const statuses: number[] = []
  for (let i = 0; i < 103; i++) statuses.push((await from('203.0.113.9', 'token=wrong&probe=1')).status)
  assert.deepEqual([...new Set(statuses.slice(0, 100))], [401])
  assert.deepEqual(statuses.slice(100), [429, 429, 429])
  const limited = await from('203.0.113.9', 'token=wrong&probe=1')
  assert.deepEqual([limited.outcome, limited.reason], ['refused', 'too_many'])
  assert.match(String(limited.headers['retry-after']), /^[1-9]\d*$/)
  const kept = await world.database.pool.query("SELECT FROM inbound_calls WHERE query LIKE '%probe=1%'")
  assert.equal(kept.rowCount, 20)
  assert.equal((await from('203.0.113.10', 'token=wrong')).status, 401, 'another address has its own')
  assert.equal((await from('203.0.113.9', form(sent))).outcome, 'approved')
})

test('what is too long is refused, not half understood, and kept as what it is', async () => {
  const { sent, offerId, advertiserId } = await newClick()
  const { token, ...rest } = sent
  const long = { ...rest, note: 'x'.repeat(9_000), txn_id: 't' }
  const answers = [
    await postBody('application/json', JSON.stringify(long), `?token=${token}`),
    await postBody('application/x-www-form-urlencoded', form(long), `?token=${token}`),
    await call({ url: `/postback?${form({ token, ...long })}` }),
  ]
  assert.deepEqual(answers.map(({ status, outcome }) => [status, outcome]), [[413, 'invalid'], [413, 'invalid'], [400, 'invalid']]) // prettier-ignore
  for (const { message } of answers) assert.match(message, /at most 8192 bytes/)
  const unread = await postBody('application/json', JSON.stringify({ ...sent, note: 'x'.repeat(9_000) }))
  assert.deepEqual([unread.status, unread.outcome, unread.reason], [413, 'refused', 'too_long'])
  const kept = await listCalls(world.database.db, { advertiserId }, 10)
  assert.equal(kept.length, 3)
  for (const { is_cut, outcome } of kept) assert.deepEqual([is_cut, outcome], [true, 'invalid'])
  for (const row of kept)
    assert.match(
      (await reprocessCall(world.database.db, callOf(row), { countryOf: () => null }))?.message ?? '',
      /8192/,
    )
  assert.deepEqual(await conversionsOf(offerId), [])
})

test('while the database is unavailable, the caller is asked to retry', async () => {
  const { sent } = await newClick()
  const offline = await world.start()
  const { pool } = world.database
  const connect = pool.connect.bind(pool)
  pool.connect = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  const answer = await offline.server.inject(`/postback?${form(sent)}`)
  pool.connect = connect
  await offline.close()
  assert.equal(answer.statusCode, 503)
  assert.match(String(answer.headers['retry-after']), /^\d+$/)
  assert.match(answer.json<CallReply>().message, /Retry the callback/)
})
