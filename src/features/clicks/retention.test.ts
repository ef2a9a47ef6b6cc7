import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { ensurePartitions, ensurePartitionsAhead, listPartitions } from '../../db/partitions.ts'
import type { Db } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { addClicks } from '../../../test/seed-rows.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'
import { useWorld } from '../../../test/world.ts'
import { GROUPINGS } from '../reports/schema.ts'
import { readRange, readStats } from '../reports/stats.ts'
import { dropEmptyDays, dropOldClicks, dropOldInboundCalls } from './retention.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-06-01T12:00:00Z')
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS).toISOString()

let db: Db
let offerId: number
const world = useWorld('retention', async () => {
  ;({ db } = world.database)
  ;[offerId] = (await world.createOffers({})) as [number]
  await addClicks(db, { at: daysAgo(0), appId: 999_999, offerId }) // links are still being followed
})

/** The names of the click partitions that hold days before this time. */
async function clickDaysBefore(time: string): Promise<string[]> {
  return (await listPartitions(db, 'clicks')).filter((name) => name < `clicks_${time.slice(0, 10).replaceAll('-', '')}`)
}

const nameOf = (table: string, time: string) => `${table}_${time.slice(0, 10).replaceAll('-', '')}`

test('a clock that jumped ahead drops nothing: nothing is younger than what would go', async () => {
  await addClicks(db, { at: daysAgo(1), appId: 999_999, offerId })
  assert.deepEqual(await dropOldClicks(db, new Date(NOW.getTime() + 400 * DAY_MS), 40), [])
  assert.deepEqual(await dropOldInboundCalls(db, new Date(NOW.getTime() + 400 * DAY_MS), 40), [])
})

test('statistics are the same before and after clicks are dropped, in every zone and grouping', async () => {
  const { appId } = await world.createApp()
  // Around the midnights of three zones, and the hour that New York left out on 2026-03-08.
  const times = ['07T05:00', '07T18:14', '07T18:15', '07T23:59', '08T00:00', '08T04:59', '08T05:00', '08T06:59', '08T07:00', '08T18:15', '09T03:59', '09T04:00', '09T18:14', '09T18:15'] // prettier-ignore
  const clicks = times.map((time, i) => ({ at: `2026-03-${time}:59.5Z`, appId, offerId, country: i % 3 ? 'US' : 'DE' }))
  await addClicks(db, ...clicks, ...clicks.map((click, i) => ({ ...click, aff_sub: `${i}`, aff_sub4: 'four' })))
  await addClicks(db, { ...clicks[0]!, isTest: true }, { ...clicks[0]!, signals: ['bot'] })

  const look = async () => {
    const answers = []
    for (const timezone of ['UTC', 'Asia/Kathmandu', 'America/New_York'])
      for (const groupBy of GROUPINGS) {
        const range = readRange({ from: '2026-03-07', to: '2026-03-10', timezone }, NOW)
        answers.push(await readStats(db, { appId, isTest: false }, { timezone, groupBy, limit: 100 }, range))
      }
    return answers
  }
  const before = await look()
  assert.deepEqual(
    before.filter(({ group_by }) => group_by === 'day').map(({ rows }) => rows.map((row) => row.clicks)),
    [
      [8, 12, 8],
      [4, 14, 8],
      [12, 10, 6],
    ],
  )
  assert.deepEqual(await dropOldClicks(db, NOW, 40), ['clicks_20260307', 'clicks_20260308', 'clicks_20260309'])
  assert.deepEqual(await look(), before)
  assert.equal((await db.selectFrom('clicks').select('click_id').where('app_id', '=', appId).execute()).length, 0)
})

test('clicks that come late for a dropped day are counted, too', async () => {
  const { appId } = await world.createApp()
  const range = readRange({ from: '2026-02-01', to: '2026-02-02', timezone: 'UTC' }, NOW)
  const count = async () =>
    (await readStats(db, { appId, isTest: false }, { timezone: 'UTC', groupBy: 'day', limit: 1 }, range)).totals.clicks
  for (const expected of [1, 2, 3]) {
    await addClicks(db, { at: '2026-02-01T10:00:00Z', appId, offerId })
    assert.equal(await count(), expected)
    assert.deepEqual(await dropOldClicks(db, NOW, 40), ['clicks_20260201'])
    assert.equal(await count(), expected)
  }
})

test('a day is kept until all of it is older than what is to be kept', async () => {
  const { appId } = await world.createApp()
  await addClicks(db, { at: daysAgo(101), appId, offerId }, { at: daysAgo(100), appId, offerId })
  // Noon now: the day that began 100.5 days ago has its second half within the 100 days.
  assert.deepEqual(await dropOldClicks(db, NOW, 100), [nameOf('clicks', daysAgo(101))])
  assert.deepEqual(await clickDaysBefore(daysAgo(99)), [nameOf('clicks', daysAgo(100))])
  assert.deepEqual(await dropOldClicks(db, NOW, 99), [nameOf('clicks', daysAgo(100))])
})

test('no click goes that may still be confirmed: the longest window, the longest hold and a week', async () => {
  const { appId } = await world.createApp()
  const keeps = async (days: number) => {
    const at = daysAgo(days)
    await addClicks(db, { at, appId, offerId })
    await dropOldClicks(db, NOW, 1)
    return (await listPartitions(db, 'clicks')).includes(nameOf('clicks', at))
  }
  assert.deepEqual([await keeps(37), await keeps(38)], [true, false]) // the default window of 30 days
  await db
    .updateTable('offers')
    .set({ hold_s: 10 * 86_400 })
    .where('offer_id', '=', offerId)
    .execute()
  assert.deepEqual([await keeps(47), await keeps(48)], [true, false])
  const [other] = (await world.createOffers({})) as [number]
  const terms = { offer_id: other, attribution_s: 50 * 86_400, goals: '{}' }
  await db.insertInto('terms').values(terms).execute() // those of an offer that promises less by now
  assert.deepEqual([await keeps(67), await keeps(68)], [true, false])
  await db
    .updateTable('offers')
    .set({ attribution_s: 60 * 86_400 })
    .where('offer_id', '=', other)
    .execute()
  assert.deepEqual([await keeps(77), await keeps(78)], [true, false])
})

test('what fails in between changes nothing: neither is a click lost nor counted', async () => {
  const { appId } = await world.createApp()
  await addClicks(db, { at: '2025-01-01T10:00:00Z', appId, offerId })
  await sql`CREATE VIEW looks_at_it AS SELECT * FROM clicks_20250101`.execute(db) // so that it cannot be dropped
  await assert.rejects(dropOldClicks(db, NOW, 40), /other objects depend on it/)
  const counted = () => db.selectFrom('click_counts').select('clicks').where('app_id', '=', appId).execute()
  assert.deepEqual(await counted(), [])
  await sql`DROP VIEW looks_at_it`.execute(db)
  assert.deepEqual(await dropOldClicks(db, NOW, 40), ['clicks_20250101'])
  assert.deepEqual(await counted(), [{ clicks: 1 }])
})

test('while another process is at it, nothing is dropped; two at once count nothing twice', async () => {
  const { appId } = await world.createApp()
  const at = '2025-02-01T10:00:00Z'
  await addClicks(db, { at, appId, offerId }, { at: '2025-02-02T10:00:00Z', appId, offerId })
  await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCKS.clickRetention})`.execute(trx)
    assert.deepEqual(await dropOldClicks(db, NOW, 40), [])
  })
  const both = await Promise.all([dropOldClicks(db, NOW, 40), dropOldClicks(db, NOW, 40)])
  assert.deepEqual(both.flat().toSorted(), ['clicks_20250201', 'clicks_20250202'])
  const counts = await db.selectFrom('click_counts').select('clicks').where('app_id', '=', appId).execute()
  assert.deepEqual(counts, [{ clicks: 1 }, { clicks: 1 }])
})

test('a click that is being written while its day is dropped is waited for, and counted', async () => {
  const { appId } = await world.createApp()
  const click = { at: '2025-04-01T10:00:00Z', appId, offerId }
  await addClicks(db, click)
  let dropping: Promise<string[]> | undefined
  await db.transaction().execute(async (late) => {
    await addClicks(late, click)
    dropping = dropOldClicks(db, NOW, 40)
    await untilLockIsAwaited(db)
  })
  assert.deepEqual(await dropping, ['clicks_20250401'])
  const counts = await db.selectFrom('click_counts').select('clicks').where('app_id', '=', appId).execute()
  assert.deepEqual(counts, [{ clicks: 2 }])
})

test('a reader that takes long is not waited for, and new clicks are not held up behind it', async () => {
  const { appId } = await world.createApp()
  await addClicks(db, { at: '2025-03-01T10:00:00Z', appId, offerId }, { at: daysAgo(0), appId, offerId })
  await db.transaction().execute(async (reader) => {
    await reader.selectFrom('clicks').select('click_id').execute()
    const began = performance.now()
    await assert.rejects(dropOldClicks(db, NOW, 40), /lock timeout/)
    assert.ok(performance.now() - began < 5_000)
    await addClicks(db, { at: daysAgo(0), appId, offerId })
  })
  assert.deepEqual(await dropOldClicks(db, NOW, 40), ['clicks_20250301'])
})

async function addCall(at: string, nextAttemptAt: Date | null): Promise<void> {
  const inbound = { inbound_id: uuid7(Date.parse(at)), received_at: new Date(at) }
  await ensurePartitions(db, 'inbound_calls', [Date.parse(at)])
  await db
    .insertInto('inbound_calls')
    .values({ ...inbound, method: 'GET', query: '', body: '', outcome: 'unmatched' })
    .execute()
  const { inbound_id } = inbound
  await db
    .insertInto('open_calls')
    .values({ inbound_id, advertiser_id: 1, outcome: 'unmatched', next_attempt_at: nextAttemptAt })
    .execute()
}

test('inbound calls are dropped by the day, but for days with one that is still retried', async () => {
  await addCall(daysAgo(33), null)
  await addCall(daysAgo(32), NOW)
  await addCall(daysAgo(32), null)
  await addCall(daysAgo(31), null)
  await addCall(daysAgo(30), null)
  const [oldest, waiting, young, youngest] = [33, 32, 31, 30].map((days) => nameOf('inbound_calls', daysAgo(days)))
  assert.deepEqual(await dropOldInboundCalls(db, NOW, 30), [oldest, young])
  assert.deepEqual((await listPartitions(db, 'inbound_calls')).slice(0, 2), [waiting, youngest])
  await db.updateTable('open_calls').set({ next_attempt_at: null }).execute()
  assert.deepEqual(await dropOldInboundCalls(db, NOW, 30), [waiting])
  assert.equal((await db.selectFrom('open_calls').select('inbound_id').execute()).length, 1, 'open ones go with them')
})

test('inbound calls are kept for a week, whatever is asked for', async () => {
  await addCall(daysAgo(7), null)
  await addCall(daysAgo(8), null)
  const dropped = await dropOldInboundCalls(db, NOW, 0)
  assert.ok(dropped.includes(nameOf('inbound_calls', daysAgo(8))))
  assert.ok(!dropped.includes(nameOf('inbound_calls', daysAgo(7))))
})

test('past days on which nothing came have no partition, and few are created ahead', async () => {
  const { appId } = await world.createApp()
  const days = Array.from({ length: 20 }, (_, i) => Date.parse(daysAgo(3 + i)))
  await ensurePartitions(db, 'clicks', days)
  await ensurePartitions(db, 'postback_attempts', days)
  await addClicks(db, { at: daysAgo(9), appId, offerId })
  await ensurePartitionsAhead(db, NOW.getTime())
  // Also where nothing is younger: nothing is lost with what is empty.
  const dropped = await dropEmptyDays(db, NOW)
  assert.ok(
    dropped.includes(nameOf('clicks', daysAgo(22))) && dropped.includes(nameOf('postback_attempts', daysAgo(9))),
  )
  const left = await listPartitions(db, 'clicks')
  assert.ok(left.includes(nameOf('clicks', daysAgo(9))), 'a click came on this day')
  assert.ok(!left.includes(nameOf('clicks', daysAgo(8))))
  assert.ok(left.includes(nameOf('clicks', daysAgo(1))) && left.includes(nameOf('clicks', daysAgo(-2))))
  const [today, nextMonth] = [nameOf('clicks', daysAgo(0)), nameOf('clicks', daysAgo(-30))]
  assert.equal(left.filter((name) => name > today && name < nextMonth).length, 2, 'two days ahead')
  await addClicks(db, { at: daysAgo(15), appId, offerId })
  assert.ok((await listPartitions(db, 'clicks')).includes(nameOf('clicks', daysAgo(15))), 'what comes late')
})
