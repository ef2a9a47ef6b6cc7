// The worker is woken when something was queued for it, and only then.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import type { Command } from '../conversions/commands.ts'
import { createCommandQueue } from '../conversions/command-queue.ts'
import type { Status } from '../conversions/conversions.ts'
import { DEFAULTS, saveSettings } from './settings.ts'

const world = useWorld('wake')

const WANTED: (readonly Status[] | null)[] = [null, ['approved', 'reversed'], ['pending', 'approved', 'rejected', 'reversed'], ['rejected']] // prettier-ignore

for (const events of WANTED)
  test(`an app that gets postbacks for ${events?.join(', ') ?? 'nothing'} wakes the worker for no other status`, async () => {
    const { db } = world.database
    const { appId } = await world.createApp()
    const [offerId = 0] = await world.createOffers({})
    if (events !== null)
      await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: 'https://postbacks.example.com/', events })
    let woken = 0
    const queue = createCommandQueue(db, () => woken++)
    const countQueued = async () =>
      (await db.selectFrom('postback_queue').select('postback_id').where('app_id', '=', appId).execute()).length
    const apply = async (command: Command) => {
      const before = { woken, queued: await countQueued() }
      const { conversion } = await queue.apply(command)
      assert.equal(woken - before.woken, (await countQueued()) - before.queued)
      return conversion?.conversionId ?? ''
    }
    for (const userId of ['approved', 'rejected']) {
      const report = { kind: 'report', appId, isTest: false, userId, offerId, goalId: null, transactionId: null, idempotencyKey: null } as const // prettier-ignore
      const conversionId = await apply(report)
      await apply(report) // again: nothing changes
      await apply({ kind: 'move', by: TESTER, conversionId, to: userId === 'approved' ? 'approved' : 'rejected' })
      if (userId === 'approved') await apply({ kind: 'move', by: TESTER, conversionId, to: 'reversed' })
    }
    assert.equal(woken, events === null ? 0 : events.length + (events.includes('pending') ? 1 : 0))
    await queue.close()
  })
