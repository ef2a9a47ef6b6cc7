// Conversions of the whole network: the operator looks for them, looks into them, and decides about them.
import { AppError } from '../../../errors.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { MOVE_REASONS } from '../../../features/conversions/commands.ts'
import {
  type ConversionRow,
  type ConversionNames,
  findConversion,
  readHistory,
  readNames,
  type Reason,
  type Status,
} from '../../../features/conversions/conversions.ts'
import { type ConversionFilter, searchConversions } from '../../../features/conversions/search.ts'
import type { Mark } from '../../../features/conversions/fraud.ts'
import { readEntries } from '../../../features/conversions/history.ts'
import { listPostbacks } from '../../../features/postbacks/postbacks.ts'
import { microsToUsd, toLocal } from '../../../lib/money.ts'
import { parseSpan } from '../../../lib/time.ts'
import { moveConversions } from '../../../features/conversions/moves.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { ConversionParams, ConversionReply, ConversionSearch, ConversionSearchQuery, Moved, Moves } from './schema.ts'

const TAG = 'Conversions of the network'
const SHOWN = 100 // of what belongs to one conversion

export function networkConversionRoutes(routes: ManageRoutes, { db, applyCommand }: ManageContext): void {
  routes.get('/conversions', {
    id: 'searchConversions',
    summary: 'Search conversions of all apps',
    about: 'Filter by status, fraud signal, publisher, advertiser, offer, user and time.',
    tag: TAG,
    access: 'operator',
    query: ConversionSearchQuery,
    reply: ConversionSearch,
    async run({ query }) {
      const { limit = 20, order = 'newest' } = query
      const { rows, next } = await searchConversions(db, filterOf(query), limit, order)
      const names = await readNames(db, rows)
      return { conversions: rows.map((one) => summaryOf(one, names)), next_cursor: next }
    },
  })

  routes.get('/conversions/:conversion_id', {
    id: 'getNetworkConversion',
    summary: 'Get a conversion with everything recorded about it',
    about: 'Click, status history, decisions, ledger entries, postbacks and fraud signals.',
    tag: TAG,
    access: 'operator',
    params: ConversionParams,
    reply: ConversionReply,
    async run({ params }) {
      const conversion = await findConversion(db, params.conversion_id, null)
      if (conversion === null) throw notThere('There is no such conversion.')
      const { conversion_id: conversionId } = conversion
      const [names, history, entries, decisions, postbacks] = await Promise.all([
        readNames(db, [conversion]),
        readHistory(db, conversionId),
        readEntries(db, conversion),
        listAuditEntries(db, { action: 'conversion.', subject: conversionId }, SHOWN),
        listPostbacks(db, { conversionId }, SHOWN),
      ])
      return {
        ...summaryOf(conversion, names),
        ...detailsOf(conversion),
        history: history.map((event) => ({
          ...event,
          status: event.status as Status,
          status_reason: event.status_reason as Reason | null,
        })),
        entries: entries.map(({ amount_micros, ...entry }) => ({ ...entry, amount: exactUsd(amount_micros) })),
        decisions: decisions.map(({ created_at, who, action, details }) => ({
          created_at,
          who,
          action: action.replace('conversion.', ''),
          reason: (details as { reason?: string }).reason ?? null,
        })),
        postbacks: postbacks.map((one) => ({
          postback_id: one.postback_id,
          sequence: one.sequence,
          state: one.state,
          attempts: one.attempts,
          last_status: one.last_status,
          last_error: one.last_error,
          created_at: one.created_at,
          settled_at: one.settled_at,
        })),
      }
    },
  })

  routes.post('/conversions/moves', {
    id: 'moveConversions',
    summary: 'Approve, reject or reverse conversions',
    about: 'Up to 1,000 at once; each is decided on its own. Publishers are notified by postback.',
    tag: TAG,
    access: 'operator',
    body: Moves,
    reply: Moved,
    async run({ body, by }) {
      if (body.to !== 'approved' && (body.reason ?? '').trim() === '')
        throw new AppError('INVALID_REQUEST', 'Enter a reason.', {
          reason: 'reason is required to reject and to reverse.',
        })
      const allowed: readonly Reason[] = MOVE_REASONS[body.to]
      if (body.status_reason !== undefined && !allowed.includes(body.status_reason))
        throw new AppError('INVALID_REQUEST', 'This reason does not apply.', {
          status_reason: `status_reason for ${body.to} must be one of: ${allowed.join(', ')}.`,
        })
      const results = await moveConversions(applyCommand, by, {
        conversionIds: body.conversion_ids,
        to: body.to,
        ...(body.status_reason === undefined ? {} : { reason: body.status_reason }),
        ...(body.reason === undefined ? {} : { note: body.reason }),
      })
      return { results: results.map(({ conversionId, ...result }) => ({ conversion_id: conversionId, ...result })) }
    },
  })
}

function filterOf(query: ConversionSearchQuery): ConversionFilter {
  const filter: ConversionFilter = { isTest: query.mode === 'test', ...parseSpan(query) }
  if (query.status !== undefined) filter.status = query.status
  if (query.reason !== undefined) filter.reason = query.reason
  if (query.signal !== undefined) filter.signal = query.signal
  if (query.publisher_id !== undefined) filter.publisherId = query.publisher_id
  if (query.app_id !== undefined) filter.appId = query.app_id
  if (query.advertiser_id !== undefined) filter.advertiserId = query.advertiser_id
  if (query.offer_id !== undefined) filter.offerId = query.offer_id
  if (query.user_id !== undefined) filter.userId = query.user_id
  if (query.cursor !== undefined) filter[query.order === 'oldest' ? 'after' : 'before'] = query.cursor
  return filter
}

/** A debit and its credit must look alike, so neither is rounded towards one side. */
const exactUsd = (micros: number) => (micros < 0 ? -1 : 1) * microsToUsd(Math.abs(micros))

function summaryOf(one: ConversionRow, allNames: Map<string, ConversionNames>) {
  const names = allNames.get(one.conversion_id)
  if (names === undefined) throw new Error(`Conversion ${one.conversion_id} is of something that is not there.`)
  return {
    conversion_id: one.conversion_id,
    created_at: one.created_at,
    status: one.status,
    status_reason: one.status_reason,
    publisher_id: one.publisher_id,
    app_id: one.app_id,
    advertiser_id: one.advertiser_id,
    offer_id: one.offer_id,
    goal_id: one.goal_id,
    ...names,
    user_id: one.user_id,
    payout: microsToUsd(one.payout_micros),
    revenue: microsToUsd(one.revenue_micros),
    source: one.source as 'publisher' | 'advertiser',
    signals: one.signals as Mark[],
    hold_until: one.hold_until,
    is_test: one.is_test,
  }
}

const detailsOf = (one: ConversionRow) => ({
  payout_local: toLocal(one.payout_micros, one.rate_micros, one.rounding),
  currency: one.currency,
  publisher_transaction_id: one.publisher_transaction_id,
  advertiser_transaction_id: one.advertiser_transaction_id,
  aff_sub: one.aff_sub,
  aff_sub2: one.aff_sub2,
  aff_sub3: one.aff_sub3,
  aff_sub4: one.aff_sub4,
  click_id: one.click_id,
  click_at: one.click_at,
  confirmed_at: one.confirmed_at,
  ip: one.ip,
  country: one.country,
  device: one.device,
})
