// What happens to money, as random steps: who clicks, reports, confirms, decides and changes offers, and when.
import fc from 'fast-check'
import type { Caps } from '../../src/features/offers/caps.ts'

export type { Caps }
export const DAY_MS = 86_400_000
const HOUR_S = 3_600

export type Status = 'pending' | 'approved' | 'rejected' | 'reversed'

export type Goal = {
  /** What it stays, whatever it is called; with external ids, that. */
  key: string
  name: string
  payoutMicros: number
  revenueMicros: number
  payoutPpm: number | null
  revenuePpm: number | null
  isRepeatable: boolean
}

export type OfferTerms = {
  goals: Goal[]
  status: 'active' | 'paused'
  attributionS: number
  holdS: number
  overCap: 'honour' | 'reject'
  confirmWithinS: number
  redo: boolean
  caps: Caps
}

/** Two users of one app, and a user of another who has the same name as one of them. */
export const PEOPLE = [
  { app: 0, user: 'ann' },
  { app: 0, user: 'bob' },
  { app: 1, user: 'ann' },
]
/** Whose word is taken for what, where a run has trust at all. */
export const TRUSTED = { app: 1, offer: 0 }

const goal = (key: string, payoutMicros: number, more: Partial<Goal> = {}): Goal => ({
  key, name: key, payoutMicros, revenueMicros: payoutMicros * 2, payoutPpm: null, revenuePpm: null, isRepeatable: false, ...more,
}) // prettier-ignore

const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null } // prettier-ignore
const PLAIN = {
  status: 'active',
  holdS: 0,
  overCap: 'honour',
  confirmWithinS: 72 * HOUR_S,
  redo: true,
  caps: NO_CAPS,
} as const
/** What an offer may get beside its goals. */
export const EXTRA: Goal = { ...goal('Extra', 300_000), payoutPpm: null }

/** A share of what is paid; what is refused beyond its caps; what is held, with a step that repeats. */
export const OFFERS: OfferTerms[] = [
  { ...PLAIN, attributionS: HOUR_S, goals: [goal('Order', 1_000_000, { payoutPpm: 333_333, revenuePpm: 500_000 })] },
  { ...PLAIN, attributionS: 48 * HOUR_S, overCap: 'reject', redo: false, goals: [goal('Install', 700_000)] },
  {
    ...PLAIN,
    attributionS: 72 * HOUR_S,
    holdS: 24 * HOUR_S,
    goals: [
      goal('Start', 500_000),
      goal('Buy', 2_000_000, { isRepeatable: true, payoutPpm: 100_000, revenuePpm: 200_000 }),
    ],
  },
]

/** Picks are counts into what there is by then; they become labels when the step is taken. */
export type Order =
  | { kind: 'click'; person: number; offer: number; isTest: boolean }
  | {
      kind: 'confirm'
      click: number
      goal: number | null
      txn: string | null
      amountMicros: number | null
      status: Status
      isAgain: boolean
      isStranger: boolean
      by: 'id' | 'name' | 'external id'
      /** Names its transaction only. */
      isClickless: boolean
    }
  | {
      kind: 'report'
      person: number
      offer: number
      goal: number | null
      txn: string | null
      key: string | null
      isTest: boolean
    }
  | { kind: 'move'; conversion: number; to: 'approved' | 'rejected' | 'reversed'; isFraud: boolean }
  | { kind: 'release'; conversion: number }
  | { kind: 'round' }
  | { kind: 'drop' }
  | { kind: 'ban'; person: number; isBanned: boolean }
  | {
      kind: 'edit'
      offer: number
      goal: number
      change: 'rename' | 'first' | 'add' | 'retire' | 'repeatable'
      version: number
    }
  | { kind: 'caps'; offer: number; caps: Caps; overCap: OfferTerms['overCap'] }
  | { kind: 'import'; offer: number; price: number; isShort: boolean; isWhole: boolean }
  | { kind: 'status'; offer: number; status: 'active' | 'paused' }

type Settled = 'confirm' | 'report' | 'move' | 'release'

/** An order of which everything is known. Clicks and conversions have the label of the deed that made them. */
export type Deed =
  | {
      kind: 'click'
      label: number
      person: number
      offer: number
      isTest: boolean
      terms: OfferTerms
      termsId: number
      clickId: string
    }
  | (Omit<Extract<Order, { kind: 'confirm' }>, 'click' | 'goal'> & {
      label: number
      click: number | null
      /** Its key, and what the advertiser calls it. */
      goal: string | null
      called: string | null
    })
  | (Omit<Extract<Order, { kind: 'report' }>, 'goal'> & { label: number; goal: string | null })
  | {
      kind: 'move'
      label: number
      conversion: number | null
      to: 'approved' | 'rejected' | 'reversed'
      isFraud: boolean
    }
  | { kind: 'release'; label: number; conversion: number | null }
  | { kind: 'round'; label: number }
  | { kind: 'drop'; label: number }
  | { kind: 'ban'; label: number; person: number; isBanned: boolean }
  | { kind: 'caps'; label: number; offer: number; caps: Caps; overCap: OfferTerms['overCap'] }
  | { kind: 'import'; label: number; offer: number; terms: OfferTerms }
  | { kind: 'status'; label: number; offer: number; status: 'active' | 'paused' }

export type SettledDeed = Extract<Deed, { kind: Settled }>

export type Answer =
  | { kind: string }
  | { kind: 'round'; released: number[]; expired: number[] }
  | { kind: string; label: number; status: Status; reason: string | null; payoutMicros: number }

/** Time passes, then all lanes run at once. A lane is one call: what is settled together, some clicks, or one other order. */
export type Step = { waitS: number; lanes: Order[][] }

/** Some runs are about one offer or one person only, so that more happens to it. */
export type Start = {
  caps: Caps[]
  trusts: boolean
  hasExternalIds: boolean
  /** What comes sooner after its click is refused as fraud. */
  tooFastS: number
  hour: number
  onlyOffer: number | null
  onlyPerson: number | null
}

const often = <T>(usual: T, ...others: T[]) => fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: others.length, arbitrary: fc.constantFrom(usual, ...others) }) // prettier-ignore

const person = fc.nat({ max: PEOPLE.length - 1 })
const offer = fc.nat({ max: OFFERS.length - 1 })
const isTest = often(false, false, false, true)
const txn = fc.constantFrom(null, 't1', 't2', 't3')
const count = often<number | null>(null, 1, 2, 3)
const payout = often<number | null>(null, 1_000_000, 2_500_000)
const caps: fc.Arbitrary<Caps> = fc.record({
  dailyClicks: count,
  totalClicks: count,
  dailyConversions: count,
  totalConversions: count,
  dailyPayoutMicros: payout,
  totalPayoutMicros: payout,
}, { noNullPrototype: true }) // prettier-ignore
const overCap = fc.constantFrom('honour' as const, 'reject' as const)

const confirm = fc.record({
  kind: fc.constant('confirm' as const),
  click: fc.nat({ max: 9 }),
  goal: often<number | null>(null, 0, 1, 2),
  txn,
  amountMicros: often<number | null>(null, 0, 999_900, 12_345_600, 400_000_000_000),
  status: often<Status>('approved', 'pending', 'rejected', 'reversed'),
  isAgain: often(false, false, false, true),
  isStranger: often(false, false, false, false, false, true),
  by: fc.constantFrom('id' as const, 'name' as const, 'external id' as const),
  isClickless: often(false, false, false, true),
})
const report = fc.record({
  kind: fc.constant('report' as const),
  person,
  offer,
  goal: often<number | null>(null, 0, 1, 2),
  txn,
  key: often<string | null>(null, 'k1', 'k2'),
  isTest,
})
const move = fc.record({
  kind: fc.constant('move' as const),
  conversion: fc.nat({ max: 9 }),
  to: fc.constantFrom('approved' as const, 'rejected' as const, 'reversed' as const),
  isFraud: fc.boolean(),
})
const release = fc.record({ kind: fc.constant('release' as const), conversion: fc.nat({ max: 9 }) })
const click = fc.record({ kind: fc.constant('click' as const), person, offer, isTest })

const settled: fc.Arbitrary<Order> = fc.oneof(
  { weight: 6, arbitrary: confirm },
  { weight: 4, arbitrary: report },
  { weight: 2, arbitrary: move },
  { weight: 1, arbitrary: release },
)
const alone: fc.Arbitrary<Order> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ kind: 'round' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'drop' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ban' as const), person, isBanned: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      offer,
      goal: fc.nat({ max: 2 }),
      change: fc.constantFrom(
        'rename' as const,
        'first' as const,
        'add' as const,
        'retire' as const,
        'repeatable' as const,
      ),
      version: fc.integer({ min: 2, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('caps' as const), offer, caps, overCap }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      offer,
      price: fc.integer({ min: 1, max: 3 }),
      isShort: fc.boolean(),
      isWhole: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      offer,
      status: fc.constantFrom('active' as const, 'paused' as const),
    }),
  },
)
const lane: fc.Arbitrary<Order[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(settled, { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.array(click, { minLength: 1, maxLength: 2 }) },
  { weight: 2, arbitrary: alone.map((order) => [order]) },
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

/** Steps of one transaction each, or of up to so many at once. */
export const steps = (maxLanes: number, maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ waitS, lanes: fc.array(lane, { minLength: 1, maxLength: maxLanes }) }), {
    minLength: 1,
    maxLength,
    size: 'max',
  })

export const start: fc.Arbitrary<Start> = fc.record({
  caps: fc.tuple(caps, caps, caps),
  trusts: fc.boolean(),
  hasExternalIds: fc.boolean(),
  tooFastS: often(0, 30),
  hour: fc.nat({ max: 23 }),
  onlyOffer: fc.option(offer, { freq: 2 }),
  onlyPerson: fc.option(person, { freq: 2 }),
})
