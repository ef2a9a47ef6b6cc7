// Resending what a later event of the same conversion has overtaken: an older status must not be the last one sent.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import {
  claimDue,
  forgetPostbacks,
  createLane,
  NOW,
  putEvents,
  putPostback,
  readPostback,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { listPostbacks } from './postbacks.ts'
import { replayPostback } from './replay-postback.ts'
import { cancelReplay, readReplay, runReplays, startReplay } from './replays.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('overtaken')
beforeEach(() => forgetPostbacks(world.database.db))

async function runAll(): Promise<void> {
  while ((await runReplays(world.database.db)) > 0);
}

async function queued(appId: number): Promise<string[]> {
  const { db } = world.database
  const rows = await db.selectFrom('postback_queue').select('postback_id').where('app_id', '=', appId).execute()
  return rows.map((row) => row.postback_id).toSorted()
}

test('what a later delivered event has overtaken is left out, unless that is sent again, too', async () => {
  const lane = await createLane(world)
  await putEvents(
    world.database.db,
    lane,
    { status: 'approved', state: 'dead' },
    { status: 'reversed', state: 'delivered' },
  )
  const [alone] = await putEvents(world.database.db, lane, { status: 'approved', state: 'dead' })
  const replayId = await startReplay(world.database.db, TESTER, lane, { state: 'dead' })
  await runAll()
  assert.deepEqual(await queued(lane), [alone])
  const { queued: count, skipped } = await readReplay(world.database.db, replayId)
  assert.deepEqual([count, skipped], [1, 1])
  await cancelReplay(world.database.db, TESTER, replayId, NOW)
  await startReplay(world.database.db, TESTER, lane, {})
  await runAll()
  assert.equal((await queued(lane)).length, 3, 'all of them, in order')
})

test('who replays a single one that was overtaken is warned; who looks for a conversion finds its postbacks', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const [approved, reversed] = (await putEvents(
    db,
    lane,
    { status: 'approved', state: 'dead' },
    { status: 'reversed', state: 'delivered' },
  )) as [string, string]
  assert.match(
    (await replayPostback(db, TESTER, approved, null))?.warning ?? '',
    /reversed.*already delivered.*sequence/,
  )
  assert.equal((await replayPostback(db, TESTER, reversed, null))?.warning, null)
  const { conversion_id } = await readPostback(db, approved)
  const found = await listPostbacks(db, { appId: lane, conversionId: conversion_id }, 10)
  assert.deepEqual(found.map((one) => one.postback_id), [reversed, approved].toSorted().toReversed()) // prettier-ignore
})

test('a later event whose postback is no longer kept has overtaken an older one, if the app gets such postbacks', async () => {
  const { db } = world.database
  for (const [events, count] of [
    [['approved', 'reversed'], 0],
    [['approved'], 1],
  ] as const) {
    const lane = await createLane(world)
    await db
      .updateTable('postback_settings')
      .set({ events: [...events] })
      .where('app_id', '=', lane)
      .execute()
    const [approved, reversed] = (await putEvents(db, lane, { status: 'approved', state: 'delivered' }, { status: 'reversed', state: 'delivered' })) as [string, string] // prettier-ignore
    await db.deleteFrom('postbacks').where('postback_id', '=', reversed).execute()
    await startReplay(db, TESTER, lane, { status: 'approved' })
    await runAll()
    assert.equal((await queued(lane)).length, count)
    const { warning } = (await replayPostback(db, TESTER, approved, null)) ?? {}
    assert.equal(warning?.includes('no longer kept') ?? false, count === 0)
  }
})

test('a later event that is being sent at this moment counts as one that was delivered', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const [approved = ''] = await putEvents(db, lane, { status: 'approved', state: 'dead' })
  const { conversion_id: conversionId } = await readPostback(db, approved)
  const reversed = await putPostback(db, lane, { conversionId, sequence: 2, status: 'reversed' })
  await sql`
    INSERT INTO conversion_events (conversion_id, sequence, event_id, app_id, is_test, actor, created_at, status,
      payout_micros, revenue_micros, currency, rate_micros)
    VALUES (${conversionId}, 2, ${reversed}, ${lane}, false, 'advertiser', now(), 'reversed', 0, 0, 'Coins', 1000000)`.execute(
    db,
  )
  assert.equal((await claimDue(db, 10, 10, NOW)).length, 1)
  const replayId = await startReplay(db, TESTER, lane, { state: 'dead' })
  await runAll()
  assert.deepEqual(await queued(lane), [reversed])
  assert.equal((await readReplay(db, replayId)).skipped, 1)
  const { warning } = (await replayPostback(db, TESTER, approved, null)) ?? {}
  assert.match(warning ?? '', /reversed.*being sent.*sequence/)
})
