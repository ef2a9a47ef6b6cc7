// How a claim ends: with its result, or the end of its lease.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after, fail, finish, HOUR, createLane, MINUTE, NOW, SECOND } from '../../../test/postback-world.ts'
import { useQueue } from '../../../test/queue-world.ts'
import { readAttempts } from './postbacks.ts'
import { reapExpired } from './claims.ts'
import { type Claimed, LEASE_MS } from './queue.ts'

const { world, claim, claimOne, put, putMany, read, report } = useQueue('leases')

test('the result of an attempt is on the postback and, in full, in the log', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const ids = await putMany(lane, 3)
  const [first, second, third] = (await claim()) as [Claimed, Claimed, Claimed]
  const nasty = 'a "quoted" \\ back, {brace}, NULL\r\n\té😀'
  await report([
    finish(first, { request: nasty, response: nasty }),
    fail(second, { nextAt: after(MINUTE), phase: null }),
    fail(third, { status: null, phase: 'connect', error: nasty, remoteAddress: null }),
  ])
  const rows = await Promise.all([first, second, third].map((one) => read(one.postback_id)))
  assert.equal(new Set(ids).size, 3)
  assert.deepEqual(
    rows.map((row) => [row.state, row.settled_at, row.last_status, row.last_error, row.claim_id, row.lease_until]),
    [
      ['delivered', NOW, 200, null, null, null],
      ['queued', null, 500, 'The server answered 500, not 2xx.', null, null],
      ['dead', NOW, null, nasty, null, null],
    ],
  )
  assert.deepEqual(rows[1]?.due_at, after(MINUTE))
  const [[good], [, none], [bad]] = (await Promise.all(
    [first, second, third].map((one) => readAttempts(db, one.postback_id)),
  )) as [Attempts, Attempts, Attempts]
  assert.equal(none, undefined)
  assert.deepEqual(
    [good?.attempt, good?.ok, good?.status, good?.duration_ms, good?.remote_address, good?.request, good?.response],
    [1, true, 200, 12, '192.0.2.1', nasty, nasty],
  )
  assert.deepEqual([bad?.ok, bad?.phase, bad?.status, bad?.error], [false, 'connect', null, nasty])
})
type Attempts = Awaited<ReturnType<typeof readAttempts>>

test('what is written again, and what PostgreSQL would not take, is in the log once', async () => {
  const id = await put(await createLane(world))
  const one = finish(await claimOne(), { response: 'HTTP/1.1 200 O\0K' })
  await report([one])
  await report([one])
  assert.deepEqual(
    (await readAttempts(world.database.db, id)).map(({ response }) => response),
    ['HTTP/1.1 200 OK'],
  )
})

test('only results of claims that were still held are returned: lanes follow nothing else', async () => {
  const lane = await createLane(world)
  await putMany(lane, 2)
  const [lost, held] = (await claim()) as [Claimed, Claimed]
  const later = after(LEASE_MS + SECOND)
  await world.database.db
    .updateTable('postback_queue')
    .set({ lease_until: after(2 * LEASE_MS) })
    .where('postback_id', '=', held.postback_id)
    .execute()
  assert.equal(await reapExpired(world.database.db, later), 1)
  const finished = await report([fail(lost), fail(held)], later)
  assert.deepEqual(
    finished.map(({ claimed }) => claimed.postback_id),
    [held.postback_id],
  )
})

test('a claim that was lost changes nothing any more, but is in the log', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const id = await put(lane)
  const slow = await claimOne()
  const late = after(LEASE_MS + SECOND)
  assert.equal(await reapExpired(db, late), 1)
  await report([fail(slow, { status: 418 })], late)
  assert.deepEqual([(await read(id)).state, (await read(id)).last_status], ['queued', null])
  const next = await claimOne(after(LEASE_MS + MINUTE))
  await report([fail(slow, { status: 418 })], late)
  assert.deepEqual([(await read(id)).state, (await read(id)).claim_id], ['sending', next.claim_id])
  await report([finish(next)], late)
  await report([fail(slow, { status: 418 })], late)
  const row = await read(id)
  assert.deepEqual([row.state, row.last_status, row.attempts], ['delivered', 200, 2])
  const statuses = (await readAttempts(db, id)).map(({ attempt, status }) => `${attempt} ${status}`)
  assert.deepEqual(statuses.toSorted(), ['1 418', '1 418', '1 418', '1 null', '2 200'])
})

test('of two claims of one postback whose results come together, only that of the held one counts', async () => {
  const { db } = world.database
  for (const isLostFirst of [true, false]) {
    const lane = await createLane(world)
    const id = await put(lane)
    const lost = await claimOne()
    assert.equal(await reapExpired(db, after(LEASE_MS + SECOND)), 1)
    const later = after(LEASE_MS + MINUTE)
    const held = await claimOne(later)
    const results = [fail(lost), finish(held)]
    const finished = await report(isLostFirst ? results : results.toReversed(), later)
    assert.deepEqual(finished.map(({ claimed }) => claimed.claim_id), [held.claim_id]) // prettier-ignore
    const { state, last_status, attempts } = await read(id)
    assert.deepEqual([state, last_status, attempts], ['delivered', 200, 2])
    assert.deepEqual(await db.selectFrom('notices').select('kind').where('app_id', '=', lane).execute(), [])
  }
})

test('what a worker does not come back for is queued again after its lease, and logged', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const id = await put(lane)
  await claimOne()
  assert.equal(await reapExpired(db, after(LEASE_MS)), 0)
  assert.equal((await read(id)).state, 'sending')
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 1)
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 0)
  const row = await read(id)
  assert.deepEqual([row.state, row.attempts, row.claim_id, row.lease_until], ['queued', 1, null, null])
  const [attempt, ...others] = await readAttempts(db, id)
  assert.deepEqual([attempt?.attempt, attempt?.ok, attempt?.status, others.length], [1, false, null, 0])
  assert.match(attempt?.error ?? '', /worker stopped/)
  assert.deepEqual(await claim(after(LEASE_MS + 1)), []) // it waits like after any other failure
  assert.equal((await claimOne(after(LEASE_MS + MINUTE))).attempts, 2)
})

test('what kills every worker fails in the end', async () => {
  const { db } = world.database
  const id = await put(await createLane(world))
  await claimOne()
  await db.updateTable('postback_queue').set({ tries: 12 }).where('postback_id', '=', id).execute()
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 1)
  assert.equal((await read(id)).state, 'dead')
})

test('of several processes that recover expired claims at once, one recovers each postback', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const ids = await putMany(lane, 60)
  assert.equal((await claim()).length, 60)
  const counts = await Promise.all(Array.from({ length: 6 }, () => reapExpired(db, after(HOUR))))
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    60,
  )
  for (const id of ids) assert.equal((await readAttempts(db, id)).length, 1)
})
