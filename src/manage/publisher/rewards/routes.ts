// How an app rewards its users.
import { badRequest } from '../../../errors.ts'
import type { Static } from 'typebox'
import {
  changeRewardSettings,
  presentRewardSettings,
  readRewardSettings,
  type RewardSettings as Settings,
  roundingOf,
  type Sale,
} from '../../../features/apps/reward-settings.ts'
import { parseSteps } from '../../../lib/money.ts'
import { parseTime } from '../../../lib/time.ts'
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
    about: 'Settings that you leave out stay unchanged. Clicks keep what applied when they were made.',
    tag: TAG,
    access: 'finance',
    sensitive: true,
    params: AppParams,
    body: ChangedRewardSettings,
    reply: RewardSettings,
    async run({ app, by, body }) {
      await changeRewardSettings(db, by, app.appId, (before) => changeOf(body, before))
      await refresh()
      return presentRewardSettings(await readRewardSettings(db, app.appId))
    },
  })
}

type Change = Static<typeof ChangedRewardSettings>

/** Rounding and decimals are one rule: what is not given of it stays. */
function changeOf(body: Change, before: Settings): Partial<Settings> {
  const { kind, keeps_balance, minimum_reward, sale, welcome_offer_id, daily_limit } = body
  const { rounding, decimals } = { ...presentRewardSettings(before), ...body }
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(keeps_balance === undefined ? {} : { keepsBalance: keeps_balance }),
    ...(body.rounding === undefined && body.decimals === undefined ? {} : { rounding: roundingOf(rounding, decimals) }),
    ...(minimum_reward === undefined ? {} : { minRewardSteps: minimum_reward && readMinimum(minimum_reward) }),
    ...(sale === undefined ? {} : { sale: sale && readSale(sale) }),
    ...(welcome_offer_id === undefined ? {} : { welcomeOfferId: welcome_offer_id }),
    ...(daily_limit === undefined ? {} : { dailyLimit: daily_limit }),
  }
}

function readMinimum(units: number): number {
  const steps = parseSteps(units)
  if (!steps)
    throw badRequest({
      minimum_reward: 'minimum_reward must be above 0 and below 1,000,000,000, with at most 4 decimals.',
    })
  return steps
}

function readSale({ multiplier, starts_at, ends_at }: NonNullable<Change['sale']>): Sale {
  const steps = parseSteps(multiplier)
  if (steps === null) throw badRequest({ 'sale.multiplier': 'The multiplier must have at most 4 decimals.' })
  const [startsAt, endsAt] = [starts_at === undefined ? new Date() : parseTime(starts_at), parseTime(ends_at)]
  if (startsAt === null || endsAt === null)
    throw badRequest({ [`sale.${startsAt === null ? 'starts_at' : 'ends_at'}`]: 'Enter a time.' })
  return { multiplierPpm: steps * 100, startsAt, endsAt }
}
