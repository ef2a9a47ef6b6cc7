import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  before,
  DAY,
  forgetPostbacks,
  createLane,
  NOW,
  putPostback,
  putPostbacks,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { replayPostback } from './replay-postback.ts'
import { forgetOldPostbacks } from './retention.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('postback_retention')
beforeEach(() => forgetPostbacks(world.database.db))

const old = before(91 * DAY)
const left = async () => {
  const rows = await world.database.db.selectFrom('postbacks').select('postback_id').orderBy('postback_id').execute()
  return rows.map((row) => row.postback_id)
}

test('postbacks that ended more than so many days ago are deleted; queued and younger ones are not', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  await putPostbacks(db, lane, 2_500, { state: 'delivered', createdAt: old })
  await putPostback(db, lane, { state: 'dead', createdAt: old })
  const queued = await putPostback(db, lane, { createdAt: old })
  const replayed = await putPostback(db, lane, { state: 'dead', createdAt: old })
  await replayPostback(db, TESTER, replayed, null)
  const late = await putPostback(db, lane, { state: 'delivered', createdAt: old })
  await db
    .updateTable('postbacks')
    .set({ settled_at: before(DAY) })
    .where('postback_id', '=', late)
    .execute()
  const fresh = await putPostback(db, lane, { state: 'delivered', createdAt: before(89 * DAY) })
  assert.equal(await forgetOldPostbacks(db, 90, NOW), 2_501)
  assert.deepEqual(await left(), [queued, replayed, late, fresh].toSorted())
  assert.equal(await forgetOldPostbacks(db, 90, NOW), 0)
})

test('nothing is forgotten where nothing is younger: a clock may have jumped ahead', async () => {
  const { db } = world.database
  const ids = await putPostbacks(db, await createLane(world), 3, { state: 'delivered', createdAt: old })
  assert.equal(await forgetOldPostbacks(db, 90, NOW), 0)
  assert.deepEqual(await left(), ids)
})
