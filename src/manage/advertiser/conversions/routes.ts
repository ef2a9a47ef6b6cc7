// An advertiser's conversions, to compare with its own books.
import type { Advertiser } from '../../../features/accounts/advertisers.ts'
import { type ConversionNames, type ConversionRow, readNames } from '../../../features/conversions/conversions.ts'
import { type ConversionFilter, searchConversions } from '../../../features/conversions/search.ts'
import { csvLine } from '../../../lib/csv-line.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { parseSpan, rfc3339 } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv, MAX_EXPORT } from '../../csv.ts'
import { AdvertiserParams } from '../../shapes.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { OwnConversion, OwnConversionList, OwnConversionQuery, OwnExportQuery } from './schema.ts'

const TAG = 'Advertiser account'
const PAGE = 1_000
const COLUMNS = Object.keys(OwnConversion.properties) as (keyof OwnConversion)[]

export function advertiserConversionRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/advertisers/:advertiser_id/conversions', {
    id: 'listConversionsOfAdvertiser',
    summary: 'List the conversions of an advertiser',
    about: 'Newest first, with your transaction IDs. Filter by offer, status, transaction ID and time.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnConversionQuery,
    reply: OwnConversionList,
    async run({ params: { advertiser_id }, query: { limit = 20, cursor, ...query } }) {
      const advertiser = await findAdvertiserOf(db, advertiser_id)
      const filter = filterOf(advertiser_id, query)
      if (cursor !== undefined) filter.before = cursor
      const { rows, next } = await searchConversions(db, filter, limit)
      const names = await readNames(db, rows)
      return { conversions: rows.map((one) => present(one, names, advertiser)), next_cursor: next }
    },
  })

  routes.get('/advertisers/:advertiser_id/conversions.csv', {
    id: 'exportConversionsOfAdvertiser',
    summary: 'Download the conversions of an advertiser as CSV',
    about: 'The newest 10,000 that match the filters.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnExportQuery,
    reply: CsvFile,
    async run({ params: { advertiser_id }, query, ...call }) {
      const advertiser = await findAdvertiserOf(db, advertiser_id)
      await sendCsv(call, 'conversions.csv', write(advertiser, filterOf(advertiser_id, query)))
      return ''
    },
  })

  /** Piece by piece, so that it never is in memory as a whole. */
  async function* write(advertiser: Advertiser, filter: ConversionFilter): AsyncGenerator<string> {
    let wanted = { ...filter }
    for (let left = MAX_EXPORT, head = csvLine(COLUMNS); left > 0; head = '') {
      const { rows, next } = await searchConversions(db, wanted, Math.min(PAGE, left))
      const names = await readNames(db, rows)
      const lines = rows.map((one) => {
        const shown = present(one, names, advertiser)
        return csvLine(COLUMNS.map((name) => plain(shown[name])))
      })
      yield head + lines.join('')
      if (next === null) return
      left -= rows.length
      wanted = { ...filter, before: next }
    }
  }
}

const plain = (value: OwnConversion[keyof OwnConversion]) => (value instanceof Date ? rfc3339(value) : value)

function filterOf(advertiserId: number, query: OwnExportQuery): ConversionFilter {
  const filter: ConversionFilter = { advertiserId, isTest: query.mode === 'test', ...parseSpan(query) }
  if (query.offer_id !== undefined) filter.offerId = query.offer_id
  if (query.status !== undefined) filter.status = query.status
  if (query.transaction_id !== undefined) filter.advertiserTransactionId = query.transaction_id
  return filter
}

function present(
  one: ConversionRow,
  names: Map<string, ConversionNames>,
  { sees_publishers: sees }: Advertiser,
): OwnConversion {
  const named = names.get(one.conversion_id)
  return {
    conversion_id: one.conversion_id,
    created_at: one.created_at,
    transaction_id: one.advertiser_transaction_id,
    click_id: one.click_id,
    offer_id: one.offer_id,
    offer: named?.offer ?? '',
    goal_id: one.goal_id,
    goal: named?.goal ?? '',
    status: one.status,
    status_reason: one.status_reason,
    spend: microsToUsd(one.revenue_micros),
    country: one.country,
    device: one.device,
    confirmed_at: one.confirmed_at,
    is_test: one.is_test,
    publisher_id: sees === 'nothing' ? null : one.publisher_id,
    publisher: sees === 'name' ? (named?.publisher ?? null) : null,
  }
}
