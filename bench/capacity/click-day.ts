// npm run bench -- --only click-day: checks docs/capacity.md by a day of a million clicks, recorded as the server does. A click
// takes on disk what the page says, and the last ones cost what the first did.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { migrate } from '../../src/db/migrate.ts'
import { ensurePartitions } from '../../src/db/partitions.ts'
import { type Click, recordClicks } from '../../src/features/clicks/clicks.ts'
import { dropOldClicks } from '../../src/features/clicks/retention.ts'
import { rollUpStats } from '../../src/features/reports/rollup.ts'
import { seedOffers } from '../../src/features/offers/seed.ts'
import { FOLDER, type Say } from '../data.ts'
import { createBatch, OFFERS } from '../partitions.ts'
import { holdPostgres, type Opened, runLong } from '../postgres.ts'
import { median } from '../rounds.ts'
import { readWalPosition } from './costs.ts'
import type { Measured } from './plan.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BATCH = 200
const PARTS = 10
const DAYS_AGO = 60 // older than any promise, so that it can be dropped
const USERS = 2_000_000
/** What the page says may differ by this share: a partition that fills up goes through splits of its indexes. */
export const TOLERANCE = 0.25
/** Wanted of the last tenth over the second: the first one warms up. */
const FLAT = 1.3

/** Of one click. */
export type ClickBytes = { tableBytes: number; indexBytes: number; walBytes: number }

/** What becomes of the clicks of the day: rolled up for statistics, and counted and dropped in the end. */
export type Afterwards = { rollUpSeconds: number; dropSeconds: number; countBytes: number }

/** `batchMs` is the median for a batch of 200 in each tenth of them. */
export type ClickDay = ClickBytes & { clicks: number; batchMs: number[]; postgresMicros: number[] }

const COUNTRIES = ['US', 'GB', 'DE', 'BR', 'IN']
const pick = (count: number) => Math.floor(Math.random() * count)

/** A few users click often, most of them rarely; from several countries, on phones and desktops. */
const vary = (click: Click): Click => ({
  ...click,
  user_id: `user-${Math.floor(USERS * Math.random() ** 3)}`,
  country: COUNTRIES[pick(COUNTRIES.length)] ?? null,
  device: pick(2) === 0 ? 'desktop' : 'mobile',
})

/**
 * Records so many clicks of one hour of this day into its partition, which is empty before. All in an hour, because that is
 * how they are rolled up and counted in a large network: many of each offer, country and device.
 */
export async function fillDay(
  opened: Opened,
  dayMs: number,
  clicks: number,
  cpuSeconds: () => number,
): Promise<ClickDay> {
  // prettier-ignore
  await ensurePartitions(opened.db, 'clicks', [dayMs])
  const batches = Math.ceil(clicks / BATCH)
  const walBefore = await readWalPosition(opened.pool)
  const [batchMs, postgresMicros]: [number[], number[]] = [[], []]
  for (let part = 0; part < PARTS; part++) {
    const cpuBefore = cpuSeconds()
    const times: number[] = []
    const [from, to] = [part, part + 1].map((share) => Math.round((share * batches) / PARTS)) as [number, number]
    for (let batch = from; batch < to; batch++) {
      const nowMs = dayMs + Math.floor((batch * HOUR_MS) / batches)
      const rows = createBatch(nowMs).map(vary)
      const startedAt = performance.now()
      await recordClicks(opened, rows)
      times.push(performance.now() - startedAt)
    }
    batchMs.push(median(times))
    postgresMicros.push(((cpuSeconds() - cpuBefore) * 1e6) / ((to - from) * BATCH))
  }
  const recorded = batches * BATCH
  const sizes = await readSizes(opened.pool)
  return {
    clicks: recorded,
    tableBytes: sizes.table / recorded,
    indexBytes: sizes.indexes / recorded,
    walBytes: ((await readWalPosition(opened.pool)) - walBefore) / recorded,
    batchMs,
    postgresMicros,
  }
}

async function readSizes(pool: pg.Pool): Promise<{ table: number; indexes: number }> {
  const [sizes] = await runLong<{ table: number; indexes: number }>(
    pool,
    `SELECT sum(pg_table_size(inhrelid))::bigint AS table, sum(pg_indexes_size(inhrelid))::bigint AS indexes
     FROM pg_inherits WHERE inhparent = 'clicks'::regclass`,
  )
  return sizes ?? { table: 0, indexes: 0 }
}

/** Where the page is off by more than the tolerance; one line each. */
export function compareWithPage({ click }: Measured, { tableBytes, indexBytes }: ClickBytes): string[] {
  const pairs: [string, number, number][] = [
    ['tables', click['tables MB'], tableBytes],
    ['indexes', click['indexes MB'], indexBytes],
  ]
  // A million times so many bytes are so many megabytes.
  return pairs
    .filter(([, said, found]) => Math.abs(found / said - 1) > TOLERANCE)
    .map(([what, said, found]) => `${what}: the page says ${said.toFixed(0)} bytes for a click, there are ${found.toFixed(0)}`) // prettier-ignore
}

export async function measureClickDay(clicks: number, say: Say): Promise<ClickDay & Afterwards> {
  const dataDir = join(FOLDER, 'click-day')
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  const postgres = await holdPostgres(dataDir)
  const opened = postgres.open()
  try {
    await migrate(opened)
    await seedOffers(opened.db, OFFERS)
    await runLong(opened.pool, 'VACUUM ANALYZE')
    say(`A day of ${clicks.toLocaleString('en')} clicks …`)
    const dayMs = Math.floor(Date.now() / DAY_MS - DAYS_AGO) * DAY_MS
    const day = await fillDay(opened, dayMs, clicks, postgres.cpuSeconds)
    await runLong(opened.pool, 'VACUUM ANALYZE clicks')
    say('Rolling it up, and dropping it …')
    const rollUpSeconds = await timeSeconds(() => rollUpStats(opened.db, new Date(dayMs + DAY_MS + HOUR_MS)))
    await ensurePartitions(opened.db, 'clicks', [Date.now()])
    await recordClicks(opened, createBatch(Date.now())) // where there are no younger ones, none are dropped
    const dropSeconds = await timeSeconds(async () => {
      const dropped = await dropOldClicks(opened.db, new Date(), 0)
      if (dropped.length !== 1) throw new Error('The day was not dropped.')
    })
    const [counts] = await runLong<{ bytes: number }>(
      opened.pool,
      `SELECT pg_total_relation_size('click_counts') AS bytes`,
    )
    return { ...day, rollUpSeconds, dropSeconds, countBytes: counts?.bytes ?? 0 }
  } finally {
    await opened.close()
    await postgres.release()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function timeSeconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

/** The last tenth over the second, in CPU time of PostgreSQL. */
const growthOf = ({ postgresMicros }: ClickDay) => (postgresMicros.at(-1) ?? 0) / (postgresMicros[1] ?? Number.NaN)

export function findProblems(measured: Measured, day: ClickDay): string[] {
  const growth = growthOf(day)
  const grown = growth > FLAT ? [`The last clicks took ${growth.toFixed(2)} times the CPU of the first.`] : []
  return [...compareWithPage(measured, day), ...grown]
}

export function describeClickDay(day: ClickDay & Afterwards): string {
  const list = (values: number[], digits: number) => values.map((value) => value.toFixed(digits)).join(' ')
  return [
    `${day.clicks.toLocaleString('en')} clicks in one partition: ${day.tableBytes.toFixed(0)} bytes of the table, ${day.indexBytes.toFixed(0)} of indexes and ${day.walBytes.toFixed(0)} of WAL for a click.`,
    `CPU of PostgreSQL for a click in each tenth: ${list(day.postgresMicros, 0)} µs; the last over the second: ${growthOf(day).toFixed(2)} (wanted: at most ${FLAT}).`,
    `Rolled up for statistics in ${day.rollUpSeconds.toFixed(1)} s; counted and dropped in ${day.dropSeconds.toFixed(1)} s, which leaves ${(day.countBytes / day.clicks).toFixed(0)} bytes for a click.`,
    `A batch of ${BATCH}, median of each tenth: ${list(day.batchMs, 1)} ms.`,
  ].join('\n')
}
