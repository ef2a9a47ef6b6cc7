// The conversions of an app, and all that is known of one.
import { isOperatorRole } from '../../../features/accounts/people.ts'
import { findConversion, presentConversion, readNames } from '../../../features/conversions/conversions.ts'
import { type ConversionFilter, searchConversions } from '../../../features/conversions/search.ts'
import { parseSpan } from '../../../lib/time.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv, MAX_EXPORT } from '../../csv.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { writeConversions } from './csv.ts'
import {
  AppConversionList,
  AppConversionQuery,
  ConversionHistory,
  ConversionOfAppParams,
  ExportQuery,
} from './schema.ts'
import { presentForOperator, readClick, readEvents, readLedger, readPostbacks } from './history.ts'

const TAG = 'Conversions of an app'

export function appConversionRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/apps/:app_id/conversions', {
    id: 'listConversionsOfApp',
    summary: 'List the conversions of an app',
    about: 'Newest first. Filter by user, offer, status, sub-ID and time.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: AppConversionQuery,
    reply: AppConversionList,
    async run({ app: { appId }, query }) {
      const { limit = 20, cursor } = query
      const filter = filterOf(appId, query)
      if (cursor !== undefined) filter.before = cursor
      const { rows, next } = await searchConversions(db, filter, limit)
      const names = await readNames(db, rows)
      return {
        conversions: rows.map((one) => ({
          ...presentConversion(one),
          offer_name: names.get(one.conversion_id)?.offer ?? '',
        })),
        next_cursor: next,
      }
    },
  })

  routes.get('/apps/:app_id/conversions.csv', {
    id: 'exportConversionsOfApp',
    summary: 'Download conversions as CSV',
    about: 'The newest 10,000 that match the filters.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    query: ExportQuery,
    reply: CsvFile,
    async run({ app: { appId }, query, ...call }) {
      await sendCsv(call, `conversions-of-app-${appId}.csv`, writeConversions(db, filterOf(appId, query), MAX_EXPORT))
      return ''
    },
  })

  routes.get('/apps/:app_id/conversions/:conversion_id', {
    id: 'getConversionOfApp',
    summary: 'Get a conversion with its timeline',
    about: 'From the click to the postbacks: events, delivery attempts and ledger entries.',
    tag: TAG,
    access: 'publisher',
    params: ConversionOfAppParams,
    reply: ConversionHistory,
    async run({ app: { appId }, params: { conversion_id }, caller }) {
      const conversion = await findConversion(db, conversion_id, { appId })
      if (conversion === null) throw notThere('This app has no such conversion.')
      const names = (await readNames(db, [conversion])).get(conversion.conversion_id)
      const { click, clickSignals } = await readClick(db, conversion)
      return {
        conversion: { ...presentConversion(conversion), offer_name: names?.offer ?? '', goal_name: names?.goal ?? '' },
        click,
        events: await readEvents(db, conversion),
        postbacks: await readPostbacks(db, conversion),
        ledger: await readLedger(db, conversion),
        operator: isOperatorRole(caller.role) ? presentForOperator(conversion, clickSignals) : null,
      }
    },
  })
}

function filterOf(appId: number, query: ExportQuery): ConversionFilter {
  const filter: ConversionFilter = { appId, isTest: query.mode === 'test', ...parseSpan(query) }
  if (query.user_id !== undefined) filter.userId = query.user_id
  if (query.offer_id !== undefined) filter.offerId = query.offer_id
  if (query.status !== undefined) filter.status = query.status
  if (query.sub_id !== undefined) filter.subId = query.sub_id
  return filter
}
