// The shapes of what a publisher sees of conversions.
import { type Static, Type } from 'typebox'
import { REASONS, STATUSES } from '../../../features/conversions/conversions.ts'
import { Conversion, ConversionListQuery } from '../../../features/conversions/schema.ts'
import { UserId } from '../../../features/offers/schema.ts'
import { Postback } from '../../../features/postbacks/schema.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, MODES, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const BALANCES = ['pending', 'payable'] as const
export const ACTORS = ['publisher', 'advertiser', 'operator', 'system'] as const

const { status, from, to } = ConversionListQuery.properties
const FILTERS = {
  user_id: Type.Optional(UserId),
  offer_id: Type.Optional(id),
  status,
  sub_id: Type.Optional(text(45, 'Filter by a value in any of aff_sub to aff_sub4.')),
  from,
  to,
  mode: Type.Optional(oneOf(MODES)),
}

export const AppConversionQuery = Type.Object({ ...FILTERS, ...UUID_PAGE_QUERY })
export const ExportQuery = Type.Object(FILTERS)
export type ExportQuery = Static<typeof ExportQuery>

const Shown = Type.Intersect([Conversion, Type.Object({ offer_name: Type.String() })], { title: 'AppConversion' })
export const AppConversionList = shape('AppConversionList', {
  conversions: Type.Array(Shown),
  next_cursor: NextCursor,
})

export const ConversionOfAppParams = Type.Object({ app_id: id, conversion_id: Type.String() })

const subId = orNull(Type.String())
const SUB_IDS = { aff_sub: subId, aff_sub2: subId, aff_sub3: subId, aff_sub4: subId }

export const ConversionHistory = shape('ConversionHistory', {
  conversion: Type.Intersect([Shown, Type.Object({ goal_name: Type.String() })]),
  click: orNull(
    Type.Object({
      click_id: Type.String(),
      clicked_at: Time,
      request_id: orNull(Type.String({ description: 'Request that listed the link; null if it is too long ago.' })),
      country: orNull(Type.String()),
      device: orNull(Type.String()),
      os: orNull(Type.String()),
      ...SUB_IDS,
    }),
  ),
  events: Type.Array(
    Type.Object({
      event_id: Type.String(),
      sequence: Type.Integer(),
      created_at: Time,
      status: oneOf(STATUSES),
      status_reason: orNull(oneOf(REASONS)),
      actor: oneOf(ACTORS),
      payout: Type.Number({ description: 'Payout at that time, in US dollars.' }),
      request_id: orNull(
        Type.String({ description: 'Request that caused it; null if it was automatic or came from the command line.' }),
      ),
    }),
    { description: 'Oldest first.' },
  ),
  postbacks: Type.Array(
    Type.Intersect([
      Postback,
      Type.Object({
        tries: Type.Array(
          Type.Object({
            attempt: Type.Integer(),
            started_at: Time,
            duration_ms: Type.Integer(),
            ok: Type.Boolean(),
            status: orNull(Type.Integer()),
            error: orNull(Type.String()),
          }),
        ),
      }),
    ]),
    { description: 'Oldest first, with every attempt that is still stored.' },
  ),
  ledger: Type.Array(
    Type.Object({
      created_at: Time,
      balance: oneOf(BALANCES),
      amount: Type.Number({ description: 'Amount added to the balance, in US dollars.' }),
    }),
    { description: 'Oldest first. Test conversions have no entries.' },
  ),
  operator: orNull(
    Type.Object(
      {
        signals: Type.Array(Type.String()),
        click_signals: Type.Array(Type.String()),
        ip: orNull(Type.String()),
        revenue: Type.Number(),
        advertiser_transaction_id: orNull(Type.String()),
      },
      { description: 'Only for operators.' },
    ),
  ),
})
