import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { ensurePartitions } from '../../db/partitions.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { assertComplete, exportEverything } from '../../../test/exported.ts'
import { pagesOf, startExplained, wastedRows } from '../../../test/explain.ts'
import { createFolder } from '../../../test/folders.ts'
import { addClicks } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { createFolderTarget } from './folder.ts'

const DAYS = 60
const CLICKS_A_DAY = 1_000
const DAY_MS = 86_400_000
const folder = createFolder('exports')
after(() => rmSync(folder, { recursive: true, force: true }))
const world = useWorld('export_cost')

test('a few new clicks cost the same however many there are, without a look at the others', async (t) => {
  const { db } = world.database
  const now = Date.now()
  for (let day = DAYS; day > 0; day--) {
    const at = now - day * DAY_MS
    await ensurePartitions(db, 'clicks', [at])
    await sql`INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id)
      SELECT (left(${uuid7Floor(at)}, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${new Date(at)}, 1, false, 'u' || n, 1, 1, 'Coins', 1, 'r'
      FROM generate_series(1, ${CLICKS_A_DAY}::integer) n`.execute(db)
  }
  const explained = await startExplained(world)
  t.after(() => explained.close())
  const target = createFolderTarget(folder)
  const run = (of = db) => exportEverything({ db: of, target, intervalSeconds: 60, warn: () => {} })
  await run()
  await run(explained.db) // fills the caches of its connections
  await addClicks(
    db,
    ...Array.from({ length: 10 }, (_, i) => ({ at: new Date(now - i).toISOString(), appId: 1, offerId: 1 })),
  )
  const statements = (await explained.explain(() => run(explained.db))).filter(({ text }) => /click/.test(text))
  assert.ok(statements.length > 0, 'nothing was measured')
  assert.equal(wastedRows(statements), 0)
  const pages = pagesOf(statements)
  assert.ok(pages < 10 * (DAYS + 10), `${pages} pages were read`)
  await assertComplete(db, folder)
})
