// The shapes of the offers API: they validate requests, type the code and document both.
import { type Static, type TOptional, Type } from 'typebox'
import { NOT_BLANK, SAFE_TEXT } from '../../http/validation.ts'
import { pattern } from '../../http/forms.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { CATEGORIES, PLATFORMS, type Sort, SORTS } from './choices.ts'
import { shapesOf, SHOWN_FIELDS } from './fields.ts'

const subId = (place: string) =>
  Type.Optional(
    Type.String({
      maxLength: 45,
      format: SAFE_TEXT,
      description: `Your ${place} tracking value, returned in postbacks.`,
    }),
  )

export const SubIds = {
  aff_sub: subId('first'),
  aff_sub2: subId('second'),
  aff_sub3: subId('third'),
  aff_sub4: subId('fourth'),
}

export const UserId = Type.String({
  minLength: 1,
  maxLength: 256,
  format: SAFE_TEXT,
  pattern: NOT_BLANK,
  description: 'Your own ID for the user, unique within the app.',
})

/** For walls and lockers. */
export const Lang = Type.Optional(
  Type.String({
    pattern: pattern('LANGUAGE'),
    description: 'Language such as de or pt-BR, by default that of the browser. Offers use it where translated.',
  }),
)

export const OfferListQuery = Type.Object({
  userId: UserId,
  country: Type.Optional(
    Type.String({
      format: 'country',
      description: 'Only offers for this country: a 2-letter ISO 3166-1 code, in any case.',
    }),
  ),
  platform: Type.Optional(oneOf(PLATFORMS, { description: 'Only offers for this platform.' })),
  category: Type.Optional(oneOf(CATEGORIES, { description: 'Only offers of this category.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many to return.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many offers to skip.' })),
  sort: Type.Optional(
    oneOf(SORTS, {
      default: 'popular',
      description: 'Order of the offers. Equal payouts are ordered by offer_id, equal popularity newest first.',
    }),
  ),
  ...SubIds,
})
/** As validated: what has a default is there. */
export type OfferListQuery = Static<typeof OfferListQuery> & { limit: number; offset: number; sort: Sort }

export const OfferQuery = Type.Object({ userId: UserId, ...SubIds })
export type OfferQuery = Static<typeof OfferQuery>

export const VisibilityQuery = Type.Object({
  userId: UserId,
  country: OfferListQuery.properties.country,
  platform: OfferListQuery.properties.platform,
})
export type VisibilityQuery = Static<typeof VisibilityQuery>

export const OfferParams = Type.Object({ offer_id: Type.String({ description: 'ID of the offer.' }) })

const usd = Type.Number({ description: 'Payout in US dollars, at most four decimals.' })
const local = Type.Number({ description: "Payout in the app's currency." })
const time = Type.String({ format: 'date-time' })

export const Goal = shape('Goal', {
  goal_id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  payout: usd,
  payout_local: local,
  is_optional: Type.Boolean(),
  payout_percent: Type.Optional(
    Type.Number({
      description: 'Percentage of the amount that the advertiser confirms. `payout` applies if no amount is sent.',
    }),
  ),
})

type Seen = typeof SHOWN_FIELDS
const seen = Object.entries(shapesOf(SHOWN_FIELDS)).map(([field, schema]) => [
  field,
  SHOWN_FIELDS[field as keyof Seen].shown === 'always' ? schema : Type.Optional(schema),
])
const { name, description, category, ...SEEN } = Object.fromEntries(seen) as {
  [N in keyof Seen]: Seen[N]['shown'] extends 'always' ? Seen[N]['shape'] : TOptional<Seen[N]['shape']>
}

export const Offer = shape('Offer', {
  offer_id: Type.Integer(),
  name,
  description,
  payout: Type.Number({ description: 'Sum over the goals, in US dollars.' }),
  payout_local: local,
  currency: Type.String({ description: "The app's currency." }),
  category,
  link: Type.String({ description: 'Send the user here. Valid for 7 days, for this user only.' }),
  ...SEEN,
  goals: Type.Array(Goal),
  created_at: time,
  updated_at: time,
})
export type Offer = Static<typeof Offer>

const sale = Type.Optional(
  Type.Object(
    {
      multiplier: Type.Number({ description: 'Factor on every reward, already included in `payout_local`.' }),
      ends_at: time,
    },
    { description: 'Current currency sale, if any. Clicks before its end keep it.' },
  ),
)

export const OfferList = shape('OfferList', {
  offers: Type.Array(Offer),
  total: Type.Integer({ description: 'Number of matching offers on all pages.' }),
  limit: Type.Integer(),
  offset: Type.Integer(),
  has_more: Type.Boolean(),
  sale,
})

const WHY_CODES = ['paused', 'not_started', 'ended', 'full', 'country', 'platform', 'content', 'reward', 'not_allowed', 'behind', 'completed', 'banned'] as const // prettier-ignore

export const VisibilityReply = shape('OfferVisibility', {
  offer_id: Type.Integer(),
  visible: Type.Boolean({ description: 'Whether the user sees the offer in a list with these filters.' }),
  reasons: Type.Array(
    Type.Object({
      code: oneOf(WHY_CODES),
      message: Type.String(),
    }),
    { description: 'All reasons why the offer is hidden; empty if it is visible.' },
  ),
})

export const OfferReply = shape('OfferReply', { offer: Offer, sale })
