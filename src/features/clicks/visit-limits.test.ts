// How often links may be followed, and that a large network still passes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER, useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { createVisitLimits } from './visit-limits.ts'

let live: IssuedCredentials
let offerId: number
const world = useWorld('visit_limits', async () => {
  ;({ live } = await world.createApp())
  ;[offerId = 0] = await world.createOffers({})
})

const NAT = '203.0.113.7'

async function linkFor(userId: string): Promise<string> {
  const { body } = await world.get(`/v1/offers/${offerId}?userId=${userId}`, live)
  return body.data.offer.link.replace(world.config.publicUrl, '')
}

const follow = (url: string, remoteAddress: string) =>
  world.app.server.inject({ url, remoteAddress, headers: { 'user-agent': BROWSER } })

test('one user from one IP address is stopped after sixty visits in a minute, with a page that says what to do', async () => {
  const link = await linkFor('eager')
  const statuses = new Map<number, number>()
  for (let i = 0; i < 65; i++) {
    const { statusCode } = await follow(link, NAT)
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
  }
  assert.deepEqual([...statuses], [[302, 60], [429, 5]]) // prettier-ignore
  const { body, headers } = await follow(link, NAT)
  assert.match(body, /<h1>Too many visits<\/h1>[^]*Wait a minute, then reload this page/)
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60)
  const { count } = await world.database.db
    .selectFrom('clicks')
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(count, 60)
  assert.equal((await follow(await linkFor('other'), NAT)).statusCode, 302, 'others there still pass')
  assert.equal((await follow(link, '198.51.100.1')).statusCode, 302, 'and the same user elsewhere')
})

test('broken links count against their IP address', async () => {
  for (let i = 0; i < 6_000; i += 500)
    await Promise.all(Array.from({ length: 500 }, () => follow('/c/x', '192.0.2.50')))
  assert.equal((await follow('/c/x', '192.0.2.50')).statusCode, 429)
  assert.equal((await follow('/c/1/x', '192.0.2.50')).statusCode, 429)
  assert.equal((await follow('/c/x', '192.0.2.51')).statusCode, 404)
})

test('a network of thousands passes; a flood from one does not; a /64 is one; our own network is not limited', () => {
  let nowMs = 1_000_000
  const limits = createVisitLimits(() => nowMs)
  const context = (userId: string) => ({
    appId: 1,
    isTest: false,
    issuedAt: 0,
    requestId: '',
    userId,
    subIds: null,
    lockerId: null,
    claimsCountry: false,
  })
  for (let user = 0; user < 3_000; user++) {
    assert.equal(limits.countVisit(NAT) ?? limits.countUser(NAT, context(`user ${user}`)), null)
    assert.equal(limits.countVisit(NAT) ?? limits.countUser(NAT, context(`user ${user}`)), null)
  }
  assert.equal(limits.countVisit(NAT), 60)
  nowMs += 60_000
  assert.equal(limits.countVisit(NAT), null)
  for (let i = 0; i < 6_000; i++) limits.countVisit(`2001:db8:1:2::${i.toString(16)}`)
  assert.equal(limits.countVisit('2001:db8:1:2:ffff::1'), 60)
  assert.equal(limits.countVisit('2001:db8:1:3::1'), null)
  for (const own of ['127.0.0.1', '::1', '10.1.2.3', '::ffff:192.168.0.9'])
    for (let i = 0; i < 6_001; i++) assert.equal(limits.countVisit(own) ?? limits.countUser(own, context('u')), null)
})
