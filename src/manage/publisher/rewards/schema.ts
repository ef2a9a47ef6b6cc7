// The shapes of an app's reward settings.
import { Type } from 'typebox'
import { APP_KINDS, MAX_MULTIPLIER } from '../../../features/apps/reward-settings.ts'
import { shape } from '../../../http/shape.ts'
import { DATE_OR_TIME } from '../../../http/validation.ts'
import { MOST_DECIMALS, ROUNDINGS } from '../../../lib/money.ts'
import { id, oneOf, orNull, Time } from '../../shapes.ts'

const multiplier = Type.Number({
  exclusiveMinimum: 1,
  maximum: MAX_MULTIPLIER,
  description: 'Factor on every reward, at most 4 decimals: 2 doubles them.',
})

const SETTINGS = {
  kind: oneOf(APP_KINDS, '`reward`: users see the wall. `tracking`: for servers only, without a wall.'),
  keeps_balance: Type.Boolean({
    description:
      'Whether approved rewards are added to a balance for each user, returned by `/v1/users/{userId}`. While disabled, balances stay unchanged.',
  }),
  rounding: oneOf(ROUNDINGS),
  decimals: Type.Integer({
    minimum: 0,
    maximum: MOST_DECIMALS,
    description: 'Number of decimals that rewards are rounded to.',
  }),
  minimum_reward: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
    description:
      "Offers with a lower reward are hidden. In the app's currency, at most 4 decimals; sales do not affect it.",
  }),
  welcome_offer_id: Type.Union([id, Type.Null()], {
    description: 'Offer that the wall shows first to users without conversions.',
  }),
  daily_limit: Type.Union([Type.Integer({ minimum: 1, maximum: 10_000 }), Type.Null()], {
    description: 'Offers that a user can complete per UTC day. After that, links lead to a page that says so.',
  }),
}

export const RewardSettings = shape('RewardSettings', {
  ...SETTINGS,
  sale: orNull(Type.Object({ multiplier, starts_at: Time, ends_at: Time })),
})
export const ChangedRewardSettings = shape(
  'ChangedRewardSettings',
  {
    ...Type.Partial(Type.Object(SETTINGS)).properties,
    sale: Type.Optional(
      Type.Union(
        [
          Type.Object({
            multiplier,
            starts_at: Type.Optional(
              Type.String({ format: DATE_OR_TIME, description: 'Start of the sale. Defaults to now.' }),
            ),
            ends_at: Type.String({ format: DATE_OR_TIME }),
          }),
          Type.Null(),
        ],
        { description: 'Replaces the current sale; null ends it. Clicks made during a sale keep it.' },
      ),
    ),
  },
  { minProperties: 1 },
)
