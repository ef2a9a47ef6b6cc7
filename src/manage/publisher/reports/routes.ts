import type { Static } from 'typebox'
import type { StatsQuery } from '../../../features/reports/schema.ts'
import { readRange, readStats } from '../../../features/reports/stats.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv } from '../../csv.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { writeStats } from './csv.ts'
import { AppStats, AppStatsCsvQuery, AppStatsQuery } from './schema.ts'

const TAG = 'Reports'
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
}

/** Names as the feature has them, which are those of v1. What has a default is there. */
function asStatsQuery({ group_by, offer_id, ...query }: Static<typeof AppStatsQuery>): StatsQuery {
  return {
    ...query,
    groupBy: group_by ?? 'day',
    ...(offer_id === undefined ? {} : { offerId: offer_id }),
  } as StatsQuery
}
