// What an operator sees first: the figures of today and of 30 days, as reports have them, balances, and what needs attention.
import type { Static } from 'typebox'
import { readBalances } from '../../../features/ledger/ledger.ts'
import { readReport } from '../../../features/reports/network-report.ts'
import { readOperatorCounts } from '../../../features/reports/operator-counts.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { NetworkOverview } from './schema.ts'

type Day = Static<typeof NetworkOverview>['days'][number]

const TAG = 'Reports'
const DAYS = 30

export function overviewRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/network/overview', {
    id: 'getNetworkOverview',
    summary: 'Get the overview of the network',
    about: 'The figures of today and the last 30 days as in reports, balances, and counts of what needs attention.',
    tag: TAG,
    access: 'operator',
    reply: NetworkOverview,
    async run() {
      // Without a range: the last 30 days.
      const { rows, totals } = await readReport(db, { groupBy: 'day', limit: DAYS }, new Date())
      const days = rows.map(({ key, previous: _previous, ...figures }) => ({ day: key ?? '', ...figures }))
      const [{ day: _yesterday, ...yesterday }, { day: _today, ...today }] = days.slice(-2) as [Day, Day]
      const balances = await readBalances(db, 'network')
      const counts = await readOperatorCounts(db)
      return {
        today,
        yesterday,
        last_30_days: totals,
        days,
        balances: {
          receivable: microsToUsd(balances.receivableMicros),
          unconfirmed: microsToUsd(balances.unconfirmedMicros),
          cash: microsToUsd(balances.cashMicros),
          pending: microsToUsd(balances.pendingMicros),
          payable: microsToUsd(balances.payableMicros),
          margin: microsToUsd(balances.marginMicros),
        },
        attention: {
          pending_conversions: counts.pendingConversions,
          unmatched_calls: counts.unmatchedCalls,
          unprocessed_calls: counts.unprocessedCalls,
          crowded_advertisers: counts.crowdedAdvertisers,
          paused_lanes: counts.pausedLanes,
          troubled_feeds: counts.troubledFeeds,
          held_offers: counts.heldOffers,
        },
      }
    },
  })
}
