import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createFolder } from '../../../test/folders.ts'
import { exportEverything, readExported } from '../../../test/exported.ts'
import { addClicks } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { dropOldClicks } from '../clicks/retention.ts'
import { createFolderTarget } from './folder.ts'
import { mayDropClicks } from './retention.ts'
import { readExports } from './status.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-06-01T12:00:00Z')
const KEPT_DAYS = 60
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS).toISOString()
const dayName = (days: number) => `clicks_${daysAgo(days).slice(0, 10).replaceAll('-', '')}`

const folder = createFolder('exports')
after(() => rmSync(folder, { recursive: true, force: true }))
const world = useWorld('export_retention', async () => {
  await sql`UPDATE offers SET attribution_s = 86400, hold_s = 0`.execute(world.database.db)
  await addClicks(world.database.db, { at: daysAgo(0), appId: 1, offerId: 1 })
})
const target = createFolderTarget(folder)
const drop = (now = NOW) => dropOldClicks(world.database.db, now, KEPT_DAYS, mayDropClicks(target.url))
const runExport = () => exportEverything({ db: world.database.db, target, intervalSeconds: 60, warn: () => {} })
const lost = async () => (await readExports(world.database.db, target.url)).find(({ kind }) => kind === 'clicks')?.lost_rows // prettier-ignore

test('clicks are not deleted before they are exported', async () => {
  const { db } = world.database
  await addClicks(db, { at: daysAgo(70), appId: 1, offerId: 1 }, { at: daysAgo(69), appId: 1, offerId: 1 })
  assert.deepEqual(await drop(), []) // nothing was exported yet
  await runExport()
  assert.deepEqual(await drop(), [dayName(70), dayName(69)])
  // One out of a spool, for a day that was dropped.
  await addClicks(db, { at: daysAgo(70), appId: 1, offerId: 1 })
  assert.deepEqual(await drop(), [])
  await runExport()
  assert.deepEqual(await drop(), [dayName(70)])
  assert.equal(readExported(folder, 'clicks').length, 4)
  assert.equal(await lost(), 0)
})

test('after 30 days more they go, and are counted', async () => {
  const { db } = world.database
  await addClicks(db, { at: daysAgo(80), appId: 1, offerId: 1 }, { at: daysAgo(80), appId: 1, offerId: 1 })
  assert.deepEqual(await drop(new Date(NOW.getTime() + 8 * DAY_MS)), [])
  assert.deepEqual(await drop(new Date(NOW.getTime() + 11 * DAY_MS)), [dayName(80)])
  assert.equal(await lost(), 2)
  await runExport()
  assert.equal(readExported(folder, 'clicks').length, 4)
})
