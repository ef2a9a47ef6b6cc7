// The shapes of the wall's own API. It is for browsers: the public key names the app, and nothing here needs its secret.
import { type Static, Type } from 'typebox'
import { shape } from '../../http/shape.ts'
import type { Sort } from '../offers/choices.ts'
import { Goal, Offer, OfferList, OfferListQuery, UserId } from '../offers/schema.ts'

/** Who looks. `exp` and `sig` come together. */
const ViewerFields = {
  apiKey: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The public API key of the app: pk_live_… or pk_test_….',
  }),
  userId: UserId,
  exp: Type.Optional(
    Type.String({
      pattern: '^\\d{1,12}$',
      description: 'Unix seconds until which `sig` is valid, at most a day from now.',
    }),
  ),
  sig: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description:
        'HMAC-SHA256 in hex, by the signing secret of the app, of `wall.v1`, the API key, `exp` and `userId`, each on a line.',
    }),
  ),
}

const { userId: _userId, ...listed } = OfferListQuery.properties

export const WallListQuery = Type.Object({ ...ViewerFields, ...listed })
export type WallListQuery = Static<typeof WallListQuery> & { limit: number; offset: number; sort: Sort }

const { aff_sub, aff_sub2, aff_sub3, aff_sub4 } = OfferListQuery.properties
export const WallOfferQuery = Type.Object({ ...ViewerFields, aff_sub, aff_sub2, aff_sub3, aff_sub4 })
export type WallOfferQuery = Static<typeof WallOfferQuery>

const reward = Type.Number({ description: "What the user gets, in the app's currency." })
const reward_varies = Type.Optional(
  Type.Literal(true, {
    description: 'A percentage of what the user spends. `reward` is paid when no amount is known.',
  }),
)

const { payout: _payout, payout_local: _local, payout_percent: _percent, ...goal } = Goal.properties
export const WallGoal = shape('WallGoal', { ...goal, reward, reward_varies })

const { payout: _of, payout_local: _offer, goals: _goals, ...offer } = Offer.properties
export const WallOffer = shape('WallOffer', { ...offer, reward, goals: Type.Array(WallGoal) })

export const WallOfferList = shape('WallOfferList', { ...OfferList.properties, offers: Type.Array(WallOffer) })
export const WallOfferReply = shape('WallOfferReply', { offer: WallOffer })
