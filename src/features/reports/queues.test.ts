import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  after,
  before,
  HOUR,
  createLane,
  MINUTE,
  NOW,
  putPostback,
  putPostbacks,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { claimReady } from '../postbacks/queue.ts'
import { readQueues } from './queues.ts'

const world = useWorld('queues')

test('due is what could be sent now: not what waits for its time, an earlier event, its lane or its server', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 1 })
  const conversionId = uuid7(NOW.getTime())
  await putPostback(db, lane, { conversionId, sequence: 1, dueAt: after(HOUR) })
  for (const sequence of [2, 3]) await putPostback(db, lane, { conversionId, sequence, dueAt: before(HOUR) })
  assert.equal((await claimReady(db, { limit: 10, capacity: 64 })).claims.length, 0) // puts them behind the first
  const ready = before(MINUTE)
  await putPostbacks(db, lane, 2, { dueAt: ready })
  for (const held of [
    { paused_at: NOW, pause_reason: 'operator' },
    { failures: 5, open_until: after(HOUR) },
  ])
    await putPostbacks(db, await createLane(world, held), 3)
  const queues = await readQueues(db)
  assert.deepEqual(
    [queues.postbacks_queued, queues.postbacks_due, queues.postbacks_sending, queues.oldest_due_at],
    [11, 2, 0, ready],
  )
})
