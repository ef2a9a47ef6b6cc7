// An advertiser's own figures.
import { AppError } from '../../../errors.ts'
import { readReport, type ReportFigures } from '../../../features/reports/network-report.ts'
import { readNames } from '../../../features/reports/report-names.ts'
import { csvLine } from '../../../lib/csv-line.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv } from '../../csv.ts'
import { AdvertiserParams } from '../../shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { OwnFigures, OwnReport, OwnReportQuery } from './schema.ts'

const TAG = 'Advertiser account'
const LIMIT = 200
const MAX_CSV_ROWS = 50_000
const FIGURES = Object.keys(OwnFigures.properties) as (keyof OwnReport['totals'])[]

export function advertiserReportRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/advertisers/:advertiser_id/report', {
    id: 'getAdvertiserReport',
    summary: 'Get the figures of an advertiser',
    about:
      'Clicks, conversions and spend by day, week, month, offer, country or device. Test traffic is excluded. Conversions count for the day they were created, with their current status.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnReportQuery,
    reply: OwnReport,
    run: ({ params, query }) => reportOf(params.advertiser_id, query, LIMIT),
  })

  routes.get('/advertisers/:advertiser_id/report.csv', {
    id: 'downloadAdvertiserReport',
    summary: 'Download the figures of an advertiser as CSV',
    about: 'The same figures, at most 50,000 rows: by default spend by day.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnReportQuery,
    reply: CsvFile,
    async run({ params: { advertiser_id }, query, ...call }) {
      const report = await reportOf(advertiser_id, query, MAX_CSV_ROWS)
      await sendCsv(call, `spend-by-${report.group_by}-${report.from}.csv`, writeReport(report))
      return ''
    },
  })

  async function reportOf(advertiserId: number, query: OwnReportQuery, limit: number): Promise<OwnReport> {
    const { group_by: groupBy = 'day', offer_id, from, to } = query
    const { sees_publishers: sees } = await findAdvertiserOf(db, advertiserId)
    if (groupBy === 'publisher' && sees === 'nothing')
      throw new AppError('INVALID_REQUEST', 'The operator does not show publishers.', {
        group_by: 'Choose another grouping.',
      })
    const wanted = {
      advertiserId,
      groupBy,
      limit,
      sort: 'revenue' as const,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(offer_id === undefined ? {} : { offerId: offer_id }),
    }
    const { rows, hasMore, totals, ...period } = await readReport(db, wanted, new Date())
    const isNamed = groupBy === 'offer' || (groupBy === 'publisher' && sees === 'name')
    const ids = rows.map(({ key }) => Number(key)).filter((id) => Number.isSafeInteger(id))
    const names = isNamed ? await readNames(db, groupBy, ids) : new Map<number, { name: string | null }>()
    return {
      from: period.from,
      to: period.to,
      group_by: groupBy,
      rows: rows.map(({ key, ...figures }) => ({
        key,
        name: names.get(Number(key))?.name ?? null,
        ...presentOwn(figures),
      })),
      has_more: hasMore,
      totals: presentOwn(totals),
    }
  }
}

const presentOwn = (figures: Omit<ReportFigures, never>): OwnReport['totals'] => ({
  clicks: figures.clicks,
  conversions: figures.conversions,
  pending: figures.pending,
  approved: figures.approved,
  rejected: figures.rejected,
  reversed: figures.reversed,
  conversion_rate: figures.conversion_rate,
  spend: figures.revenue,
})

/** An incomplete file says so at its end. */
function* writeReport({ group_by, rows, has_more }: OwnReport): Generator<string> {
  const isNamed = group_by === 'offer' || group_by === 'publisher'
  yield csvLine([...(isNamed ? [`${group_by}_id`, group_by] : [group_by]), ...FIGURES])
  for (const row of rows) yield csvLine([row.key, ...(isNamed ? [row.name] : []), ...FIGURES.map((name) => row[name])])
  if (has_more) yield csvLine([`Only the first ${rows.length} rows: there are more.`])
}
