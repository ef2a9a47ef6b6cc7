// The shapes of an app's reward settings.
import { Type } from 'typebox'
import { APP_KINDS } from '../../../features/apps/reward-settings.ts'
import { shape } from '../../../http/shape.ts'
import { oneOf } from '../../shapes.ts'

const SETTINGS = {
  kind: oneOf(APP_KINDS, 'reward: users see the wall. tracking: for servers only, without a wall.'),
  keeps_balance: Type.Boolean({
    description:
      'Whether approved rewards are added to a balance of each user, which `/v1/users/{userId}` returns. Counts from the time it is turned on; while it is off, balances stay as they are.',
  }),
}

export const RewardSettings = shape('RewardSettings', SETTINGS)
export const ChangedRewardSettings = shape(
  'ChangedRewardSettings',
  { kind: Type.Optional(SETTINGS.kind), keeps_balance: Type.Optional(SETTINGS.keeps_balance) },
  { minProperties: 1 },
)
