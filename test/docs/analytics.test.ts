// The queries of docs/analytics.md in the real DuckDB, on exported files: their sums are those of Offerdeck's own report.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { numberEvents } from '../../src/features/conversions/events.ts'
import { createFolderTarget } from '../../src/features/exports/folder.ts'
import { readReport } from '../../src/features/reports/network-report.ts'
import { createConversion, createDeal } from '../conversion-rows.ts'
import { exportEverything } from '../exported.ts'
import { createFolder } from '../folders.ts'
import { addClicks } from '../seed-rows.ts'
import { useWorld } from '../world.ts'

const folder = createFolder('exports')
after(() => rmSync(folder, { recursive: true, force: true }))
const world = useWorld('analytics')

const DAY_MS = 86_400_000
const blocks = [...readFileSync('docs/analytics.md', 'utf8').matchAll(/^```duckdb\n(.*?)^```$/gms)].map(([, text = '']) => text.replaceAll('/var/exports/', `${folder}/`)) // prettier-ignore

async function fill(now: number): Promise<void> {
  const { db } = world.database
  const deal = await createDeal(world)
  const statuses = ['pending', 'approved', 'rejected', 'reversed'] as const
  for (let i = 0; i < 60; i++) {
    const at = new Date(now - (i % 7) * DAY_MS - i * 1_000)
    const click = { at: at.toISOString(), appId: deal.appId, offerId: deal.offerId, country: i % 3 ? 'US' : 'DE' }
    await addClicks(db, click, { ...click, ...(i % 5 ? {} : { signals: ['bot'] }) }, { ...click, isTest: true })
    const amounts = { payoutMicros: 1_234_567 + i, revenueMicros: 2_345_678 + i }
    await createConversion(world, deal, { status: statuses[i % 4] ?? 'pending', ...amounts, at, isTest: i % 9 === 0 })
  }
  await numberEvents(db)
}

async function runQueries(sql: string) {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const statements = sql.split(/;\n/).filter((text) => text.trim() !== '')
    for (const statement of statements.slice(0, -1)) await connection.run(statement)
    const reader = await connection.runAndReadAll(statements.at(-1) ?? '')
    return reader.getRowObjects().map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))) // prettier-ignore
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

test('the sums of DuckDB are those of the report, to the last decimal', async () => {
  const now = new Date()
  const { db } = world.database
  await fill(now.getTime())
  await exportEverything({ db, target: createFolderTarget(folder), intervalSeconds: 60, warn: () => {} })
  writeFileSync(join(folder, `clicks/day=${now.toISOString().slice(0, 10)}/clicks-0.ndjson.gz`), gzipSync('')) // of an attempt that failed
  const report = await readReport(db, { groupBy: 'day', limit: 100 }, now)
  const expected = report.rows.filter(({ clicks, rejected, conversions }) => clicks + rejected + conversions > 0)
  const [byDay = '', byCountry = ''] = blocks
  const found = await runQueries(byDay)
  const inReport = (amount: string | undefined) => Math.trunc(Math.round(Number(amount) * 1e6) / 100) / 1e4
  assert.deepEqual(
    found.map((row) => [row['day'], Number(row['clicks']), Number(row['approved']), Number(row['reversed']), inReport(row['payout']), inReport(row['revenue'])]), // prettier-ignore
    expected.map(({ key, clicks, approved, reversed, payout, revenue }) => [key, clicks, approved, reversed, payout, revenue]), // prettier-ignore
  )
  assert.ok(found.length >= 7)
  const { rows } = await world.database.pool.query<{ country: string; clicks: number }>(
    "SELECT country, count(*) AS clicks FROM clicks WHERE NOT is_test AND clicked_at >= '2026-01-01' GROUP BY 1 ORDER BY 2 DESC",
  )
  assert.deepEqual(
    (await runQueries(byCountry)).map((row) => [row['country'], Number(row['clicks'])]),
    rows.map(({ country, clicks }) => [country, clicks]),
  )
})
