// The options of `app set` that say how an app rewards its users.
import type { Command } from 'commander'
import { APP_KINDS, type RewardSettings } from '../features/apps/reward-settings.ts'

export type RewardOptions = { kind?: string; balances?: boolean }

export const withRewardSettings = (command: Command) =>
  command
    .option('--kind <kind>', 'reward (users see the wall) or tracking (for servers only)')
    .option('--balances', 'add rewards to a balance of each user from now on')
    .option('--no-balances', 'add rewards to no balance; balances stay as they are')

export function readRewardOptions({ kind, balances }: RewardOptions, problems: string[]): Partial<RewardSettings> {
  const settings: Partial<RewardSettings> = {}
  if (kind !== undefined) {
    const known = APP_KINDS.find((one) => one === kind)
    if (known === undefined) problems.push(`--kind must be one of ${APP_KINDS.join(', ')}.`)
    else settings.kind = known
  }
  if (balances !== undefined) settings.keepsBalance = balances
  return settings
}
