// What stays of users and clicks of long ago.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { forgetOldNotices, listNotices } from '../postbacks/notices.ts'
import { compactClickCounts, SUB_IDS_KEPT_DAYS } from './compact-counts.ts'
import { forgetOldContexts } from './old-contexts.ts'

const world = useWorld('old_figures')
const DAY_MS = 86_400_000
const now = new Date()
const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)

const users = async (appId: number) =>
  (
    await world.database.db
      .selectFrom('user_contexts')
      .select('user_id')
      .where('app_id', '=', appId)
      .orderBy('user_id')
      .execute()
  ).map(({ user_id }) => user_id)

test('sub-IDs of users who were not seen while clicks are kept are forgotten, all others stay', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const rows = Array.from({ length: 600 }, (_, i) => ({ app_id: appId, is_test: i % 7 === 0, user_id: `u${String(i).padStart(3, '0')}`, aff_sub: 'x', seen_at: ago(i % 3 === 0 ? 91 : 89) })) // prettier-ignore
  await db.insertInto('user_contexts').values(rows).execute()
  assert.equal(await forgetOldContexts(db, now, 90, 1), 200)
  assert.deepEqual(await users(appId), rows.filter((_, i) => i % 3 !== 0).map(({ user_id }) => user_id)) // prettier-ignore
  assert.equal(await forgetOldContexts(db, now, 90), 0)
  // An offer that promises longer keeps them, like its clicks.
  await world.createOffers({ attribution_window: '90d' })
  assert.equal(await forgetOldContexts(db, new Date(now.getTime() + 2 * DAY_MS), 7), 0)
  // A clock that jumps ahead deletes nothing.
  assert.equal(await forgetOldContexts(db, new Date(now.getTime() + 1_000 * DAY_MS), 90), 0)
})

test('counts of old clicks lose their sub-IDs and nothing else', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const quarter = (days: number, minutes: number) =>
    new Date(Math.floor(ago(days).getTime() / DAY_MS) * DAY_MS + minutes * 60_000)
  const counts = [SUB_IDS_KEPT_DAYS + 40, SUB_IDS_KEPT_DAYS + 2, SUB_IDS_KEPT_DAYS - 2].flatMap(
    (days) =>
    Array.from({ length: 60 }, (_, i) => ({ app_id: appId, offer_id: offerId, quarter: quarter(days, 15 * (i % 6)), country: i % 2 === 0 ? 'US' : null, aff_sub: `click-${i}`, clicks: 1 + (i % 3) })), // prettier-ignore
  )
  await db.insertInto('click_counts').values(counts).execute()
  const sums = () =>
    db
      .selectFrom('click_counts')
      .select(['quarter', 'offer_id', 'country', (is) => is.fn.sum<number>('clicks').as('clicks')])
      .where('app_id', '=', appId)
      .groupBy(['quarter', 'offer_id', 'country'])
      .orderBy('quarter')
      .orderBy('country')
      .execute()
  const before = await sums()
  assert.equal(await compactClickCounts(db, now), 12)
  assert.deepEqual(await sums(), before)
  const rows = await db.selectFrom('click_counts').select(['aff_sub', 'quarter']).where('app_id', '=', appId).execute()
  assert.equal(rows.length, 60 + 12)
  assert.ok(rows.every((row) => row.aff_sub === null || row.quarter > ago(SUB_IDS_KEPT_DAYS)))
  assert.equal(await compactClickCounts(db, now), 0)
  // Clicks that were dropped late are added to what is there.
  await db.insertInto('click_counts').values(counts.slice(0, 3)).execute()
  assert.equal(await compactClickCounts(db, now), 3)
})

test('notices go after RETENTION_DAYS', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const notice = { app_id: appId, kind: 'postbacks_paused' }
  await db.insertInto('notices').values({ ...notice, message: 'old', created_at: ago(91) }).execute() // prettier-ignore
  await db.insertInto('notices').values({ ...notice, message: 'new', created_at: ago(89) }).execute() // prettier-ignore
  await forgetOldNotices(db, now, 90)
  assert.deepEqual((await listNotices(db, { appId }, 10)).map(({ message }) => message), ['new']) // prettier-ignore
})
