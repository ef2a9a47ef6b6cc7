// What is being sent at the moment when its replay is cancelled.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  claimDue,
  after,
  before,
  DAY,
  fail,
  finish,
  forgetPostbacks,
  HOUR,
  createLane,
  MINUTE,
  NOW,
  putPostback,
  readPostback,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'
import { replayPostback } from './replay-postback.ts'
import { finishClaims, reapExpired, returnClaim } from './claims.ts'
import type { Claimed } from './queue.ts'
import { cancelReplay, runReplays, startReplay } from './replays.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('cancelled_replays')
beforeEach(() => forgetPostbacks(world.database.db))

const MADE = before(DAY)
const DONE = after(MINUTE)

/** A postback that was delivered or failed, is replayed and being sent. */
async function sendReplayed(was: 'delivered' | 'dead', steps = 2): Promise<{ claimed: Claimed; replayId: number }> {
  const { db } = world.database
  const lane = await createLane(world)
  await putPostback(db, lane, { state: was, createdAt: MADE })
  const replayId = await startReplay(db, TESTER, lane, {})
  for (let i = 0; i < steps; i++) await runReplays(db) // the second step finds no more: the replay is done
  const [claimed] = await claimDue(db, 1, 256, NOW)
  return { claimed: claimed as Claimed, replayId }
}

async function cancelWhileSending(was: 'delivered' | 'dead', steps?: number): Promise<Claimed> {
  const { claimed, replayId } = await sendReplayed(was, steps)
  await cancelReplay(world.database.db, TESTER, replayId, NOW)
  return claimed
}

async function stateOf({ postback_id }: Claimed) {
  const { state, settled_at } = await readPostback(world.database.db, postback_id)
  return [state, settled_at]
}

for (const was of ['delivered', 'dead'] as const)
  for (const [replay, steps] of [
    ['running', 1],
    ['done', 2],
  ] as const)
    // prettier-ignore
    test(`what was ${was} before a ${replay} replay is so again when its attempt fails, and is not retried`, async () => {
      const { db } = world.database
      const claimed = await cancelWhileSending(was, steps)
      assert.deepEqual(await stateOf(claimed), ['sending', null])
      await finishClaims(db, [fail(claimed, { nextAt: after(HOUR) })], DONE)
      assert.deepEqual(await stateOf(claimed), [was, MADE])
      assert.equal((await readPostback(db, claimed.postback_id)).last_status, 500)
      assert.deepEqual(await claimDue(db, 1, 256, after(2 * HOUR)), [])
    })

test('an attempt that fails in the very moment of cancelling is not retried', async () => {
  const { db } = world.database
  const { claimed, replayId } = await sendReplayed('dead')
  let cancelling = Promise.resolve()
  await db.transaction().execute(async (trx) => {
    await finishClaims(trx, [fail(claimed, { nextAt: after(HOUR) })], DONE)
    cancelling = cancelReplay(db, TESTER, replayId, DONE)
    await untilLockIsAwaited(db)
  })
  await cancelling
  assert.deepEqual(await stateOf(claimed), ['dead', MADE])
})

test('its last attempt leaves delivered what was delivered', async () => {
  const claimed = await cancelWhileSending('delivered')
  await finishClaims(world.database.db, [fail(claimed, { nextAt: null })], DONE)
  assert.deepEqual(await stateOf(claimed), ['delivered', MADE])
})

test('it is delivered when its attempt succeeds', async () => {
  const claimed = await cancelWhileSending('dead')
  await finishClaims(world.database.db, [finish(claimed)], DONE)
  assert.deepEqual(await stateOf(claimed), ['delivered', DONE])
})

test('it is what it was when its worker dies, or gives it back', async () => {
  const { db } = world.database
  const lost = await cancelWhileSending('dead')
  assert.equal(await reapExpired(db, after(HOUR)), 1)
  assert.deepEqual(await stateOf(lost), ['dead', MADE])
  const returned = await cancelWhileSending('delivered')
  await returnClaim(db, returned.claim_id)
  assert.deepEqual(await stateOf(returned), ['delivered', MADE])
})

test('replayed once more, alone or with others, it has all its attempts again', async () => {
  const { db } = world.database
  const claimed = await cancelWhileSending('dead')
  await finishClaims(db, [fail(claimed)], DONE)
  const failAgain = async () => {
    const again = await claimDue(db, 1, 256, DONE)
    await finishClaims(
      db,
      again.map((one) => fail(one, { nextAt: after(HOUR) })),
      DONE,
    )
  }
  await replayPostback(db, TESTER, claimed.postback_id, null)
  await failAgain()
  assert.deepEqual(await stateOf(claimed), ['queued', null])
  await db.updateTable('postbacks').set({ state: 'dead' }).execute()
  await startReplay(db, TESTER, claimed.app_id, {})
  await runReplays(db)
  await failAgain()
  assert.deepEqual(await stateOf(claimed), ['queued', null])
})
