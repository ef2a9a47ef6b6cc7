// The options of `app set` that say how an app rewards its users.
import type { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { APP_KINDS, type RewardSettings, roundingOf, type Sale } from '../features/apps/reward-settings.ts'
import { parseSteps, ROUNDINGS } from '../lib/money.ts'
import { parseTime } from '../lib/time.ts'
import { findOfferId } from './find.ts'

const NONE = 'none'

export type RewardOptions = {
  kind?: string
  balances?: boolean
  rounding?: string
  minimumReward?: string
  sale?: string
  saleFrom?: string
  saleUntil?: string
  welcomeOffer?: string
  dailyLimit?: string
}

export const withRewardSettings = (command: Command) =>
  command
    .option('--kind <kind>', 'reward (users see the wall) or tracking (for servers only)')
    .option('--balances', 'add rewards to a balance of each user from now on')
    .option('--no-balances', 'stop adding rewards to balances; balances stay as they are')
    .option('--rounding <rule>', 'round rewards down, nearest or up, and to how many decimals: nearest0, down4')
    .option('--minimum-reward <units>', 'hide offers with a lower reward, or "none"')
    .option('--sale <factor>', 'multiply rewards until --sale-until: 2 doubles them; "none" ends the sale')
    .option('--sale-from <time>', 'when the sale starts (default: now)')
    .option('--sale-until <time>', 'when the sale ends, such as 2030-01-31T12:00:00Z')
    .option('--welcome-offer <offer>', 'ID or name of the offer that the wall shows first to new users, or "none"')
    .option('--daily-limit <n>', 'offers that a user can complete in a day (UTC), or "none"')

/** Adds what is wrong to `problems`. */
export function readRewardOptions(options: RewardOptions, problems: string[]): Partial<RewardSettings> {
  const { kind, balances, rounding, minimumReward, sale, dailyLimit } = options
  const settings: Partial<RewardSettings> = {}
  const set = <N extends keyof RewardSettings>(name: N, value: RewardSettings[N] | undefined, problem: string) => {
    if (value === undefined) problems.push(problem)
    else settings[name] = value
  }
  if (balances !== undefined) settings.keepsBalance = balances
  if (kind !== undefined)
    set('kind', APP_KINDS.find((one) => one === kind), `--kind must be one of ${APP_KINDS.join(', ')}.`) // prettier-ignore
  if (rounding !== undefined)
    set('rounding', readRounding(rounding), '--rounding must be down, nearest or up, and 0 to 4 decimals: nearest0.')
  if (minimumReward !== undefined)
    set('minRewardSteps', orNone(minimumReward, parseSteps), '--minimum-reward must be above 0, with at most 4 decimals, or "none".') // prettier-ignore
  if (sale !== undefined || options.saleFrom !== undefined || options.saleUntil !== undefined)
    set('sale', sale === NONE ? null : readSale(options), '--sale needs a factor such as 2, and --sale-until a time such as 2030-01-31T12:00:00Z.') // prettier-ignore
  if (dailyLimit !== undefined)
    set('dailyLimit', orNone(dailyLimit, readWhole), '--daily-limit must be a whole number above 0, or "none".')
  return settings
}

/** As any offer is named. */
export async function findWelcomeOffer(db: Db, { welcomeOffer }: RewardOptions): Promise<Partial<RewardSettings>> {
  if (welcomeOffer === undefined) return {}
  return { welcomeOfferId: welcomeOffer === NONE ? null : await findOfferId(db, welcomeOffer) }
}

/** Undefined: neither an amount above 0 nor "none". */
const orNone = (text: string, read: (text: string) => number | null) =>
  text === NONE ? null : (read(text) || undefined) // prettier-ignore

const readWhole = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : null)

function readRounding(text: string): RewardSettings['rounding'] | undefined {
  const mode = ROUNDINGS.find((one) => one === text.slice(0, -1))
  return mode === undefined || !/[0-4]$/.test(text) ? undefined : roundingOf(mode, Number(text.at(-1)))
}

function readSale({ sale = '', saleFrom, saleUntil = '' }: RewardOptions): Sale | undefined {
  const steps = parseSteps(sale)
  const startsAt = saleFrom === undefined ? new Date() : parseTime(saleFrom)
  const endsAt = parseTime(saleUntil)
  return steps && startsAt && endsAt ? { multiplierPpm: steps * 100, startsAt, endsAt } : undefined
}
