// How much of users' IP addresses is stored, for how long, and what else retention leaves of an erased user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { App } from '../../src/app.ts'
import { setFraudRule } from '../../src/features/conversions/fraud.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { requestErasure } from '../../src/features/users/erasures.ts'
import { forgetOldAddresses } from '../../src/features/users/old-addresses.ts'
import { truncateAddress } from '../../src/lib/ip-address.ts'
import { TESTER } from '../tester.ts'
import { findTexts, readWhole } from '../whole-database.ts'
import { SECRET_KEY } from '../world.ts'
import { newPerson, type Person, secretsOf, type Story, useStories } from './story.ts'

const { world, begin } = useStories('addresses')
const DAY_MS = 86_400_000

const ipsOf = async (table: string, { appId }: Story) =>
  (await world.database.pool.query<{ ip: string | null }>(`SELECT host(ip) AS ip FROM ${table} WHERE app_id = $1`, [appId])).rows.map(({ ip }) => ip) // prettier-ignore

async function withSetting(ipAddresses: 'truncated' | 'none', work: () => Promise<void>): Promise<void> {
  const usual: App = world.app
  world.app = await world.start({ trustProxy: ['127.0.0.1'], ipAddresses })
  try {
    await work()
  } finally {
    const closed = world.app
    world.app = usual
    await closed.close()
  }
}

test('an address is cut to its network', () => {
  for (const [address, network] of [
    ['203.0.113.77', '203.0.113.0'],
    ['255.255.255.255', '255.255.255.0'],
    ['::ffff:198.51.100.9', '198.51.100.0'],
    ['2001:db8:12:3456::1', '2001:db8:12::'],
    ['2001:db8::1', '2001:db8::'],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff::'],
    ['nonsense', null],
  ] as const)
    assert.equal(truncateAddress(address), network)
})

test('truncated addresses are what is stored, and the rule about users of an address counts networks', async () => {
  await withSetting('truncated', async () => {
    const story = await begin()
    const [a, b, c] = ['203.0.113.7', '203.0.113.8', '198.51.100.1'].map((ip) => ({ ...newPerson(), ip })) as [Person, Person, Person] // prettier-ignore
    await setFraudRule(world.database.db, TESTER, { offerId: null, signal: 'ip_users', threshold: 1, action: 'flag' })
    for (const person of [a, b, c]) {
      await story.click(person, story.offers[0] ?? 0)
      await story.confirm(person, 0, { ip: '' })
    }
    assert.deepEqual(new Set(await ipsOf('clicks', story)), new Set(['203.0.113.0', '198.51.100.0']))
    assert.deepEqual(new Set(await ipsOf('conversions', story)), new Set(['203.0.113.0', '198.51.100.0']))
    const { rows } = await world.database.pool.query<{ signals: string[] }>('SELECT signals FROM conversions WHERE app_id = $1 ORDER BY conversion_id', [story.appId]) // prettier-ignore
    assert.deepEqual(rows.map(({ signals }) => signals.includes('ip_users')), [false, true, false]) // prettier-ignore
  })
})

test('without addresses none is stored', async () => {
  await withSetting('none', async () => {
    const story = await begin()
    const person = { ...newPerson(), ip: '203.0.113.7' }
    await story.click(person, story.offers[0] ?? 0)
    await story.confirm(person, 0, { ip: '' })
    for (const table of ['clicks', 'conversions', 'conversion_events'])
      assert.deepEqual(new Set(await ipsOf(table, story)), new Set([null]), table)
  })
})

test('old conversions and their history lose their addresses, once and in order', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  await story.click(person, story.offers[0] ?? 0)
  await story.confirm(person, 0)
  const { db } = world.database
  await forgetOldAddresses(db, new Date(), 30)
  assert.deepEqual(await ipsOf('conversions', story), [person.ip])
  const later = new Date(Date.now() + 31 * DAY_MS)
  assert.ok((await forgetOldAddresses(db, later, 30)) > 0)
  assert.equal(await forgetOldAddresses(db, later, 30), 0)
  for (const table of ['conversions', 'conversion_events']) assert.deepEqual(await ipsOf(table, story), [null])
  await story.confirm(person, 0, { status: 'reversed' })
  assert.deepEqual(await ipsOf('conversion_events', story), [null, null])
})

/** As retention does it with a whole day. */
async function dropClicks({ appId }: Story): Promise<void> {
  const { pool } = world.database
  await pool.query(
    `INSERT INTO click_counts (app_id, quarter, offer_id, country, device, aff_sub, aff_sub2, aff_sub3, aff_sub4, locker_id, clicks)
     SELECT app_id, date_bin('15 minutes', clicked_at, '2000-01-01T00:00:00Z'), offer_id, country, device, aff_sub, aff_sub2, aff_sub3, aff_sub4, locker_id, count(*)
     FROM clicks WHERE app_id = $1 AND ('bot' = ANY (signals)) IS NOT TRUE GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`,
    [appId],
  )
  await pool.query('DELETE FROM clicks WHERE app_id = $1', [appId])
}

/** Returns what is left of the counts of dropped clicks. */
async function eraseAndCount(story: Story, person: Person) {
  const { pool, db } = world.database
  await story.deliver()
  await story.settle()
  await requestErasure(db, TESTER, SECRET_KEY, story.user(person), new Date())
  const now = Date.now()
  for (let pass = 0; pass < 3; pass++) await eraseUsers(db, new Date(now + pass * (SETTLE_MS + 1)))
  const { rows } = await pool.query<{ aff_sub: string | null; clicks: number }>('SELECT aff_sub, clicks FROM click_counts WHERE app_id = $1 ORDER BY aff_sub NULLS LAST', [story.appId]) // prettier-ignore
  return rows
}

test('counts of dropped clicks keep their number, and lose the sub-IDs of an erased user', async () => {
  const story = await begin()
  const [person, other] = story.people as [Person, Person]
  for (const one of [person, other]) {
    await story.click(one, story.offers[0] ?? 0)
    await story.confirm(one, 0)
  }
  await dropClicks(story)
  assert.deepEqual(await eraseAndCount(story, person), [{ aff_sub: other.subs[0], clicks: 1 }, { aff_sub: null, clicks: 1 }]) // prettier-ignore
  assert.deepEqual(findTexts(await readWhole(world.database.pool), secretsOf(person)), [])
})

test('the erasure of a bot, whose clicks were never counted, takes nothing from the counts of others', async () => {
  const story = await begin()
  const [first, other] = story.people as [Person, Person]
  const bot = { ...first, subs: other.subs }
  await story.click(bot, story.offers[0] ?? 0)
  await world.database.pool.query(`UPDATE clicks SET signals = '{bot}' WHERE app_id = $1`, [story.appId])
  await story.click(other, story.offers[0] ?? 0)
  for (const one of [bot, other]) await story.confirm(one, 0)
  await dropClicks(story)
  assert.deepEqual(await eraseAndCount(story, bot), [{ aff_sub: other.subs[0], clicks: 1 }])
})
