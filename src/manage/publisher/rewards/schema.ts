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
  description: 'What every reward is multiplied with, at most 4 decimals: 2 doubles them.',
})

const SETTINGS = {
  kind: oneOf(APP_KINDS, 'reward: users see the wall. tracking: for servers only, without a wall.'),
  keeps_balance: Type.Boolean({
    description:
      'Whether approved rewards are added to a balance of each user, which `/v1/users/{userId}` returns. Counts from the time it is turned on; while it is off, balances stay as they are.',
  }),
  rounding: oneOf(ROUNDINGS, 'How the reward of each goal is rounded.'),
  decimals: Type.Integer({ minimum: 0, maximum: MOST_DECIMALS, description: 'To how many decimals it is rounded.' }),
  minimum_reward: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
    description:
      "Offers with a lower reward are not shown, in the app's currency, at most 4 decimals. A sale changes nothing about it.",
  }),
  welcome_offer_id: Type.Union([id, Type.Null()], {
    description: 'The offer that the wall shows first to users who have no conversion yet.',
  }),
  daily_limit: Type.Union([Type.Integer({ minimum: 1, maximum: 10_000 }), Type.Null()], {
    description: 'How many offers a user can complete in a day of UTC. After that, links lead to a page that says so.',
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
            starts_at: Type.Optional(Type.String({ format: DATE_OR_TIME, description: 'Without it, now.' })),
            ends_at: Type.String({ format: DATE_OR_TIME }),
          }),
          Type.Null(),
        ],
        { description: 'Replaces the one before. Null: none. Clicks made in a sale keep it.' },
      ),
    ),
  },
  { minProperties: 1 },
)
