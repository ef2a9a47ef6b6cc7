// Two networks to compare: an empty one, and one that is a year old. Both are kept between runs and brought up to date by
// the migrations of today, as an operator's would be.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePartitions } from '../src/db/partitions.ts'
import { checkLedger } from '../src/features/ledger/check.ts'
import { closeDays, rollUp } from '../src/features/ledger/rollup.ts'
import { rollUpStats } from '../src/features/reports/rollup.ts'
import { FOLDER, runCli, type Say, withPool } from './data.ts'
import { prepareManyOffers } from './growth-offers.ts'
import { fillClicks, fillConversions, fillParties, fillRest, loading, runAll, type Sizes } from './growth-rows.ts'
import { holdPostgres, type Opened, runLong } from './postgres.ts'

const DAY_MS = 86_400_000
const BATCH = 50_000

export type GrowthPlan = { offers: number; sizes: Sizes }
export type Network = { dataDir: string; apiKey: string; apiSecret: string; appId: number; offerIds: number[]; advertiserToken: string } // prettier-ignore

/** A network with so many offers and, where sizes are given, a year of conversions. */
export async function prepareNetwork(offers: number, sizes: Sizes | null, say: Say): Promise<Network> {
  const dataDir = join(FOLDER, sizes === null ? 'growth-empty' : `growth-${sizes.conversions}`)
  const marker = join(dataDir, 'growth.json')
  if (!existsSync(marker)) {
    const source = await prepareManyOffers(offers, say)
    rmSync(dataDir, { recursive: true, force: true })
    await promisify(execFile)('cp', ['-a', source.dataDir, dataDir])
    const made = await createNetwork(dataDir, offers, sizes, say)
    const { apiKey, apiSecret } = source
    writeFileSync(marker, JSON.stringify({ dataDir, apiKey, apiSecret, ...made }), { mode: 0o600 })
  }
  await runCli(dataDir, 'migrate')
  await withPostgres(dataDir, sumUp)
  return JSON.parse(readFileSync(marker, 'utf8')) as Network
}

/** As a worker would have, every minute. */
async function sumUp({ db }: Opened): Promise<void> {
  await closeDays(db, new Date())
  await rollUp(db)
  await rollUpStats(db, new Date())
}

async function withPostgres(dataDir: string, work: (opened: Opened) => Promise<void>): Promise<void> {
  const postgres = await holdPostgres(dataDir)
  const opened = postgres.open()
  try {
    await work(opened)
  } finally {
    await opened.close()
    await postgres.release()
  }
}

async function createNetwork(dataDir: string, offers: number, sizes: Sizes | null, say: Say) {
  await withPostgres(dataDir, async (opened) => {
    if (sizes !== null) await grow(opened, sizes, say)
    for (let from = 0; from < offers; from += BATCH)
      await runLong(opened.pool, `SELECT renew_terms(ARRAY(SELECT offer_id FROM offers WHERE terms_id IS NULL AND offer_id > ${from} AND offer_id <= ${from + BATCH}))`) // prettier-ignore
    await runLong(opened.pool, 'VACUUM ANALYZE')
  })
  return introduce(dataDir)
}

async function grow(opened: Opened, sizes: Sizes, say: Say): Promise<void> {
  const { db, pool } = opened
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000
  say(`Making a year of ${sizes.conversions} conversions and ${sizes.clicks} clicks (kept for the next run) …`)
  await fillParties(pool, sizes)
  const days = Array.from({ length: sizes.retentionDays + 1 }, (_, i) => nowMs - (sizes.retentionDays - i) * DAY_MS)
  for (const table of ['clicks', 'inbound_calls', 'postback_attempts'] as const) await ensurePartitions(db, table, days)
  await loading(pool, () => fillConversions(pool, sizes, nowMs, say))
  for (const [place, timeMs] of days.slice(1).entries()) {
    const dayMs = Math.floor(timeMs / DAY_MS) * DAY_MS
    await fillClicks(pool, sizes, dayMs, Math.min(dayMs + DAY_MS, nowMs), place)
    if (place % 10 === 0) say(`  clicks of ${place + 1} days …`)
  }
  await fillRest(pool, sizes, nowMs)
  await runAll(pool, 'DROP TABLE bench_apps, bench_offers')
  await runLong(pool, 'ANALYZE')
  say('  rollups …')
  await sumUp(opened)
  say('  checking the ledger …')
  const problems = await checkLedger({ pool })
  if (problems.length > 0) throw new Error(`The ledger is wrong: ${JSON.stringify(problems[0])}`)
}

/** The callers: an app (created with the offers), an advertiser by its token, an operator by an invitation. */
export async function introduce(dataDir: string) {
  const { offerIds, advertiserId, appId } = await withPool(dataDir, async (pool) => {
    const { rows } = await pool.query<{ offer_id: number; advertiser_id: number }>(
      `SELECT offer_id, advertiser_id FROM offers WHERE status = 'active' AND countries = '{}' AND platforms @> '{web}'
         AND NOT payment_required AND advertiser_id = (SELECT min(advertiser_id) FROM offers)
         AND NOT EXISTS (SELECT FROM goals WHERE goals.offer_id = offers.offer_id AND is_repeatable)
       ORDER BY offer_id LIMIT 100`,
    )
    const apps = await pool.query<{ app_id: number }>('SELECT min(app_id) AS app_id FROM apps')
    return { offerIds: rows.map((row) => row.offer_id), advertiserId: rows[0]?.advertiser_id ?? 0, appId: apps.rows[0]?.app_id ?? 0 } // prettier-ignore
  })
  const { token } = JSON.parse(await runCli(dataDir, 'advertiser', 'rotate-token', String(advertiserId), '--json')) as { token: string } // prettier-ignore
  return { appId, offerIds, advertiserToken: token }
}
