// Random histories of clicks and conversions, for tests of what is counted of them: late clicks, late changes, bots, test
// traffic, clicks that are dropped, rollups that die on the way.
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Db } from '../src/db/open.ts'
import { recordLateClicks } from '../src/features/clicks/clicks.ts'
import { dropOldClicks } from '../src/features/clicks/retention.ts'
import { rollUpStats } from '../src/features/reports/rollup.ts'
import { uuid7 } from '../src/lib/uuid7.ts'
import { dieAt } from './crash.ts'
import { addClicks, addConversions } from './seed-rows.ts'
import type { World } from './world.ts'

const DAY_MS = 86_400_000

export type Span = { startMs: number; endMs: number }
/** Days that are over, up to now. */
export const spanOf = (days: number, nowMs: number): Span => ({
  startMs: Math.floor((nowMs - days * DAY_MS) / DAY_MS) * DAY_MS,
  endMs: nowMs,
})
export const timeIn = ({ startMs, endMs }: Span, share: number) =>
  startMs + Math.floor((share * (endMs - startMs)) / 1_000) * 1_000 + 7

export const share = fc.integer({ min: 0, max: 999 }).map((part) => part / 1_000)
export const DEVICES = ['desktop', 'mobile']
const thing = {
  share,
  app: fc.nat(2),
  offer: fc.nat(1),
  country: fc.constantFrom(undefined, 'US', 'DE'),
  device: fc.constantFrom(undefined, ...DEVICES),
}
/** Which conversion of its click it is; null: of a bot's. */
const nthOfClick = fc.constantFrom(0, 1, 2, null)
const signals = fc.constantFrom<(string[] | undefined)[]>(undefined, ['listed_ip'], ['listed_ip', 'bot'])
const isTest = fc.integer({ min: 0, max: 4 }).map((one) => one === 0)
/** At which statement a worker dies that does it: where it was, another one goes on later. */
const diesAt = fc.option(fc.integer({ min: 1, max: 10 }))
/** How many clicks it takes at once; undefined: as many as usual. */
const most = fc.constantFrom(undefined, 1, 3)
export const action = fc.oneof(
  fc.record({ kind: fc.constant('click' as const), ...thing, signals, isTest }),
  fc.record({ kind: fc.constant('late click' as const), ...thing }),
  fc.record({
    kind: fc.constant('conversion' as const),
    ...thing,
    status: fc.constantFrom('pending' as const, 'approved' as const, 'rejected' as const, 'reversed' as const),
    payout: fc.integer({ min: 0, max: 3_000_000 }),
    revenue: fc.integer({ min: 0, max: 3_000_000 }),
    nthOfClick,
    isTest,
  }),
  fc.record({
    kind: fc.constant('move' as const),
    which: fc.nat(),
    country: thing.country,
    device: thing.device,
    rate: fc.constantFrom(1_000_000, 33_333_333),
    nthOfClick,
  }),
  fc.record({ kind: fc.constant('roll up' as const), share, diesAt, most }),
  fc.record({ kind: fc.constant('drop clicks' as const), share, diesAt, most }),
)
export type Action = typeof action extends fc.Arbitrary<infer T> ? T : never
export type Setting = { world: World; span: Span; apps: readonly number[]; offers: readonly number[] }

export async function perform({ world, span, apps, offers }: Setting, one: Action): Promise<void> {
  const { db } = world.database
  if (one.kind === 'roll up' || one.kind === 'drop clicks') {
    const doIt = (by: Db) =>
      one.kind === 'roll up'
        ? rollUpStats(by, new Date(timeIn(span, one.share)), one.most)
        : dropOldClicks(by, new Date(timeIn(span, one.share) + 60 * DAY_MS), 60, undefined, one.most)
    return void (await (one.diesAt === null ? doIt(db) : dieAt(world.database, one.diesAt, (dying) => doIt(dying.db))))
  }
  if (one.kind === 'move') return move(db, one)
  const at = timeIn(span, one.share)
  const whose = {
    at: new Date(at).toISOString(),
    appId: apps[one.app % apps.length] ?? 0,
    offerId: offers[one.offer] ?? 0,
    ...(one.country && { country: one.country }),
    ...(one.device && { device: one.device }),
  }
  if (one.kind === 'late click') return addLateClick(db, at, whose)
  const { isTest: isOfTest } = one
  if (one.kind === 'click')
    return addClicks(db, { ...whose, isTest: isOfTest, ...(one.signals && { signals: one.signals }) })
  const worth = {
    payoutMicros: one.payout,
    revenueMicros: one.revenue,
    rateMicros: 33_333_333,
    rounding: roundingOf(one.payout),
  }
  await addConversions(db, { ...whose, isTest: isOfTest, status: one.status, ...worth, nthOfClick: one.nthOfClick })
}

/** One of a few, by a number that is random already. */
const roundingOf = (number: number) => [null, 'nearest0', 'up2'][number % 3] ?? null

type Whose = { at: string; appId: number; offerId: number; country?: string; device?: string }

async function addLateClick(db: Db, atMs: number, { at, appId, offerId, country, device }: Whose): Promise<void> {
  const click = {
    click_id: uuid7(atMs),
    clicked_at: at,
    app_id: appId,
    offer_id: offerId,
    country: country ?? null,
    device: device ?? null,
    is_test: false,
  }
  const rest = { user_id: 'u', terms_id: 1, currency: 'Coins', rate_micros: 1, share_ppm: null, request_id: 'r' }
  const none = { aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null, ip: null, os: null, signals: null }
  return recordLateClicks(db, [{ ...click, ...rest, ...none }], new Date())
}

/** A pending conversion is approved elsewhere, or changes while it stays so; an approved one is reversed. */
async function move(
  db: Db,
  { which, country, device, rate, nthOfClick: nth }: Extract<Action, { kind: 'move' }>,
): Promise<void> {
  const rows = await db.selectFrom('conversions').select(['conversion_id', 'status', 'sequence', 'created_at']).where('status', 'in', ['pending', 'approved']).orderBy('conversion_id').execute() // prettier-ignore
  const found = rows[which % Math.max(rows.length, 1)]
  if (found === undefined) return
  const { sequence, created_at } = found
  const event = { sequence: sequence + 1, event_id: randomUUID() }
  const place = { country: country ?? null, device: device ?? null, nth_of_click: nth, rounding: roundingOf(rate) }
  const change =
    found.status === 'approved'
      ? { status: 'reversed' as const, status_reason: 'operator', reversed_at: created_at, ...event }
      : which % 3 === 0
        ? { ...place, rate_micros: rate, payout_micros: 42, revenue_micros: 77 }
        : { status: 'approved' as const, approved_at: created_at, ...place, rate_micros: rate, ...event }
  await db.updateTable('conversions').set(change).where('conversion_id', '=', found.conversion_id).execute()
}
