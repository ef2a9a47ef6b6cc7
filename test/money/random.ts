// Random orders, steps and beginnings.
import fc from 'fast-check'
import { AMOUNT_TEXTS, type AmountText, type Caps, HOUR_S, LAST_USER, OFFERS, type Order, type Start, type Status, type Step } from './actions.ts' // prettier-ignore

/** The first one most of the time. */
export const often = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: others.length, arbitrary: fc.constantFrom(usual, ...others) }) // prettier-ignore

type Fields<O> = { [K in keyof O]: fc.Arbitrary<O[K]> }
type OrderOf<K extends Order['kind']> = Extract<Order, { kind: K }>

/** An order of this kind, of which something may be fixed. */
function order<K extends Order['kind']>(kind: K, fields: Omit<Fields<OrderOf<K>>, 'kind'>) {
  type Fixed = Partial<Omit<Fields<OrderOf<K>>, 'kind'>>
  return (fixed: Fixed = {}): fc.Arbitrary<Order> => {
    const all: Record<string, fc.Arbitrary<unknown>> = { kind: fc.constant(kind), ...fields, ...fixed }
    return fc.record(all, { noNullPrototype: true }) as fc.Arbitrary<unknown> as fc.Arbitrary<Order>
  }
}

const person = fc.nat({ max: LAST_USER })
const offer = fc.nat({ max: OFFERS.length - 1 })
const isTest = often(false, false, false, true)
export const txn = fc.constantFrom(null, 't1', 't2', 't3')
const newest = often(0, 1, 2, 3, 9)

const count = often<number | null>(null, 1, 2, 3)
const payout = often<number | null>(null, 1_000_000, 2_500_000)
export const caps: fc.Arbitrary<Caps> = fc.record(
  {
    dailyClicks: count,
    totalClicks: count,
    dailyConversions: count,
    totalConversions: count,
    dailyPayoutMicros: payout,
    totalPayoutMicros: payout,
    dailyRevenueMicros: payout,
    totalRevenueMicros: payout,
  },
  { noNullPrototype: true },
)

export const confirm = order('confirm', {
  click: newest,
  goal: often<number | null>(null, 0, 1, 2),
  txn,
  amount: often<AmountText | null>(null, ...AMOUNT_TEXTS),
  status: often<Status>('approved', 'pending', 'rejected', 'reversed'),
  isAgain: often(false, false, false, true),
  isStranger: often(false, false, false, false, false, true),
  by: fc.constantFrom('id', 'name', 'external id'),
  isClickless: often(false, false, false, true),
})
export const report = order('report', {
  person,
  offer,
  goal: often<number | null>(null, 0, 1, 2),
  txn,
  key: often<string | null>(null, 'k1', 'k2'),
  isTest,
})
export const again = order('again', {
  call: newest,
  status: often<Status | null>(null, 'approved', 'rejected', 'reversed'),
})
export const move = order('move', {
  conversion: newest,
  to: fc.constantFrom('approved', 'rejected', 'reversed'),
  isFraud: fc.boolean(),
})
export const click = order('click', { person, offer, isTest, isLate: often(false, false, false, false, true) })
export const arrive = order('arrive', { isLookedFor: fc.boolean() })
export const round = order('round', {})
export const drop = order('drop', {})
export const ban = order('ban', { person, isBanned: fc.boolean() })
export const erase = order('erase', { person })
export const edit = order('edit', {
  offer,
  goal: fc.nat({ max: 2 }),
  change: fc.constantFrom('rename', 'first', 'add', 'retire', 'repeatable'),
  version: fc.integer({ min: 2, max: 4 }),
})
export const setCaps = order('caps', { offer, caps, overCap: fc.constantFrom('honour', 'reject') })
const release = order('release', { conversion: newest })
export const reprice = order('import', { offer, price: fc.integer({ min: 1, max: 3 }), isShort: fc.boolean(), isWhole: fc.boolean() }) // prettier-ignore
export const share = order('share', {
  app: fc.nat({ max: 1 }),
  sharePpm: fc.constantFrom(1_000_000, 800_000, 333_333),
})
const status = order('status', { offer, status: fc.constantFrom('active', 'paused') })

const weighted = (...all: [number, fc.Arbitrary<Order>][]) =>
  fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })))

const settled = weighted([6, confirm()], [4, report()], [2, again()], [2, move()], [1, release()])
const alone = weighted([1, arrive()], [1, round()], [1, drop()], [1, ban()], [1, erase()], [6, edit()], [2, setCaps()], [2, reprice()], [1, share()], [1, status()]) // prettier-ignore
const track: fc.Arbitrary<Order[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(settled, { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.array(click(), { minLength: 1, maxLength: 2 }) },
  { weight: 2, arbitrary: alone.map((one) => [one]) },
)
const waitS = often(
  1,
  60,
  HOUR_S - 60,
  HOUR_S,
  5 * HOUR_S,
  24 * HOUR_S - 1,
  24 * HOUR_S,
  50 * HOUR_S,
  80 * HOUR_S,
  300 * HOUR_S,
)

/** Mostly no process dies. */
export const diesAt = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 12 }) }) // prettier-ignore

/** Steps of one transaction each, or of up to so many at once. */
export const steps = (maxLanes: number, minLength: number, maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ waitS, tracks: fc.array(track, { minLength: 1, maxLength: maxLanes }), diesAt }), {
    minLength,
    maxLength,
    size: 'max',
  })

export const start = (fixed: Partial<Fields<Start>> = {}): fc.Arbitrary<Start> =>
  fc.record({
    caps: fc.tuple(caps, caps, caps),
    trusts: fc.boolean(),
    hasExternalIds: fc.boolean(),
    tooFastS: often(0, 30),
    onTooFast: fc.constantFrom('reject', 'hold'),
    hour: fc.nat({ max: 23 }),
    onlyOffer: fc.option(offer, { freq: 2 }),
    onlyPerson: fc.option(person, { freq: 2 }),
    ...fixed,
  })
