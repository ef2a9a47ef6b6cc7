import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { useWorld } from '../../../test/world.ts'
import { ensurePartitions, listPartitions } from '../../db/partitions.ts'
import { dropOldRequests } from '../clicks/retention.ts'
import { cleanText, listRequests, MAX_BODY, MAX_PATH, RequestLog } from './request-log.ts'
import { cutPath, isAbout } from './request-mentions.ts'

const world = useWorld('request_log')
const DAY_MS = 86_400_000

const requestOf = (appId: number, id: string) =>
  ({
    named: { appId, isTest: false, apiKey: `pk_${appId}` },
    credential: null,
    id,
    url: '/v1/offers?userId=u',
    method: 'GET',
    error: null,
    startedAt: performance.now(),
  }) as unknown as FastifyRequest

test('a row says how many like it were left out, and the share refills with time', async () => {
  const { db } = world.database
  let now = Date.now()
  const log = new RequestLog(() => now)
  const note = (count: number, status: number, name: string) => {
    for (let i = 0; i < count; i++) log.note(requestOf(1, `${name}${i}`), status)
  }
  note(130, 200, 'early')
  now += 30_000
  note(3, 200, 'late')
  note(1, 500, 'error')
  await log.write(db)
  const rows = await listRequests(db, { appId: 1, isTest: false }, 200)
  assert.equal(rows.length, 103)
  const shown = rows.slice(0, 3).map(({ request_id, status, skipped }) => [request_id, status, skipped])
  assert.deepEqual(shown, [['error0', 500, 0], ['late1', 200, 0], ['late0', 200, 30]]) // prettier-ignore
})

test('parameters are shown as they were sent, whatever their names', async () => {
  const { db } = world.database
  const log = new RequestLog()
  const url = '/v1/offers?constructor=a&toString=b&toString=c&__proto__=d&apiSecret=e'
  log.note({ ...requestOf(3, 'names'), url }, 200)
  await log.write(db)
  const [row] = await listRequests(db, { appId: 3, isTest: false }, 1)
  const expected = [['__proto__', 'd'], ['apiSecret', '…'], ['constructor', 'a'], ['toString', ['b', 'c']]] as const // prettier-ignore
  assert.deepEqual(new Map(Object.entries(row?.parameters ?? {})), new Map<string, unknown>(expected))
})

test('a proof is shown without its visitor, wherever it was sent', async () => {
  const { db } = world.database
  const proof = `locker.v1.7.${'a'.repeat(32)}.019c1398-6c00-7000-8000-000000000007.1795092441.${'b'.repeat(64)}`
  const log = new RequestLog()
  log.note({ ...requestOf(4, 'proof'), url: `/v1/lockers/7/redeem?proof=${proof}`, body: { proof } }, 200)
  await log.write(db)
  const [row] = await listRequests(db, { appId: 4, isTest: false }, 1)
  assert.deepEqual([row?.parameters, row?.body], [{ proof: 'locker.v1.7.…' }, '{"proof":"locker.v1.7.…"}'])
})

test('the log keeps three days', async () => {
  const { db } = world.database
  const today = Date.now()
  const log = new RequestLog(() => today)
  const days = [6, 5, 4, 3, 2, 1, 0].map((days) => today - days * DAY_MS)
  await ensurePartitions(db, 'api_requests', days)
  const [first = 0, ...others] = days
  const past = new RequestLog(() => first)
  past.note(requestOf(2, 'old'), 200)
  log.note(requestOf(2, 'new'), 200)
  await past.write(db)
  await log.write(db)
  assert.equal((await dropOldRequests(db, new Date(today), 3)).length, 3)
  const left = await listRequests(db, { appId: 2, isTest: false }, 10)
  assert.deepEqual(left.map(({ request_id }) => request_id), ['new']) // prettier-ignore
  assert.ok((await listPartitions(db, 'api_requests')).length >= others.length - 2)
})

test('a path names a user in one place only: a user ID may be a word of any path', () => {
  const rowOf = (path: string) => ({ logged_id: '', path, parameters: {}, body: null })
  const long = 'x'.repeat(MAX_PATH)
  for (const [path, userId, cut] of [
    ['/v1/users/offers', 'offers', '/v1/users/…'],
    ['/api/v1/users/users/debits', 'users', '/api/v1/users/…/debits'],
    ['/v1/users/v1', 'v1', '/v1/users/…'],
    ['/v1/users/p%C3%A9r%20son/debits', 'pér son', '/v1/users/…/debits'],
    ['/v1/users/a%2Fusers%2Fb', 'a/users/b', '/v1/users/…'],
    [cleanText(`/v1/users/${long}`, MAX_PATH), long, '/v1/users/…'],
  ] as const) {
    assert.ok(isAbout(rowOf(path), userId), path)
    assert.equal(cutPath(path, userId), cut)
  }
  for (const [path, userId] of [
    ['/v1/offers', 'offers'],
    ['/v1/offers', 'v1'],
    ['/api/v1/offers/7/why', 'api'],
    ['/api/v1/offers/7/why', '7'],
    ['/v1/users/ada/debits', 'users'],
    ['/v1/users/ada/debits', 'debits'],
    ['/v1/users/ada/debits', ''],
    [cleanText(`/v1/conversions/${long}`, MAX_PATH), long],
  ] as const) {
    assert.ok(!isAbout(rowOf(path), userId), path)
    assert.equal(cutPath(path, userId), path)
  }
})

test('a body that was cut names a user where a whole one does', () => {
  const isNamed = (body: object, userId: string) =>
    isAbout({ logged_id: '', path: '/v1/conversions', parameters: {}, body: cleanText(JSON.stringify(body), MAX_BODY) }, userId) // prettier-ignore
  const note = 'x'.repeat(MAX_BODY)
  for (const more of [{}, { note }]) {
    assert.ok(isNamed({ user_id: 'a "b"', ...more }, 'a "b"'))
    assert.ok(isNamed({ country: 'US', userId: 7, ...more }, '7'))
    for (const word of ['US', 'ada', 'country', 'userId'])
      assert.ok(!isNamed({ country: 'US', userId: 'ada-1', name: 'ada', ...more }, word), word)
  }
})
