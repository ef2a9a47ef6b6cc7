// Histories that went wrong once.
import type { Caps, Order, Start, Step } from './actions.ts'
import type { History } from './plots.ts'

const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null } // prettier-ignore
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
const told = (more: Partial<Extract<Order, { kind: 'confirm' }>>): Order => ({
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
      after(266_400, told({ goal: 1, txn: 't2' })),
      after(1, { kind: 'report', person: 0, offer: 0, goal: 1, txn: null, key: null, isTest: false }),
    ],
  },
  'an amount that is raised on a later day passes the cap of its own day': {
    begin: BEGIN,
    steps: [
      after(1, { kind: 'caps', offer: 0, caps: { ...NO_CAPS, dailyPayoutMicros: 1_000_000 }, overCap: 'reject' }),
      after(1, click),
      after(1, told({ status: 'pending', amount: '0.9999', txn: 't1' })),
      after(86_400, told({ amount: '12.3456', txn: 't1' })),
    ],
  },
  'what amounts posted that were told between the first and the last is not shown': {
    begin: BEGIN,
    steps: [
      after(1, click),
      after(60, told({ status: 'pending', amount: '0.9999', txn: 't1' })),
      after(600, told({ status: 'pending', amount: '12.3456', txn: 't1' })),
      after(600, told({ status: 'pending', amount: '20', txn: 't1' })),
      after(600, told({ txn: 't1' })),
    ],
  },
  'a call in time that waited for its click is expired when that comes': {
    begin: BEGIN,
    steps: [
      after(1, { ...click, isLate: true }),
      after(60, told({ txn: 't1' })),
      after(7_200, { kind: 'arrive', isLookedFor: true }),
    ],
  },
  'a call overtakes another one that waits for the same click': {
    begin: BEGIN,
    steps: [
      after(1, { ...click, isLate: true }),
      after(60, told({ status: 'pending', amount: '12.3456', txn: 't1' })),
      after(60, { kind: 'arrive', isLookedFor: false }),
      after(60, told({ txn: 't1' })),
    ],
  },
}
