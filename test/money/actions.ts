// What can happen to money: who clicks, reports, confirms, decides and changes offers, and to which offers.
import type { Caps } from '../../src/features/offers/caps.ts'

export type { Caps }
export const DAY_MS = 86_400_000
export const HOUR_S = 3_600

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
const USERS = [
  { app: 0, user: 'ann' },
  { app: 0, user: 'bob' },
  { app: 1, user: 'ann' },
]
export const LAST_USER = USERS.length - 1
/** Behind the users, what each becomes when erased. */
export const PEOPLE = [...USERS, ...USERS.map(({ app, user }) => ({ app, user: `${user}, erased` }))]
export const erasedOf = (person: number) => person + USERS.length
export const AMOUNT_TEXTS = ['0', '0.9999', '1.23456', '12.3456', '20', '400000', '1,234', '-5', '(20.00)'] as const
export type AmountText = (typeof AMOUNT_TEXTS)[number]
/** Amounts as advertisers write them, and what they mean. Null: ambiguous. */
export const AMOUNTS: Record<AmountText, { micros: number | null; isNegative?: true }> = {
  '0': { micros: 0 },
  '0.9999': { micros: 999_900 },
  '1.23456': { micros: 1_234_560 },
  '12.3456': { micros: 12_345_600 },
  '20': { micros: 20_000_000 },
  '400000': { micros: 400_000_000_000 },
  '1,234': { micros: null },
  '-5': { micros: 5_000_000, isNegative: true },
  '(20.00)': { micros: 20_000_000, isNegative: true },
}
/** Whose word is taken for what, where a run has trust at all. */
export const TRUSTED = { app: 1, offer: 0 }
/** The app whose server gets postbacks of everything. */
export const TOLD_APP = 0

const goal = (key: string, payoutMicros: number, more: Partial<Goal> = {}): Goal => ({
  key, name: key, payoutMicros, revenueMicros: payoutMicros * 2, payoutPpm: null, revenuePpm: null, isRepeatable: false, ...more,
}) // prettier-ignore

const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null, dailyRevenueMicros: null, totalRevenueMicros: null } // prettier-ignore
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
  /** A late one leads its user on, but is stored only when the clicks arrive: until then its calls wait for it. */
  | { kind: 'click'; person: number; offer: number; isTest: boolean; isLate?: boolean }
  /** Where the worker does not look, what waits is applied before the next call about the same click. */
  | { kind: 'arrive'; isLookedFor: boolean }
  | {
      kind: 'confirm'
      click: number
      goal: number | null
      txn: string | null
      amount: AmountText | null
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
  /** An earlier report or confirmation again, word for word; or a confirmation with another status. */
  | { kind: 'again'; call: number; status: Status | null }
  | { kind: 'move'; conversion: number; to: 'approved' | 'rejected' | 'reversed'; isFraud: boolean }
  | { kind: 'release'; conversion: number }
  | { kind: 'round' }
  | { kind: 'drop' }
  | { kind: 'ban'; person: number; isBanned: boolean }
  /** Once each, with what is live. */
  | { kind: 'erase'; person: number }
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
  /** What an app's publisher gets of what offers pay, for clicks from now on. */
  | { kind: 'share'; app: number; sharePpm: number }

type Settled = 'confirm' | 'report' | 'move' | 'release'

/** An order of which everything is known. Clicks and conversions have the label of the action that created them. */
export type Action =
  | {
      kind: 'click'
      label: number
      person: number
      offer: number
      isTest: boolean
      isLate?: boolean
      terms: OfferTerms
      termsId: number
      sharePpm: number
      clickId: string
    }
  | { kind: 'arrive'; label: number; isLookedFor: boolean }
  | (Omit<Extract<Order, { kind: 'confirm' }>, 'click' | 'goal'> & {
      label: number
      click: number | null
      /** Its key, and what the advertiser calls it. */
      goal: string | null
      called: string | null
      /** Whose goal it names. */
      ofOffer: number
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
  | { kind: 'erase'; label: number; person: number }
  | { kind: 'caps'; label: number; offer: number; caps: Caps; overCap: OfferTerms['overCap']; isCounting?: boolean }
  | { kind: 'counted'; label: number; offer: number }
  | { kind: 'import'; label: number; offer: number; terms: OfferTerms }
  | { kind: 'status'; label: number; offer: number; status: 'active' | 'paused' }
  | { kind: 'share'; label: number; app: number; sharePpm: number }

export type SettledAction = Extract<Action, { kind: Settled }>
export type Call = Extract<Action, { kind: 'confirm' | 'report' }>

export type Answer =
  | { kind: string }
  | { kind: 'round'; released: number[]; expired: number[] }
  | { kind: string; label: number; status: Status; reason: string | null; payoutMicros: number }

/**
 * Time passes, then all tracks run at once. A track is one call: a batch of commands, some clicks, or one other order.
 * Where a process dies at one of its statements, no caller has got a response, and another process does it all again.
 */
export type Step = { waitS: number; tracks: Order[][]; diesAt?: number | null }

/** Some runs are about one offer or one person only, so that more happens to it. */
export type Start = {
  caps: Caps[]
  trusts: boolean
  hasExternalIds: boolean
  /** What comes sooner after its click looks like fraud. */
  tooFastS: number
  onTooFast: 'reject' | 'hold'
  hour: number
  onlyOffer: number | null
  onlyPerson: number | null
}
