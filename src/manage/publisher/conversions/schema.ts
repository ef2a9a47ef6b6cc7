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
  sub_id: Type.Optional(text(45, 'Only conversions with this value in any of aff_sub to aff_sub4.')),
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
      request_id: orNull(
        Type.String({ description: 'Of the list that the link came from. Null when it is too long ago.' }),
      ),
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
      payout: Type.Number({ description: 'US dollars: what it was worth then.' }),
      request_id: orNull(
        Type.String({ description: 'The request that caused it. Null: the time did, or the command line.' }),
      ),
    }),
    { description: 'First to last.' },
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
    { description: 'First to last, with every try that is still kept.' },
  ),
  ledger: Type.Array(
    Type.Object({
      created_at: Time,
      balance: oneOf(BALANCES),
      amount: Type.Number({ description: 'US dollars: what was added to this balance.' }),
    }),
    { description: 'First to last. Tests move no money.' },
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
      { description: 'For operators only.' },
    ),
  ),
})
