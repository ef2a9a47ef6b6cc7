// Rolled up or not, figures are the same: random histories, with late clicks and late changes, summed from rollups and
// from every single row.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { dieAt } from '../../../test/crash.ts'
import { addClicks, addConversions } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { ensurePartitions } from '../../db/partitions.ts'
import type { Db } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { recordLateClicks } from '../clicks/clicks.ts'
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
  apps = [(await world.makeApp()).appId, (await world.makeApp()).appId]
  offers = await world.makeOffers({}, {})
})

/** Four days that are over, up to two hours ago. */
const NOW_MS = Date.now()
const startMs = Math.floor((NOW_MS - DAYS * DAY_MS) / DAY_MS) * DAY_MS
const timeOf = (share: number) => startMs + Math.floor((share * (NOW_MS - startMs)) / 1_000) * 1_000 + 7
const at = (share: number) => new Date(timeOf(share)).toISOString()

const share = fc.integer({ min: 0, max: 999 }).map((part) => part / 1_000)
const thing = { share, app: fc.nat(1), offer: fc.nat(1), country: fc.constantFrom(undefined, 'US', 'DE') }
/** At which statement a worker dies that does it: where it was, another one goes on later. */
const diesAt = fc.option(fc.integer({ min: 1, max: 10 }))
const action = fc.oneof(
  fc.record({ kind: fc.constant('click' as const), ...thing, isBot: fc.boolean() }),
  fc.record({ kind: fc.constant('late click' as const), ...thing }),
  fc.record({
    kind: fc.constant('conversion' as const),
    ...thing,
    status: fc.constantFrom('pending' as const, 'approved' as const, 'rejected' as const, 'reversed' as const),
    payout: fc.integer({ min: 0, max: 3_000_000 }),
  }),
  fc.record({ kind: fc.constant('move' as const), which: fc.nat(), country: thing.country, rate: fc.constantFrom(1_000_000, 33_333_333) }), // prettier-ignore
  fc.record({ kind: fc.constant('roll up' as const), share, diesAt }),
  fc.record({ kind: fc.constant('drop clicks' as const), share, diesAt }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

async function perform(db: Db, one: Action): Promise<void> {
  if (one.kind === 'roll up' || one.kind === 'drop clicks') {
    const doIt = (by: Db) =>
      one.kind === 'roll up'
        ? rollUpStats(by, new Date(timeOf(one.share)))
        : dropOldClicks(by, new Date(timeOf(one.share) + 60 * DAY_MS), 60)
    return void (await (one.diesAt === null ? doIt(db) : dieAt(world.database, one.diesAt, (dying) => doIt(dying.db))))
  }
  if (one.kind === 'move') return move(db, one)
  const { country } = one
  const whose = {
    at: at(one.share),
    appId: apps[one.app] ?? 0,
    offerId: offers[one.offer] ?? 0,
    ...(country && { country }),
  }
  if (one.kind === 'click') return addClicks(db, { ...whose, ...(one.isBot && { signals: ['bot'] }) })
  if (one.kind === 'late click') {
    const { appId: app_id, offerId: offer_id, at: clicked_at } = whose
    const click = {
      click_id: uuid7(timeOf(one.share)),
      clicked_at,
      app_id,
      offer_id,
      country: country ?? null,
      is_test: false,
    }
    const rest = { user_id: 'u', terms_id: 1, currency: 'Coins', rate_micros: 1, share_ppm: null, request_id: 'r' }
    const none = {
      aff_sub: null,
      aff_sub2: null,
      aff_sub3: null,
      aff_sub4: null,
      ip: null,
      device: null,
      os: null,
      signals: null,
    }
    return recordLateClicks(db, [{ ...click, ...rest, ...none }], new Date())
  }
  await addConversions(db, { ...whose, status: one.status, payoutMicros: one.payout, rateMicros: 33_333_333 })
}

/** A pending conversion is approved elsewhere, or changes while it stays so; an approved one is reversed. */
async function move(db: Db, { which, country, rate }: Extract<Action, { kind: 'move' }>): Promise<void> {
  const rows = await db.selectFrom('conversions').select(['conversion_id', 'status', 'sequence', 'created_at']).where('status', 'in', ['pending', 'approved']).orderBy('conversion_id').execute() // prettier-ignore
  const found = rows[which % Math.max(rows.length, 1)]
  if (found === undefined) return
  const { sequence, created_at } = found
  const event = { sequence: sequence + 1, event_id: randomUUID() }
  const change =
    found.status === 'approved'
      ? { status: 'reversed' as const, status_reason: 'operator', reversed_at: created_at, ...event }
      : which % 3 === 0
        ? { country: country ?? null, rate_micros: rate, payout_micros: 42 }
        : {
            status: 'approved' as const,
            approved_at: created_at,
            country: country ?? null,
            rate_micros: rate,
            ...event,
          }
  await db.updateTable('conversions').set(change).where('conversion_id', '=', found.conversion_id).execute()
}

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

async function tell(db: Db, asked: Question) {
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
async function tellWithoutRollups(db: Db, asked: Question) {
  let told: unknown
  const rollback = new Error('rollback')
  const telling = db.transaction().execute(async (trx) => {
    await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(trx)
    told = await tell(trx, asked)
    throw rollback
  })
  await telling.catch((error: unknown) => assert.equal(error, rollback))
  return told
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
        for (const one of actions) await perform(db, one)
        for (const asked of questions) assert.deepEqual(await tell(db, asked), await tellWithoutRollups(db, asked))
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
  await sql`TRUNCATE stats_quarters, stats_days, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  await Promise.all([1, 2, 3].map(() => rollUpStats(db, new Date())))
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'day', offer: null, country: undefined } as const // prettier-ignore
  assert.deepEqual(await tell(db, asked), await tellWithoutRollups(db, asked))
})

test('figures stay the same while they are rolled up', async () => {
  const { db } = world.database
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'offer', offer: null, country: undefined } as const // prettier-ignore
  const right = await tellWithoutRollups(db, asked)
  await sql`TRUNCATE stats_quarters, stats_days, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  const rolling = { isDone: false }
  const rollingUp = (async () => {
    for (let ms = startMs; ms <= NOW_MS; ms += HOUR_MS + 7 * MINUTE_MS) await rollUpStats(db, new Date(ms))
    rolling.isDone = true
  })()
  while (!rolling.isDone) assert.deepEqual(await tell(db, asked), right)
  await rollingUp
})

test('clicks of a day that is half rolled up are not dropped before the rest is', async () => {
  const { db } = world.database
  await sql`TRUNCATE stats_quarters, stats_days, stats_deltas`.execute(db)
  await sql`UPDATE stats_rollup SET through = '2000-01-01Z'`.execute(db)
  const [appId = 0, offerId = 0] = [apps[0], offers[0]]
  const dayMs = startMs + DAY_MS
  const times = [dayMs + 61 * MINUTE_MS, dayMs + 74 * MINUTE_MS, NOW_MS]
  await addClicks(db, ...times.map((ms) => ({ at: new Date(ms).toISOString(), appId, offerId })))
  const asked = { from: 0, length: DAYS * DAY_MS, isAligned: true, timezone: 'UTC', groupBy: 'day', offer: null, country: undefined } as const // prettier-ignore
  const before = await tell(db, asked)
  await rollUpStats(db, new Date(dayMs + 70 * MINUTE_MS))
  const keepDays = 60
  const drop = () => dropOldClicks(db, new Date(dayMs + (keepDays + 1) * DAY_MS), keepDays)
  await drop()
  assert.deepEqual(await tell(db, asked), before)
  await rollUpStats(db, new Date())
  assert.deepEqual(await tell(db, asked), before)
  assert.ok((await drop()).length > 0)
  assert.deepEqual(await tell(db, asked), before)
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
  assert.deepEqual(await tell(db, TODAY), await tellWithoutRollups(db, TODAY))
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
    assert.deepEqual(await tell(db, asked), await tellWithoutRollups(db, asked))
})
