import type { Static } from 'typebox'
import { readBalances } from '../../features/ledger/ledger.ts'
import { type NetworkDay, readNetworkDays } from '../../features/ledger/periods.ts'
import { readOperatorCounts } from '../../features/reports/operator-counts.ts'
import { listDays } from '../../features/reports/days.ts'
import type { StatsQuery } from '../../features/reports/schema.ts'
import { readRange, readStats } from '../../features/reports/stats.ts'
import { microsToUsd } from '../../lib/money.ts'
import type { ManageContext } from '../context.ts'
import { CsvFile, sendCsv } from '../csv.ts'
import type { ManageRoutes } from '../route.ts'
import { AppParams } from '../shapes.ts'
import { writeStats } from './csv.ts'
import { AppStats, AppStatsCsvQuery, AppStatsQuery, NetworkOverview } from './schema.ts'

const TAG = 'Reports'
const DAY_MS = 86_400_000
const OVERVIEW_DAYS = 30
const MAX_CSV_ROWS = 50_000

export function reportsRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  const statsOf = async (appId: number, query: StatsQuery) =>
    readStats(db, { appId, isTest: false }, query, readRange(query, new Date()))

  routes.get('/apps/:app_id/stats', {
    id: 'getAppStats',
    summary: 'Get statistics of an app',
    about: 'Clicks, conversions and payout by day, offer, country or sub-ID. Test traffic is excluded.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: AppStatsQuery,
    reply: AppStats,
    run: ({ app, query }) => statsOf(app.appId, asStatsQuery(query)),
  })

  routes.get('/apps/:app_id/stats.csv', {
    id: 'downloadAppStats',
    summary: 'Download statistics as CSV',
    about: 'At most the 50,000 rows with the highest payout.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: AppStatsCsvQuery,
    reply: CsvFile,
    async run({ app, query, ...call }) {
      const stats = await statsOf(app.appId, asStatsQuery({ ...query, limit: MAX_CSV_ROWS }))
      const name = `app-${app.appId}-by-${stats.group_by}-${stats.from.slice(0, 10)}.csv`
      await sendCsv(call, name, writeStats(stats))
      return ''
    },
  })

  routes.get('/network/overview', {
    id: 'getNetworkOverview',
    summary: 'Get the overview of the network',
    about: 'Revenue, payout and margin of today and the last 30 days, and counts of what needs attention.',
    tag: TAG,
    access: 'operator',
    reply: NetworkOverview,
    async run() {
      const now = new Date()
      const days = await readDays(now)
      const balances = await readBalances(db, 'network')
      const counts = await readOperatorCounts(db)
      return {
        today: presentSums(days.slice(-1)),
        last_30_days: presentSums(days),
        days: days.map((one) => ({ day: one.day, ...presentSums([one]) })),
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
        },
      }
    },
  })

  /** Also the days without anything. */
  async function readDays(now: Date): Promise<NetworkDay[]> {
    const days = listDays('UTC', now.getTime() - (OVERVIEW_DAYS - 1) * DAY_MS, now.getTime() + 1)
    const [first = '', last = ''] = [days[0]?.day, days.at(-1)?.day]
    const byDay = new Map((await readNetworkDays(db, first, last)).map((one) => [one.day, one]))
    return days.map(({ day }) => byDay.get(day) ?? { day, payoutMicros: 0, marginMicros: 0 })
  }
}

/** Names as the feature has them, which are those of v1. What has a default is there. */
function asStatsQuery({ group_by, offer_id, ...query }: Static<typeof AppStatsQuery>): StatsQuery {
  return {
    ...query,
    groupBy: group_by ?? 'day',
    ...(offer_id === undefined ? {} : { offerId: offer_id }),
  } as StatsQuery
}

function presentSums(days: readonly NetworkDay[]) {
  const payoutMicros = days.reduce((sum, day) => sum + day.payoutMicros, 0)
  const marginMicros = days.reduce((sum, day) => sum + day.marginMicros, 0)
  return {
    revenue: microsToUsd(payoutMicros + marginMicros),
    payout: microsToUsd(payoutMicros),
    margin: microsToUsd(marginMicros),
  }
}
