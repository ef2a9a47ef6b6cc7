// Rolled up or not, figures are the same: random histories, with late clicks and late changes, summed from rollups and
// from every single row.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { addClicks, addConversions } from '../../../test/seed-rows.ts'
import { action, perform, share, spanOf, timeIn } from '../../../test/stats-history.ts'
import { useWorld } from '../../../test/world.ts'
import { ensurePartitions } from '../../db/partitions.ts'
import type { Db } from '../../db/open.ts'
import { dropOldClicks } from '../clicks/retention.ts'
import { rollUpStats } from './rollup.ts'
import { readRange, readStats } from './stats.ts'

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAYS = 4

let apps: number[] = []
let offers: number[] = []
const world = useWorld('rollup', async () => {
  apps = [(await world.createApp()).appId, (await world.createApp()).appId]
  offers = await world.createOffers({}, {})
})

/** Four days that are over, up to now. */
const NOW_MS = Date.now()
const span = spanOf(DAYS, NOW_MS)
const { startMs } = span
const timeOf = (part: number) => timeIn(span, part)

const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns')
const question = fc.record({
  from: share,
  length: fc.constantFrom(QUARTER_MS, HOUR_MS, DAY_MS, 2 * DAY_MS, DAYS * DAY_MS),
  isAligned: fc.boolean(),
  timezone: zone,
  groupBy: fc.constantFrom('day' as const, 'offer' as const, 'country' as const, 'aff_sub' as const),
  offer: fc.option(fc.nat(1)),
  country: fc.constantFrom(undefined, 'US'),
})
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

async function readFigures(db: Db, asked: Question) {
  const { from, length, isAligned, timezone, groupBy, offer, country } = asked
  const fromMs = isAligned ? Math.floor(timeOf(from) / DAY_MS) * DAY_MS : timeOf(from)
  const times = { from: new Date(fromMs).toISOString(), to: new Date(fromMs + length).toISOString() }
  const query = {
    timezone,
    groupBy,
    limit: 1_000,
    ...(offer !== null && { offerId: offers[offer] }),
    ...(country && { country }),
  }
  return readStats(db, { appId: apps[0] ?? 0, isTest: false }, query, readRange({ ...times, timezone }, new Date()))
}

/** The same from every single row. */
async function readWithoutRollups(db: Db, asked: Question) {
  let figures: unknown
  const rollback = new Error('rollback')
  const telling = db.transaction().execute(async (trx) => {
    await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(trx)
    figures = await readFigures(trx, asked)
    throw rollback
  })
  await telling.catch((error: unknown) => assert.equal(error, rollback))
  return figures
}

test('figures are the same, rolled up or not, whatever changes late and in every time zone', async () => {
  const { db } = world.database
  await ensurePartitions(
    db,
    'clicks',
    Array.from({ length: DAYS + 1 }, (_, i) => startMs + i * DAY_MS),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 4, maxLength: 14 }),
      fc.array(question, { minLength: 4, maxLength: 6 }),
      async (actions, questions) => {
        // prettier-ignore
        for (const one of actions) await perform({ world, span, apps, offers }, one)
        for (const asked of questions)
          assert.deepEqual(await readFigures(db, asked), await readWithoutRollups(db, asked))
      },
    ),
    { numRuns: 40, endOnFailure: true },
  )
  await rollUpStats(db, new Date())
  const { rows } = await sql<{ quarters: number; deltas: number }>`
    SELECT (SELECT count(*) FROM stats_quarters) AS quarters, (SELECT count(*) FROM stats_deltas WHERE at < (SELECT through FROM stats_rollup)) AS deltas`.execute(
    db,
  )
  assert.ok((rows[0]?.quarters ?? 0) > 10)
  assert.equal(rows[0]?.deltas, 0)
})

test('two who roll up at once count nothing twice', async () => {
  const { db } = world.database
  await sql`TRUNCATE stats_quarters, stats_days, stats_months, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  await Promise.all([1, 2, 3].map(() => rollUpStats(db, new Date())))
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'day', offer: null, country: undefined } as const // prettier-ignore
  assert.deepEqual(await readFigures(db, asked), await readWithoutRollups(db, asked))
})

test('figures stay the same while they are rolled up', async () => {
  const { db } = world.database
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'offer', offer: null, country: undefined } as const // prettier-ignore
  const right = await readWithoutRollups(db, asked)
  await sql`TRUNCATE stats_quarters, stats_days, stats_months, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  const rolling = { isDone: false }
  const rollingUp = (async () => {
    for (let ms = startMs; ms <= NOW_MS; ms += HOUR_MS + 7 * MINUTE_MS) await rollUpStats(db, new Date(ms))
    rolling.isDone = true
  })()
  while (!rolling.isDone) assert.deepEqual(await readFigures(db, asked), right)
  await rollingUp
})

test('clicks of a day that is half rolled up are not dropped before the rest is', async () => {
  const { db } = world.database
  await sql`TRUNCATE stats_quarters, stats_days, stats_months, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  const [appId = 0, offerId = 0] = [apps[0], offers[0]]
  const dayMs = startMs + DAY_MS
  const times = [dayMs + 61 * MINUTE_MS, dayMs + 74 * MINUTE_MS, NOW_MS]
  await addClicks(db, ...times.map((ms) => ({ at: new Date(ms).toISOString(), appId, offerId })))
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'day', offer: null, country: undefined } as const // prettier-ignore
  const before = await readFigures(db, asked)
  await rollUpStats(db, new Date(dayMs + 70 * MINUTE_MS))
  const keepDays = 60
  const drop = () => dropOldClicks(db, new Date(dayMs + (keepDays + 1) * DAY_MS), keepDays)
  await drop()
  assert.deepEqual(await readFigures(db, asked), before)
  await rollUpStats(db, new Date())
  assert.deepEqual(await readFigures(db, asked), before)
  assert.ok((await drop()).length > 0)
  assert.deepEqual(await readFigures(db, asked), before)
})

const TODAY = { from: 0.99, length: 2 * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'day', offer: null, country: undefined } as const // prettier-ignore

test("a worker whose clock is ahead of the database's hides no figures", async () => {
  const { db } = world.database
  await rollUpStats(db, new Date(Date.now() + 3 * DAY_MS))
  await addConversions(db, {
    at: new Date().toISOString(),
    appId: apps[0] ?? 0,
    offerId: offers[0] ?? 0,
    status: 'approved',
    payoutMicros: 7,
  })
  await rollUpStats(db, new Date(Date.now() + 3 * DAY_MS))
  assert.deepEqual(await readFigures(db, TODAY), await readWithoutRollups(db, TODAY))
})

test("after the database's own clock was ahead, figures are there again with the next rolling up", async () => {
  const { db } = world.database
  await sql`UPDATE stats_rollup SET through = date_trunc('hour', now()) + interval '400 days'`.execute(db)
  await addConversions(db, {
    at: new Date().toISOString(),
    appId: apps[0] ?? 0,
    offerId: offers[0] ?? 0,
    status: 'approved',
    payoutMicros: 7,
  })
  await rollUpStats(db, new Date())
  const all = { ...TODAY, from: 0, length: (DAYS + 2) * DAY_MS } as const
  for (const asked of [
    TODAY,
    all,
    { ...all, groupBy: 'offer' as const },
    { ...all, timezone: 'Asia/Kolkata' as const },
  ])
    assert.deepEqual(await readFigures(db, asked), await readWithoutRollups(db, asked))
})
