// How an app rewards its users.
import type { Static } from 'typebox'
import {
  changeRewardSettings,
  presentRewardSettings,
  readRewardSettings,
  type RewardSettings as Settings,
} from '../../../features/apps/reward-settings.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AppParams } from '../../shapes.ts'
import { ChangedRewardSettings, RewardSettings } from './schema.ts'

const TAG = 'Apps'

export function rewardRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  routes.get('/apps/:app_id/rewards', {
    id: 'getRewardSettings',
    summary: 'Get the reward settings of an app',
    about: 'How its users are rewarded, beyond currency and rate.',
    tag: TAG,
    access: 'publisher',
    params: AppParams,
    reply: RewardSettings,
    run: async ({ app }) => presentRewardSettings(await readRewardSettings(db, app.appId)),
  })

  routes.patch('/apps/:app_id/rewards', {
    id: 'changeRewardSettings',
    summary: 'Change the reward settings of an app',
    about: 'Settings that are left out stay. Clicks keep what applied when they were made.',
    tag: TAG,
    access: 'finance',
    sensitive: true,
    params: AppParams,
    body: ChangedRewardSettings,
    reply: RewardSettings,
    async run({ app, by, body }) {
      await changeRewardSettings(db, by, app.appId, changeOf(body))
      await refresh()
      return presentRewardSettings(await readRewardSettings(db, app.appId))
    },
  })
}

function changeOf({ kind, keeps_balance }: Static<typeof ChangedRewardSettings>): Partial<Settings> {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(keeps_balance === undefined ? {} : { keepsBalance: keeps_balance }),
  }
}
