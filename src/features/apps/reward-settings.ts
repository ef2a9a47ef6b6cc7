// How an app rewards its users, as its publisher sets it.
import { type Db, inTransaction } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { MOST_DECIMALS, multiplierOf, type Rounding, type ROUNDINGS, stepsToUnits, WHOLE_PPM } from '../../lib/money.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

/** reward: users see a wall. tracking: for servers only. */
export const APP_KINDS = ['reward', 'tracking'] as const
export type AppKind = (typeof APP_KINDS)[number]

/** More is taken for a mistake. */
export const MAX_MULTIPLIER = 10

/** Rewards are multiplied from one time to another. What a publisher earns stays the same. */
export type Sale = { multiplierPpm: number; startsAt: Date; endsAt: Date }

export type RewardSettings = {
  kind: AppKind
  keepsBalance: boolean
  /** Null: down to four decimals. */
  rounding: Rounding | null
  /** In ten thousandths of the app's currency; null: any. */
  minRewardSteps: number | null
  sale: Sale | null
  welcomeOfferId: number | null
  dailyLimit: number | null
}

const COLUMNS = [
  'kind', 'keeps_balance', 'rounding', 'min_reward_steps', 'sale_multiplier_ppm', 'sale_starts_at', 'sale_ends_at',
  'welcome_offer_id', 'daily_limit',
] as const // prettier-ignore

export async function readRewardSettings(db: Db, appId: number): Promise<RewardSettings> {
  const found = await db.selectFrom('apps').select(COLUMNS).where('app_id', '=', appId).executeTakeFirst()
  if (found === undefined) throw new NoSuch('app', appId)
  const { sale_multiplier_ppm: multiplierPpm, sale_starts_at: startsAt, sale_ends_at: endsAt } = found
  return {
    kind: found.kind as AppKind,
    keepsBalance: found.keeps_balance,
    rounding: found.rounding as Rounding | null,
    minRewardSteps: found.min_reward_steps,
    sale: multiplierPpm === null || startsAt === null || endsAt === null ? null : { multiplierPpm, startsAt, endsAt },
    welcomeOfferId: found.welcome_offer_id,
    dailyLimit: found.daily_limit,
  }
}

/** As people see them. */
export const presentRewardSettings = ({ sale, rounding, minRewardSteps, ...settings }: RewardSettings) => ({
  kind: settings.kind,
  keeps_balance: settings.keepsBalance,
  rounding: (rounding?.slice(0, -1) ?? 'down') as (typeof ROUNDINGS)[number],
  decimals: Number(rounding?.at(-1) ?? MOST_DECIMALS),
  minimum_reward: minRewardSteps === null ? null : stepsToUnits(minRewardSteps),
  sale: sale && { multiplier: multiplierOf(sale.multiplierPpm), starts_at: sale.startsAt, ends_at: sale.endsAt },
  welcome_offer_id: settings.welcomeOfferId,
  daily_limit: settings.dailyLimit,
})

/** As it is recorded: what is the same as no rule is none. */
export const roundingOf = (mode: (typeof ROUNDINGS)[number], decimals: number): Rounding | null =>
  mode === 'down' && decimals === MOST_DECIMALS ? null : (`${mode}${decimals}` as Rounding)

/** Absent settings stay. A function gets the settings as no one else can change them any more. */
export async function changeRewardSettings(
  db: Db,
  by: Actor,
  appId: number,
  given: Partial<RewardSettings> | ((before: RewardSettings) => Partial<RewardSettings>),
  now = new Date(),
): Promise<void> {
  if (Object.keys(given).length === 0 && typeof given !== 'function') return
  await inTransaction(db, async (trx) => {
    const app = await trx
      .selectFrom('apps')
      .select('publisher_id')
      .where('app_id', '=', appId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (app === undefined) throw new NoSuch('app', appId)
    const before = await readRewardSettings(trx, appId)
    const change = typeof given === 'function' ? given(before) : given
    if (Object.keys(change).length === 0) return
    if (change.sale) checkSale(change.sale, now)
    const after = { ...before, ...change }
    if (after.welcomeOfferId !== null) await checkOffer(trx, after.welcomeOfferId)
    await trx
      .updateTable('apps')
      .set({
        kind: after.kind,
        keeps_balance: after.keepsBalance,
        rounding: after.rounding,
        min_reward_steps: after.minRewardSteps,
        sale_multiplier_ppm: after.sale?.multiplierPpm ?? null,
        sale_starts_at: after.sale?.startsAt ?? null,
        sale_ends_at: after.sale?.endsAt ?? null,
        welcome_offer_id: after.welcomeOfferId,
        daily_limit: after.dailyLimit,
      })
      .where('app_id', '=', appId)
      .execute()
    const details = { before: presentRewardSettings(before), after: presentRewardSettings(after) }
    await recordAudit(trx, by, { action: 'rewards.change', subject: appId, publisherId: app.publisher_id, details })
  })
}

function checkSale({ multiplierPpm, startsAt, endsAt }: Sale, now: Date): void {
  if (multiplierPpm <= WHOLE_PPM || multiplierPpm > MAX_MULTIPLIER * WHOLE_PPM)
    throw new OperatorError(`The multiplier must be above 1 and at most ${MAX_MULTIPLIER}.`, 'sale.multiplier')
  if (endsAt <= now) throw new OperatorError('The end of the sale must be in the future.', 'sale.ends_at')
  if (endsAt <= startsAt) throw new OperatorError('The sale must end after it starts.', 'sale.ends_at')
}

async function checkOffer(db: Db, offerId: number): Promise<void> {
  const offer = await db.selectFrom('offers').select('offer_id').where('offer_id', '=', offerId).executeTakeFirst()
  if (offer === undefined) throw new OperatorError(`There is no offer ${offerId}.`, 'welcome_offer_id')
}
