// The shapes of the wall's own API. It is for browsers: the public key names the app, and nothing here needs its secret.
import { type Static, Type } from 'typebox'
import { pattern } from '../../http/forms.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { WALL_SORTS, type WallSort } from '../offers/choices.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../http/paging.ts'
import { SAFE_TEXT } from '../../http/validation.ts'
import { Goal, Lang, Offer, OfferList, OfferListQuery, OfferReply, UserId } from '../offers/schema.ts'
import { REASONS, STATUSES } from '../conversions/conversions.ts'
import { THEMES } from './settings-schema.ts'

/** Who looks. `exp` and `sig` come together. */
const ViewerFields = {
  apiKey: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Public API key of the app: pk_live_… or pk_test_….',
  }),
  userId: UserId,
  exp: Type.Optional(
    Type.String({
      pattern: pattern('UNIX_SECONDS'),
      description: 'When `sig` expires, in Unix seconds: at most a day from now.',
    }),
  ),
  sig: Type.Optional(
    Type.String({
      pattern: pattern('SHA256'),
      description:
        'Hex HMAC-SHA256, by the signing secret of the app, of `wall.v1`, the API key, `exp` and `userId`, each on a line.',
    }),
  ),
}

const { userId: _userId, sort: _sort, ...listed } = OfferListQuery.properties

export const WallListQuery = Type.Object({
  ...ViewerFields,
  ...listed,
  sort: Type.Optional(
    oneOf(WALL_SORTS, {
      default: 'recommended',
      description: 'Order of the offers. `recommended`: by expected earnings per click, with a few new offers.',
    }),
  ),
  ranking: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        '`ranking` of the first page of a recommended list, to continue the same list. Valid for some hours.',
    }),
  ),
  lang: Lang,
  search: Type.Optional(
    Type.String({
      maxLength: 100,
      format: SAFE_TEXT,
      description: 'Only offers with all of these words in name or description.',
    }),
  ),
})
export type WallListQuery = Static<typeof WallListQuery> & { limit: number; offset: number; sort: WallSort }

const { search: _search, ranking: _ranking, limit: _limit, offset: _offset, ...paged } = WallListQuery.properties
export const WallPageQuery = Type.Object({
  ...paged,
  theme: Type.Optional(oneOf(THEMES, { description: 'Overrides the theme of the wall settings.' })),
  embed: Type.Optional(
    oneOf(['0', '1', 'webview'], { description: '`1` in an iframe, `webview` where links cannot open a tab.' }),
  ),
})
export type WallPageQuery = Static<typeof WallPageQuery> & { sort: WallSort }

export const ActivityQuery = Type.Object({ ...ViewerFields, ...UUID_PAGE_QUERY, lang: Lang })
export type ActivityQuery = Static<typeof ActivityQuery> & { limit: number }
export const OpenedQuery = Type.Object(ViewerFields)
export type OpenedQuery = Static<typeof OpenedQuery>
export const Counted = shape('WallOpened', {
  counted: Type.Boolean({ description: 'False in test mode, and for bots.' }),
})
export const LiveQuery = Type.Object(ViewerFields)
export type LiveQuery = Static<typeof LiveQuery>

const { aff_sub, aff_sub2, aff_sub3, aff_sub4 } = OfferListQuery.properties
export const WallOfferQuery = Type.Object({ ...ViewerFields, aff_sub, aff_sub2, aff_sub3, aff_sub4, lang: Lang })
export type WallOfferQuery = Static<typeof WallOfferQuery>

const reward = Type.Number({ description: "Reward of the user in the app's currency." })
const reward_varies = Type.Optional(
  Type.Literal(true, {
    description: 'The reward is a percentage of what the user spends; `reward` applies if the amount is unknown.',
  }),
)

const { payout: _payout, payout_local: _local, payout_percent: _percent, ...goal } = Goal.properties
export const WallGoal = shape('WallGoal', { ...goal, reward, reward_varies })

const { payout: _of, payout_local: _offer, goals: _goals, ...offer } = Offer.properties
export const WallOffer = shape('WallOffer', { ...offer, reward, goals: Type.Array(WallGoal) })

export const WallOfferList = shape('WallOfferList', {
  ...OfferList.properties,
  offers: Type.Array(WallOffer),
  ranking: Type.Optional(
    Type.Integer({ description: 'Identifies a recommended list. Send it when you request further pages.' }),
  ),
  is_banned: Type.Optional(Type.Boolean({ description: 'True if the user is banned and sees no offers.' })),
})
export const WallOfferReply = shape('WallOfferReply', { ...OfferReply.properties, offer: WallOffer })

const time = Type.String({ format: 'date-time' })
const picture = Type.Union([Type.String(), Type.Null()])

export const StartedOffer = shape('WallStartedOffer', {
  offer_id: Type.Integer(),
  offer_name: Type.String(),
  image_url: picture,
  started_at: time,
  currency: Type.String(),
  goals: Type.Array(
    Type.Object({
      goal_id: Type.Integer(),
      name: Type.String(),
      is_optional: Type.Boolean(),
      reward,
      status: Type.Union([oneOf(STATUSES), Type.Null()], { description: 'Null until the goal is reached.' }),
    }),
    { description: 'Goals with the rewards promised when the user started.' },
  ),
})

export const EarnedItem = shape('WallEarnedItem', {
  conversion_id: Type.String(),
  offer_id: Type.Integer(),
  offer_name: Type.String(),
  image_url: picture,
  goal_id: Type.Integer(),
  goal_name: Type.String(),
  reward,
  currency: Type.String(),
  status: oneOf(STATUSES),
  status_reason: Type.Union([oneOf(REASONS), Type.Null()]),
  created_at: time,
  changed_at: time,
  hold_until: Type.Union([time, Type.Null()]),
})

export const Activity = shape('WallActivity', {
  started: Type.Array(StartedOffer, { description: 'Offers in progress. Empty on later pages.' }),
  items: Type.Array(EarnedItem, { description: 'Newest first.' }),
  next_cursor: NextCursor,
  balance: Type.Union([Type.Number(), Type.Null()], { description: 'Null when the app keeps no balances.' }),
})

/** What the script reads of the visitor (web/wall/boot.ts). Only what it may know: no secret, no payout. */
export type PageViewer = {
  apiKey: string
  userId: string
  query: Record<string, string>
  token: string
  isSigned: boolean
  isTest: boolean
  /** For the answers to tickets: where the network sends mail. */
  asksEmail: boolean
  country: string | null
  /** Comes first for a user who has completed nothing. */
  welcomeOfferId: number | null
}
