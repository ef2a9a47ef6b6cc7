// Histories that went wrong once.
import type { Caps, Order, Start, Step } from './actions.ts'
import type { History } from './plots.ts'

const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null, dailyRevenueMicros: null, totalRevenueMicros: null } // prettier-ignore
const BEGIN: Start = {
  caps: [NO_CAPS, NO_CAPS, NO_CAPS],
  trusts: false,
  hasExternalIds: true,
  tooFastS: 0,
  onTooFast: 'reject',
  hour: 0,
  onlyOffer: 0,
  onlyPerson: 0,
}

const after = (waitS: number, order: Order): Step => ({ waitS, tracks: [[order]] })
const click: Extract<Order, { kind: 'click' }> = { kind: 'click', person: 0, offer: 0, isTest: false }
const confirmed = (more: Partial<Extract<Order, { kind: 'confirm' }>>): Order => ({
  kind: 'confirm',
  click: 0,
  goal: null,
  txn: null,
  amount: null,
  status: 'approved',
  isAgain: false,
  isStranger: false,
  by: 'id',
  isClickless: false,
  ...more,
})

export const REGRESSIONS: Record<string, History> = {
  'a refused repeat of a retired goal does not make it known to reports': {
    begin: { ...BEGIN, hasExternalIds: false, onlyOffer: 2, onlyPerson: null },
    steps: [
      after(1, click),
      after(1, { kind: 'import', offer: 0, price: 1, isShort: false, isWhole: false }),
      after(266_400, confirmed({ goal: 1, txn: 't2' })),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: null, key: null, isTest: false }),
    ],
  },
  'a refused repeat does not say which goal a denial means': {
    begin: { ...BEGIN, caps: [NO_CAPS, NO_CAPS, { ...NO_CAPS, dailyConversions: 1 }], onlyOffer: 2, onlyPerson: null },
    steps: [
      after(1, { kind: 'report', person: 1, offer: 0, goal: 1, txn: 't2', key: null, isTest: false }),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: 't3', key: null, isTest: false }),
      after(1, { kind: 'edit', offer: 0, goal: 1, change: 'first', version: 2 }),
      after(86_400, click),
      after(1, confirmed({ goal: 2, status: 'rejected' })),
    ],
  },
  'what a report of a retired goal is answered with does not depend on what else is heard': {
    begin: {
      ...BEGIN,
      caps: [{ ...NO_CAPS, totalClicks: 1 }, NO_CAPS, NO_CAPS],
      hasExternalIds: false,
      onlyOffer: null,
    },
    steps: [
      after(1, click),
      after(18_000, { kind: 'report', person: 0, offer: 0, goal: null, txn: 't2', key: null, isTest: false }),
      after(1, { kind: 'edit', offer: 0, goal: 0, change: 'repeatable', version: 2 }),
      after(1, { kind: 'report', person: 0, offer: 0, goal: null, txn: 't1', key: null, isTest: false }),
      after(1, { kind: 'edit', offer: 0, goal: 0, change: 'add', version: 2 }),
      after(1, { kind: 'import', offer: 0, price: 1, isShort: false, isWhole: false }),
      {
        waitS: 1,
        tracks: [
          [
            { kind: 'report', person: 0, offer: 0, goal: null, txn: 't2', key: null, isTest: false },
            { kind: 'report', person: 0, offer: 0, goal: null, txn: 't1', key: null, isTest: false },
          ],
        ],
      },
    ],
  },
  'whether a goal repeats does not depend on what else is heard': {
    begin: BEGIN,
    steps: [
      after(1, click),
      after(1, { kind: 'edit', offer: 0, goal: 0, change: 'add', version: 2 }),
      after(1, { kind: 'edit', offer: 0, goal: 0, change: 'repeatable', version: 3 }),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: 't1', key: null, isTest: false }),
      after(1, confirmed({ goal: 1, txn: 't1' })),
      after(1, { kind: 'edit', offer: 0, goal: 0, change: 'repeatable', version: 4 }),
      { waitS: 1, tracks: [[confirmed({ goal: 1, txn: 't1' }), confirmed({ goal: 1 })]] },
    ],
  },
  'an amount that is raised on a later day passes the cap of its own day': {
    begin: BEGIN,
    steps: [
      after(1, { kind: 'caps', offer: 0, caps: { ...NO_CAPS, dailyPayoutMicros: 1_000_000 }, overCap: 'reject' }),
      after(1, click),
      after(1, confirmed({ status: 'pending', amount: '0.9999', txn: 't1' })),
      after(86_400, confirmed({ amount: '12.3456', txn: 't1' })),
    ],
  },
  'what amounts posted that were sent between the first and the last is not shown': {
    begin: BEGIN,
    steps: [
      after(1, click),
      after(60, confirmed({ status: 'pending', amount: '0.9999', txn: 't1' })),
      after(600, confirmed({ status: 'pending', amount: '12.3456', txn: 't1' })),
      after(600, confirmed({ status: 'pending', amount: '20', txn: 't1' })),
      after(600, confirmed({ txn: 't1' })),
    ],
  },
  'a rejection that is repeated takes another report of a goal that repeats': {
    begin: { ...BEGIN, onlyOffer: 2 },
    steps: [
      after(1, click),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: 't2', key: null, isTest: false }),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: 't3', key: null, isTest: false }),
      after(1, confirmed({ goal: 1, txn: 't1', status: 'rejected' })),
    ],
  },
  'a reversal that is repeated reverses what was done again': {
    begin: BEGIN,
    steps: [
      after(1, click),
      after(1, confirmed({})),
      after(1, confirmed({ status: 'reversed' })),
      after(1, click),
      after(1, confirmed({})),
    ],
  },
  'a transaction that its advertiser denied is approved again, and its click has another one of a goal that repeats': {
    begin: { ...BEGIN, onlyOffer: 2 },
    steps: [
      after(1, click),
      after(1, confirmed({ goal: 1, txn: 't3' })),
      after(1, confirmed({ goal: 1, txn: 't2' })),
      after(1, confirmed({ goal: 1, txn: 't3', status: 'rejected' })),
    ],
  },
  'a call in time that waited for its click is expired when that comes': {
    begin: BEGIN,
    steps: [
      after(1, { ...click, isLate: true }),
      after(60, confirmed({ txn: 't1' })),
      after(7_200, { kind: 'arrive', isLookedFor: true }),
    ],
  },
  'a call overtakes another one that waits for the same click': {
    begin: BEGIN,
    steps: [
      after(1, { ...click, isLate: true }),
      after(60, confirmed({ status: 'pending', amount: '12.3456', txn: 't1' })),
      after(60, { kind: 'arrive', isLookedFor: false }),
      after(60, confirmed({ txn: 't1' })),
    ],
  },
}
