import type { Static } from 'typebox'
import { type ReportQuery as Asked, readReport } from '../../../features/reports/network-report.ts'
import { readNames } from '../../../features/reports/report-names.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv } from '../../csv.ts'
import type { ManageRoutes } from '../../route.ts'
import { writeReport } from './csv.ts'
import { overviewRoutes } from './overview.ts'
import { NetworkReport, ReportCsvQuery, ReportQuery } from './schema.ts'

const TAG = 'Reports'
const LIMIT = 100
const MAX_CSV_ROWS = 50_000

export function networkReportRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db } = context

  async function reportOf(query: Asked): Promise<NetworkReport> {
    const { rows, hasMore, ...report } = await readReport(db, query, new Date())
    const ids = rows.map(({ key }) => Number(key)).filter((id) => Number.isSafeInteger(id))
    const names = await readNames(db, query.groupBy, ids)
    return {
      ...report,
      group_by: query.groupBy,
      rows: rows.map((row) => ({ ...(names.get(Number(row.key)) ?? { name: null, owner: null }), ...row })),
      has_more: hasMore,
    }
  }

  routes.get('/network/reports', {
    id: 'getNetworkReport',
    summary: 'Get a report of the network',
    about:
      'Clicks, conversions, payout, revenue and margin by publisher, app, offer, advertiser, country, device, sub-ID or time. Test traffic is excluded. Conversions count for the day they were created, with their current status.',
    tag: TAG,
    access: 'operator',
    query: ReportQuery,
    reply: NetworkReport,
    run: ({ query }) => reportOf(asQuery(query)),
  })

  routes.get('/network/reports.csv', {
    id: 'downloadNetworkReport',
    summary: 'Download a report of the network as CSV',
    about: 'The same figures, at most 50,000 rows.',
    tag: TAG,
    access: 'operator',
    query: ReportCsvQuery,
    reply: CsvFile,
    async run({ query, ...call }) {
      const report = await reportOf(asQuery({ ...query, limit: MAX_CSV_ROWS }))
      await sendCsv(call, `network-by-${report.group_by}-${report.from}.csv`, writeReport(report))
      return ''
    },
  })

  overviewRoutes(routes, context)
}

function asQuery(query: Static<typeof ReportQuery>): Asked {
  const { group_by = 'day', publisher_id, app_id, offer_id, advertiser_id, compare, order, ...rest } = query
  return {
    limit: LIMIT,
    ...rest,
    groupBy: group_by,
    isAscending: order === 'asc',
    ...(compare === undefined ? {} : { compares: compare }),
    ...(publisher_id === undefined ? {} : { publisherId: publisher_id }),
    ...(app_id === undefined ? {} : { appId: app_id }),
    ...(offer_id === undefined ? {} : { offerId: offer_id }),
    ...(advertiser_id === undefined ? {} : { advertiserId: advertiser_id }),
  }
}
