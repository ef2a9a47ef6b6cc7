// Figure 8: what recording clicks costs when there are millions of them, over the same on an empty table; and how long
// it takes to drop a day of them. Both tables are in the same PostgreSQL, and time is an argument: the data stays of use
// however old it gets.
import type pg from 'pg'
import { APP_ROLE } from '../src/db/app-role.ts'
import { migrate } from '../src/db/migrate.ts'
import { dropPartition, ensurePartitions, listPartitionsBefore } from '../src/db/partitions.ts'
import { type Click, recordClicks } from '../src/features/clicks/clicks.ts'
import { dropOldClicks } from '../src/features/clicks/retention.ts'
import { seedOffers } from '../src/features/offers/seed.ts'
import { uuid7, uuid7Floor } from '../src/lib/uuid7.ts'
import { keepFolder, type Say } from './data.ts'
import { holdPostgres, type Opened, type Postgres, runLong } from './postgres.ts'
import { median } from './rounds.ts'

const DAY_MS = 86_400_000
const DAYS = 31 // the last of them is today, and half over
export const OFFERS = 1_000
const USERS = 2_000_000
const BATCH = 200 // as the server writes them
const EMPTY = 'bench_empty'
const DROPS = 3
const LONG_AGO_DAYS = 60 // older than any promise

/** Milliseconds for a batch: the mean, and the dearest but one in a hundred. */
export type BatchTimes = { meanMs: number; p99Ms: number }

export type PartitionsMeasured = {
  clicks: number
  /** On disk, with indexes. */
  gigabytes: number
  /** What it took to create them. */
  madeInSeconds: number
  /** Cost among many over cost on an empty table: median of the rounds. */
  ratio: number
  rounds: { many: BatchTimes; empty: BatchTimes }[]
  clicksOfADay: number
  /** A partition of a day, as it is. */
  dropMs: number[]
  /** The same, after its clicks were counted. */
  countAndDropMs: number[]
}

export type PartitionsPlan = { clicks: number; rounds: number; warmUpBatches: number; batches: number }

type Kept = { dataDir: string; todayMs: number; gigabytes: number; madeInSeconds: number }

export async function measurePartitions(plan: PartitionsPlan, say: Say): Promise<PartitionsMeasured> {
  const { clicks } = plan
  const kept = await keepFolder(`clicks-${clicks}`, `${clicks.toLocaleString('en')} clicks`, say, (dataDir) =>
    createClicks(dataDir, clicks),
  )
  const postgres = await holdPostgres(kept.dataDir)
  const many = postgres.open()
  const empty = await openEmpty(postgres, kept.todayMs)
  const clicksOfADay = Math.round(clicks / DAYS)
  try {
    say(`Recording clicks among ${clicks.toLocaleString('en')} and among none, in turn …`)
    await forgetMeasured(many.pool, kept.todayMs)
    await postgres.administer('CHECKPOINT')
    const rounds = await compareBatches(many, empty, kept.todayMs, plan)
    say('Dropping days …')
    const drops = await measureDrops(postgres, many, kept.todayMs, clicksOfADay)
    const ratio = median(rounds.map((round) => round.many.meanMs / round.empty.meanMs))
    const { gigabytes, madeInSeconds } = kept
    return { clicks, gigabytes, madeInSeconds, ratio, rounds, clicksOfADay, ...drops }
  } finally {
    await Promise.all([many.close(), empty.close()])
    await postgres.release()
  }
}

/** The same share for every day; today is noon. */
async function createClicks(dataDir: string, clicks: number): Promise<Kept> {
  const startedAt = performance.now()
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const postgres = await holdPostgres(dataDir)
  const { db, pool, close } = postgres.open()
  try {
    await migrate({ pool })
    await seedOffers(db, OFFERS)
    const days = Array.from({ length: DAYS }, (_, i) => todayMs - (DAYS - 1 - i) * DAY_MS)
    await ensurePartitions(db, 'clicks', [...days, todayMs + DAY_MS])
    const share = Math.round(clicks / DAYS)
    for (const dayMs of days) await fillDay(pool, dayMs, dayMs === todayMs ? DAY_MS / 2 : DAY_MS, share)
    await runLong(pool, 'VACUUM ANALYZE')
    const [size] = await runLong<{ bytes: number }>(
      pool,
      `SELECT sum(pg_total_relation_size(inhrelid))::bigint AS bytes FROM pg_inherits WHERE inhparent = 'clicks'::regclass`,
    )
    const madeInSeconds = (performance.now() - startedAt) / 1000
    return { dataDir, todayMs, gigabytes: (size?.bytes ?? 0) / 1e9, madeInSeconds }
  } finally {
    await close()
    await postgres.release()
  }
}

async function fillDay(pool: pg.Pool, fromMs: number, lengthMs: number, clicks: number): Promise<void> {
  await runLong(
    pool,
    `INSERT INTO clicks
     SELECT (lpad(to_hex(ms), 12, '0') || '7' || left(random, 3) || '8' || right(random, 15))::uuid, to_timestamp(ms / 1000.0),
       1, false, 'user-' || user_no, offer_no, offer_no, 'Coins', 100000000, 'req_' || left(random, 12),
       'source-' || n % 50, 'campaign-' || n % 1000, NULL, NULL, '10.0.0.0'::inet + user_no,
       (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5], 'desktop', 'windows', NULL
     FROM (SELECT n, $1::bigint + n * $2::bigint / $3::bigint AS ms, md5(n::text || $1::text) AS random,
         (random() * $4::bigint)::bigint AS user_no, 1 + (random() * $5::bigint)::bigint % $5::bigint AS offer_no
       FROM generate_series(0, $3::bigint - 1) AS n) AS made`,
    [fromMs, lengthMs, clicks, USERS, OFFERS],
  )
}

/** A database as it is on the first day. */
async function openEmpty(postgres: Postgres, todayMs: number): Promise<Opened> {
  await postgres.administer(`DROP DATABASE IF EXISTS ${EMPTY}`, `CREATE DATABASE ${EMPTY} OWNER ${APP_ROLE}`)
  const empty = postgres.open(EMPTY)
  await migrate(empty)
  await seedOffers(empty.db, OFFERS)
  await ensurePartitions(empty.db, 'clicks', [todayMs, todayMs + DAY_MS])
  await runLong(empty.pool, 'VACUUM ANALYZE')
  return empty
}

const noonOf = (todayMs: number) => todayMs + DAY_MS / 2

/** What an earlier run recorded, and what it left of a day that it dropped. */
async function forgetMeasured(pool: pg.Pool, todayMs: number): Promise<void> {
  await runLong(pool, 'DELETE FROM clicks WHERE click_id >= $1::uuid', [uuid7Floor(noonOf(todayMs))])
  await runLong(pool, 'TRUNCATE click_counts')
  await runLong(pool, 'VACUUM ANALYZE clicks')
}

async function compareBatches(many: Opened, empty: Opened, todayMs: number, plan: PartitionsPlan) {
  const rounds: PartitionsMeasured['rounds'] = []
  let atMs = noonOf(todayMs)
  const runOne = async (opened: Opened): Promise<BatchTimes> => {
    const times: number[] = []
    for (let i = 0; i < plan.warmUpBatches + plan.batches; i++) {
      const batch = createBatch((atMs += 20))
      const startedAt = performance.now()
      await recordClicks(opened, batch)
      if (i >= plan.warmUpBatches) times.push(performance.now() - startedAt)
    }
    return summarize(times)
  }
  for (let round = 0; round < plan.rounds; round++) {
    const among = await runOne(many)
    await empty.pool.query('TRUNCATE clicks')
    rounds.push({ many: among, empty: await runOne(empty) })
  }
  return rounds
}

function summarize(times: number[]): BatchTimes {
  const sorted = times.toSorted((a, b) => a - b)
  const meanMs = times.reduce((sum, time) => sum + time, 0) / times.length
  return { meanMs, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN }
}

const pick = (count: number) => Math.floor(Math.random() * count)

export function createBatch(nowMs: number): Click[] {
  return Array.from({ length: BATCH }, () => {
    const offerId = 1 + pick(OFFERS)
    return {
      click_id: uuid7(nowMs),
      clicked_at: new Date(nowMs).toISOString(),
      app_id: 1,
      is_test: false,
      user_id: `user-${pick(USERS)}`,
      offer_id: offerId,
      terms_id: offerId,
      currency: 'Coins',
      rate_micros: 100_000_000,
      share_ppm: null,
      request_id: `req_${pick(2 ** 40).toString(16)}`,
      aff_sub: `source-${pick(50)}`,
      aff_sub2: `campaign-${pick(1000)}`,
      aff_sub3: null,
      aff_sub4: null,
      ip: `10.${pick(256)}.${pick(256)}.${pick(256)}`,
      country: 'US',
      device: 'desktop',
      os: 'windows',
      signals: null,
    }
  })
}

/** Creates a day of long ago, and drops it: as it is, and as the worker does, which counts its clicks first. */
async function measureDrops(postgres: Postgres, { db, pool }: Opened, todayMs: number, clicksOfADay: number) {
  const dayMs = todayMs - LONG_AGO_DAYS * DAY_MS
  const timeDrop = async (drop: (name: string) => Promise<unknown>) => {
    await ensurePartitions(db, 'clicks', [dayMs])
    await fillDay(pool, dayMs, DAY_MS, clicksOfADay)
    await postgres.administer('CHECKPOINT') // a day of long ago is on disk
    const [partition] = await listPartitionsBefore(db, 'clicks', dayMs + DAY_MS)
    const startedAt = performance.now()
    await drop(partition?.name ?? '')
    const ms = performance.now() - startedAt
    const left = await listPartitionsBefore(db, 'clicks', dayMs + DAY_MS)
    if (left.length > 0) throw new Error(`The partition ${left[0]?.name} is still there.`)
    return ms
  }
  const dropMs: number[] = []
  const countAndDropMs: number[] = []
  for (let i = 0; i < DROPS; i++) {
    dropMs.push(await timeDrop((name) => dropPartition(db, name)))
    countAndDropMs.push(await timeDrop(() => dropOldClicks(db, new Date(todayMs), 0)))
  }
  return { dropMs, countAndDropMs }
}
