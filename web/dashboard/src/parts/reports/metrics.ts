// The figures of reports: their names, what they mean and how they are shown. Each has one definition, wherever it appears.
import type { Schemas } from '../../lib/api-types.ts'
import { formatCents, formatCount, formatPrice, formatRate } from '../../lib/format.ts'

export type Stats = Schemas['Stats']
export type StatsRow = Stats['rows'][number]

export type MetricName =
  | 'clicks'
  | 'conversions'
  | 'approved'
  | 'pending'
  | 'rejected'
  | 'reversed'
  | 'conversion_rate'
  | 'epc'
  | 'payout'
  | 'revenue'
  | 'margin'
  | 'spend'
export type Metric = {
  label: string
  /** In a few words, below the figure. */
  about: string
  /** In whole sentences, on hover. */
  meaning: string
  format: (value: number) => string
  /** Shown in whole cents, exactly on hover. */
  isMoney?: boolean
  /** Differences of a share are percentage points. */
  isShare?: boolean
}

export const METRICS: Readonly<Record<MetricName, Metric>> = {
  clicks: {
    label: 'Clicks',
    about: 'Excluding bots',
    meaning: 'Clicks on offer links. Bots and test traffic are excluded.',
    format: formatCount,
  },
  conversions: {
    label: 'Conversions',
    about: 'Excluding rejected',
    meaning:
      'Pending, approved and reversed conversions, on the day they were created. Rejected ones and test traffic are excluded.',
    format: formatCount,
  },
  approved: {
    label: 'Approved',
    about: 'Approved now',
    meaning: 'Conversions that are approved now, on the day they were created.',
    format: formatCount,
  },
  pending: {
    label: 'Pending',
    about: 'Not decided yet',
    meaning: 'Conversions that are not decided yet, on the day they were created.',
    format: formatCount,
  },
  rejected: {
    label: 'Rejected',
    about: 'Never approved',
    meaning: 'Conversions that were rejected. They are excluded from all other figures.',
    format: formatCount,
  },
  reversed: {
    label: 'Reversals',
    about: 'Approved, then reversed',
    meaning:
      'Conversions that were approved and later reversed (chargebacks), on the day they were created. They stay in conversions, but no longer count in payout, revenue and margin.',
    format: formatCount,
  },
  conversion_rate: {
    label: 'CR',
    about: 'Converted clicks / clicks',
    meaning:
      'Conversion rate: clicks that led to a conversion that was not rejected, divided by clicks. A click counts once, however many goals it completes. Bots, and conversions without a click, are excluded on both sides.',
    format: formatRate,
    isShare: true,
  },
  epc: {
    label: 'EPC',
    about: 'Payout of these clicks / clicks',
    meaning:
      'Earnings per click: payout of the approved conversions that came from these clicks, divided by clicks. Bots, and conversions without a click, are excluded on both sides.',
    format: formatPrice,
    isMoney: true,
  },
  payout: {
    label: 'Payout',
    about: 'Approved conversions',
    meaning: 'What approved conversions earned for publishers, on the day the conversion was created.',
    format: formatCents,
    isMoney: true,
  },
  revenue: {
    label: 'Revenue',
    about: 'From advertisers',
    meaning: 'What advertisers owe for approved conversions, on the day the conversion was created.',
    format: formatCents,
    isMoney: true,
  },
  spend: {
    label: 'Spend',
    about: 'Approved conversions',
    meaning:
      'What you owe for approved conversions, on the day the conversion was created. Reversed conversions no longer count.',
    format: formatCents,
    isMoney: true,
  },
  margin: {
    label: 'Margin',
    about: 'Revenue minus payout',
    meaning: 'Revenue minus payout: what stays with the network.',
    format: formatCents,
    isMoney: true,
  },
}

/** What a publisher chooses from, and what an operator does. */
export const APP_METRICS = ['clicks', 'conversions', 'payout', 'epc', 'conversion_rate'] as const
export const NETWORK_METRICS = ['clicks', 'conversions', 'conversion_rate', 'epc', 'payout', 'revenue', 'margin', 'reversed'] as const // prettier-ignore

/** What an advertiser sees. */
export const ADVERTISER_METRICS = ['spend', 'clicks', 'conversions', 'conversion_rate', 'reversed'] as const

/** Some figures of something; a rate is null without clicks. */
export type Figures<M extends MetricName = MetricName> = Record<M, number | null>

/** A figure that does not exist, such as a rate without clicks, is a dash. */
export const showFigure = (name: MetricName, value: number | null) =>
  value === null ? '–' : METRICS[name].format(value)
