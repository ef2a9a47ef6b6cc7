import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { ensurePartitions } from '../../db/partitions.ts'
import {
  HOUR,
  MINUTE,
  NOW,
  after,
  before,
  forgetPostbacks,
  createLane,
  putAttempt,
  putPostbacks,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { readBacklogs } from './backlogs.ts'
import { type Health, readDelivery, readHealth } from './health.ts'

const world = useWorld('health')

test('the health of many apps is read at once, each with its own postbacks, without test sends', async () => {
  const { db } = world.database
  await forgetPostbacks(db)
  const well = await createLane(world)
  const behind = await createLane(world, { failures: 2, failing_since: before(HOUR) })
  const paused = await createLane(world, { paused_at: NOW, pause_reason: 'gone' })
  const other = await createLane(world)
  const { appId: without } = await world.createApp()
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

test("an app's page reads its own attempts, however many others have failed", async () => {
  const { db } = world.database
  await forgetPostbacks(db)
  const [own, other] = [await createLane(world), await createLane(world)]
  const now = new Date()
  await ensurePartitions(db, 'postback_attempts', [now.getTime()])
  const [id] = (await putPostbacks(db, own, 5_000, { state: 'delivered' })) as [string]
  await putAttempt(db, id, { ok: false, status: 500, error: 'The server answered 500, not 2xx.' }, now)
  await sql`
    WITH made AS (
      INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at, settled_at, last_error)
      SELECT uuidv7(), ${other}, false, gen_random_uuid(), 1, 'approved', 'dead', now(), now(), 'x'
      FROM generate_series(1, 20000) RETURNING postback_id
    )
    INSERT INTO postback_attempts (postback_id, attempt_id, attempt, started_at, duration_ms, ok, status, error, request, response)
    SELECT postback_id, uuidv7(), 1, now(), 1, false, 500, 'x', '', '' FROM made`.execute(db)
  // As autovacuum does it: the partitions, and not the table that they belong to.
  const { rows } = await sql<{ name: string }>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'postback_attempts'::regclass`.execute(
    db,
  )
  for (const { name } of rows) await sql`ANALYZE ${sql.table(name)}`.execute(db)
  await sql`ANALYZE postbacks`.execute(db)
  const { read, found } = await db.transaction().execute(async (trx) => {
    const count = async () => {
      const { rows } = await sql<{ count: number }>`
        SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS count FROM pg_stat_xact_user_tables
        WHERE relname LIKE 'postback_attempts%'`.execute(trx)
      return rows[0]?.count ?? 0
    }
    const earlier = await count()
    const delivery = await readDelivery(trx, own, now)
    return { read: (await count()) - earlier, found: delivery }
  })
  assert.deepEqual([found.attempts, found.last_failure?.postback_id], [1, id])
  assert.ok(read < 100, `${read} attempts were read`)
})

test('backlogs are those of the apps that have waited longest, without paused ones', async () => {
  const { db } = world.database
  await forgetPostbacks(db)
  const [late, latest, early, paused] = await Promise.all(
    [{}, {}, {}, { paused_at: NOW, pause_reason: 'gone' }].map((lane) => createLane(world, lane)),
  )
  await putPostbacks(db, late as number, 3, { dueAt: before(2 * MINUTE) })
  await putPostbacks(db, latest as number, 1, { dueAt: before(5 * MINUTE), priority: 1 })
  await putPostbacks(db, latest as number, 1, { dueAt: before(MINUTE) })
  await putPostbacks(db, early as number, 1, { dueAt: before(1_000) })
  await putPostbacks(db, early as number, 1, { dueAt: after(MINUTE) })
  await putPostbacks(db, paused as number, 1, { dueAt: before(HOUR) })
  assert.deepEqual(await readBacklogs(db, 2), [
    { app_id: latest, oldest_due_at: before(5 * MINUTE), due: 2 },
    { app_id: late, oldest_due_at: before(2 * MINUTE), due: 3 },
  ])
})
