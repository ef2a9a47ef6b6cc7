import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  after,
  before,
  forgetPostbacks,
  HOUR,
  makeLane,
  MINUTE,
  NOW,
  putPostbacks,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { type Health, readHealth } from './health.ts'

const world = useWorld('health')

test('the health of many apps is read at once, each with its own postbacks, without test sends', async () => {
  const { db } = world.database
  await forgetPostbacks(db)
  const well = await makeLane(world)
  const behind = await makeLane(world, { failures: 2, failing_since: before(HOUR) })
  const paused = await makeLane(world, { paused_at: NOW, pause_reason: 'gone' })
  const other = await makeLane(world)
  const { appId: without } = await world.makeApp()
  await putPostbacks(db, well, 2, { state: 'delivered' })
  await putPostbacks(db, well, 2, { state: 'dead', scenario: 'approved' })
  await putPostbacks(db, well, 2, { scenario: 'approved' })
  await putPostbacks(db, behind, 3, { dueAt: before(MINUTE) })
  await putPostbacks(db, behind, 2, { dueAt: after(HOUR) })
  await putPostbacks(db, paused, 4, { state: 'dead' })
  await putPostbacks(db, other, 5)
  const good = { paused_at: null, pause_reason: null, failing_since: null, queued: 0, oldest_due_at: null, dead: 0 }
  assert.deepEqual(
    await readHealth(db, [well, behind, paused, without]),
    new Map<number, Health>([
      [well, good],
      [behind, { ...good, failing_since: before(HOUR), queued: 5, oldest_due_at: before(MINUTE) }],
      [paused, { ...good, paused_at: NOW, pause_reason: 'gone', dead: 4 }],
    ]),
  )
})
