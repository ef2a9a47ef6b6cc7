// What the balances of the ledger are called, and what they mean: the same for one party as for all together.
import { Explained } from '../reports/explained.tsx'

export const BALANCES = {
  receivable: {
    label: 'Receivable',
    about: 'Owed by advertisers',
    meaning: 'What advertisers owe for conversions that they confirmed, minus what they paid. Negative: paid ahead.',
  },
  unconfirmed: {
    label: 'Unconfirmed',
    about: 'Not confirmed by the advertiser',
    meaning: 'What advertisers would owe for conversions that publishers reported and no advertiser has confirmed.',
  },
  cash: {
    label: 'Cash',
    about: 'Received minus paid',
    meaning: 'Payments received from advertisers minus payments to publishers.',
  },
  pending: {
    label: 'Pending',
    about: 'For publishers, once approved',
    meaning: 'Payout of pending conversions. It becomes payable when they are approved.',
  },
  payable: {
    label: 'Payable',
    about: 'Owed to publishers',
    meaning: 'Payout of approved conversions and adjustments, minus reversals and what was paid.',
  },
  margin: {
    label: 'Margin',
    about: 'Network, all time',
    meaning: 'Revenue minus payout of all conversions so far. Unlike in reports, pending ones are included.',
  },
} as const
export type BalanceName = keyof typeof BALANCES

export const BalanceLabel = ({ of }: { of: BalanceName }) => (
  <Explained meaning={BALANCES[of].meaning}>{BALANCES[of].label}</Explained>
)
