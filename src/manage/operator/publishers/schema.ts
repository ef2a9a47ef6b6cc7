// The shapes of publishers as the operator sees them, and of what is decided about their apps.
import { Type } from 'typebox'
import { PUBLISHER_STATUSES } from '../../../features/apps/permissions.ts'
import { STATUSES as OFFER_STATUSES } from '../../../features/offers/choices.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const MAX_RATE_LIMIT = 1_000_000

const Usd = (description: string) => Type.Number({ description: `${description}, in US dollars.` })

const PUBLISHER = {
  publisher_id: id,
  name: Type.String(),
  status: Type.Unsafe<string>({ type: 'string', enum: PUBLISHER_STATUSES }),
  email: orNull(Type.String({ description: 'Email address for notices.' })),
  created_at: Time,
}
const MONEY = {
  pending: Usd('Earnings that are not approved yet'),
  payable: Usd('Amount owed, negative if reversals exceed earnings'),
}

export const PublisherListQuery = Type.Object({
  search: Type.Optional(text(200, 'Part of a name or email address, or an ID.')),
  status: Type.Optional(oneOf(PUBLISHER_STATUSES)),
  ...ID_PAGE_QUERY,
})
export const PublisherList = shape('PublisherList', {
  publishers: Type.Array(
    Type.Object({ ...PUBLISHER, ...MONEY, apps: Type.Integer(), last_conversion_at: orNull(Time) }),
    { description: 'Newest first.' },
  ),
  next_cursor: NextCursor,
})

export const NewPublisher = shape('NewPublisher', { name: text(200), email: Type.Optional(orNull(text(254))) })
export const MadePublisher = shape('CreatedPublisher', PUBLISHER)
export const ChangedPublisher = shape('ChangedPublisher', {
  email: orNull(text(254, 'Email address for notices; null to list them without mailing.')),
})

export const PublisherReply = shape('PublisherReply', {
  ...PUBLISHER,
  ...MONEY,
  paid: Usd('Amount paid so far'),
  last_conversion_at: orNull(Time),
  apps: Type.Array(
    Type.Object({
      app_id: id,
      name: Type.String(),
      currency: Type.String(),
      rate: Type.Number({ description: "Units of the app's currency for one US dollar." }),
      rate_limit: Type.Integer({ description: 'Requests per minute for each API key.' }),
      trusted_offers: Type.Integer({ description: 'Number of offers that the app is trusted for.' }),
      last_used_at: orNull(Time),
      revoked_at: orNull(Time),
      created_at: Time,
    }),
  ),
})

export const NewRateLimit = shape('NewRateLimit', {
  rate_limit: Type.Integer({
    minimum: 1,
    maximum: MAX_RATE_LIMIT,
    description: `Requests per minute for each API key, at most ${MAX_RATE_LIMIT}.`,
  }),
})

export const TrustQuery = Type.Object({
  search: Type.Optional(text(200, "Part of an offer's name, or its ID.")),
  trusted: Type.Optional(oneOf(['yes', 'no'])),
  ...ID_PAGE_QUERY,
})
export const TrustList = shape('TrustList', {
  offers: Type.Array(
    Type.Object({
      offer_id: id,
      name: Type.String(),
      status: Type.Unsafe<string>({ type: 'string', enum: OFFER_STATUSES }),
      trusted_since: orNull(Time),
    }),
    { description: 'Newest first. Reports for offers with `trusted_since` are approved at once.' },
  ),
  next_cursor: NextCursor,
})
export const TrustChange = shape('TrustChange', {
  trusted: Type.Boolean(),
  offer_ids: Type.Optional(
    Type.Array(id, { minItems: 1, maxItems: 1000, description: 'Offers to change. Defaults to all existing offers.' }),
  ),
})
export const TrustChanged = shape('TrustChanged', {
  changed: Type.Integer(),
})
