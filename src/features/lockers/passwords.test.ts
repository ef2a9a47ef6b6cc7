// Guessing the password of a link, from one network and from many.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { createLocker, findLocker } from './lockers.ts'
import { forgetOldUnlocks } from './old-unlocks.ts'

const world = useWorld('link_passwords')
const [RIGHT, WRONG] = ['open sesame', 'open barley']

async function createLink() {
  const { appId } = await world.createApp()
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Link', password: RIGHT, link: { target_url: 'https://files.example.com/' } }) // prettier-ignore
  const { slug } = (await findLocker(world.database.db, { lockerId }))!
  const page = await world.app.server.inject({ url: `/l/${slug}`, headers: { 'user-agent': BROWSER } })
  const pass = /"pass":"([^"]+)"/.exec(page.body)?.[1] ?? ''
  const enter = async (remoteAddress: string, password: string) => {
    const request = { method: 'POST', url: `/l/${slug}/password`, payload: { password, pass }, remoteAddress, headers: { 'user-agent': BROWSER } } as const // prettier-ignore
    return (await world.app.server.inject(request)).statusCode
  }
  return { lockerId, enter }
}

let networks = 0
/** Addresses of one IPv6 network, each in a /64 of its own, so that the limit of a minute does not count them together. */
function newNetwork(): () => string {
  const network = (++networks).toString(16)
  let address = 0
  return () => `2001:db8:${network}:${(++address).toString(16)}::1`
}

/** What a botnet leaves behind. */
const attack = (lockerId: number) =>
  world.database.pool.query(`INSERT INTO locker_wrong_passwords SELECT (now() AT TIME ZONE 'UTC')::date, $1, 'address:198.51.100.' || n, 1 FROM generate_series(1, 100) n`, [lockerId]) // prettier-ignore

async function attempts(count: number, enter: () => Promise<number>): Promise<number[]> {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push(await enter())
  return statuses
}

test('a network has 20 wrong passwords a day for a link, however many addresses it has', async () => {
  const { enter } = await createLink()
  const [guesser, other] = [newNetwork(), newNetwork()]
  const statuses = await attempts(21, () => enter(guesser(), WRONG))
  assert.deepEqual([new Set(statuses.slice(0, 20)), statuses[20]], [new Set([400]), 429])
  assert.equal(await enter(guesser(), RIGHT), 429)
  assert.equal(await enter(other(), RIGHT), 200)
  const another = await createLink()
  assert.equal(await another.enter(guesser(), RIGHT), 200)
})

test('once many networks were wrong, each has 3; who knows the password still gets in at once', async () => {
  const { lockerId, enter } = await createLink()
  await attack(lockerId)
  const [guesser, knower, forgetful] = [newNetwork(), newNetwork(), newNetwork()]
  assert.deepEqual(await attempts(5, () => enter(guesser(), WRONG)), [400, 400, 400, 429, 429])
  assert.deepEqual(await attempts(5, () => enter(knower(), RIGHT)), [200, 200, 200, 200, 200])
  assert.deepEqual([await enter(forgetful(), WRONG), await enter(forgetful(), WRONG), await enter(forgetful(), RIGHT)], [400, 400, 200]) // prettier-ignore
})

test('attempts at the same time are not more than one after another', async () => {
  const { lockerId, enter } = await createLink()
  await attack(lockerId)
  const guesser = newNetwork()
  const statuses = await Promise.all(Array.from({ length: 12 }, () => enter(guesser(), WRONG)))
  assert.equal(statuses.filter((status) => status === 400).length, 3)
})

test('the right password clears what the network got wrong, and the next day does', async () => {
  const { lockerId, enter } = await createLink()
  const network = newNetwork()
  const count = async () => (await world.database.pool.query('SELECT FROM locker_wrong_passwords WHERE locker_id = $1', [lockerId])).rows.length // prettier-ignore
  await attempts(19, () => enter(network(), WRONG))
  assert.equal(await enter(network(), RIGHT), 200)
  assert.equal(await count(), 0)
  await attempts(21, () => enter(network(), WRONG))
  const inDays = (days: number) => forgetOldUnlocks(world.database.db, new Date(Date.now() + days * 86_400_000), 90)
  await inDays(0.9)
  assert.equal(await enter(network(), RIGHT), 429)
  await inDays(2)
  assert.equal(await count(), 0)
  assert.equal(await enter(network(), RIGHT), 200)
})
