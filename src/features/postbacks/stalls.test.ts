// Processes that stop in the middle, and slow receivers: nothing else waits for them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane, NOW } from '../../../test/postback-world.ts'
import { CAPACITY, useQueue } from '../../../test/queue-world.ts'
import { until } from '../../../test/installation.ts'
import { briefly } from '../../db/brief.ts'
import { type Claimed, claimReady } from './queue.ts'
import { shareOut } from './share-out.ts'

const { world, claim, claimOne, put, putMany } = useQueue('stalls')

test('a worker that is stopped in the middle of a claim holds its lane for a few seconds only', async () => {
  const { db } = world.database
  const id = await put(await createLane(world))
  const goesOn = Promise.withResolvers<void>()
  const stopped = briefly(db, async (trx) => {
    assert.equal((await claimReady(trx, { limit: 1, capacity: CAPACITY, now: NOW })).claims.length, 1)
    await goesOn.promise
  })
  stopped.catch(() => {}) // its connection is ended by the server
  await until(async () => (await world.database.pool.query(STOPPED)).rowCount === 1)
  assert.deepEqual(await claim(), [])
  await until(async () => (await world.database.pool.query(STOPPED)).rowCount === 0, 30_000)
  assert.equal((await claimOne()).postback_id, id)
  goesOn.resolve()
  await assert.rejects(stopped)
})

const STOPPED = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
  AND query LIKE '%postbacks-claim%'`

test('however many publishers are slow, there is room for the next one', async () => {
  const capacity = 512
  for (const slow of [1, 4, 8, 40]) {
    const lanes = Array.from({ length: slow * 2 }, (_, i) => ({ appId: i, publisherId: i % slow, room: 64 }))
    const held = new Map<number, number>()
    let free = capacity
    for (let given = 1; given > 0;) {
      given = 0
      const rooms = lanes.map((lane) => ({
        ...lane,
        room: lane.room - (held.get(lane.appId) ?? 0),
        held: lanes.reduce(
          (sum, one) => sum + (one.publisherId === lane.publisherId ? (held.get(one.appId) ?? 0) : 0),
          0,
        ),
        mostHeld: capacity / 4,
        free,
      }))
      for (const [appId, count] of shareOut(rooms, Math.min(200, free))) {
        held.set(appId, (held.get(appId) ?? 0) + count)
        free -= count
        given += count
      }
    }
    assert.ok(free >= Math.floor(capacity / (slow + 1)) - 1, `${slow} slow publishers leave ${free}`)
    const next = { appId: 1_000, publisherId: 1_000, room: 4, held: 0, mostHeld: capacity / 4, free }
    assert.equal(shareOut([next], free).get(1_000), 4)
  }
})

test('four slow publishers with wide lanes leave room for a fifth', async () => {
  for (let i = 0; i < 4; i++) await putMany(await createLane(world, { width: 64 }), 200)
  const { db } = world.database
  let free = 128
  const slow: Claimed[] = []
  for (let more; (more = (await claimReady(db, { limit: free, capacity: 128, free, now: NOW })).claims).length > 0;) {
    slow.push(...more)
    free -= more.length
  }
  assert.ok(free >= 20, `${free} are free`)
  const one = await put(await createLane(world))
  const { claims } = await claimReady(db, { limit: free, capacity: 128, free, now: NOW })
  assert.deepEqual(claims.map(({ postback_id }) => postback_id), [one]) // prettier-ignore
})
