// How an app rewards its users, as its publisher sets it.
import { type Db, inTransaction } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

/** reward: users see a wall. tracking: for servers only. */
export const APP_KINDS = ['reward', 'tracking'] as const
export type AppKind = (typeof APP_KINDS)[number]

export type RewardSettings = { kind: AppKind; keepsBalance: boolean }

export async function readRewardSettings(db: Db, appId: number): Promise<RewardSettings> {
  const found = await db
    .selectFrom('apps')
    .select(['kind', 'keeps_balance'])
    .where('app_id', '=', appId)
    .executeTakeFirst()
  if (found === undefined) throw new NoSuch('app', appId)
  return { kind: found.kind as AppKind, keepsBalance: found.keeps_balance }
}

/** As people see them. */
export const presentRewardSettings = ({ kind, keepsBalance }: RewardSettings) => ({ kind, keeps_balance: keepsBalance })

/** Absent settings stay. */
export async function changeRewardSettings(
  db: Db,
  by: Actor,
  appId: number,
  change: Partial<RewardSettings>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await inTransaction(db, async (trx) => {
    const locked = await trx
      .selectFrom('apps')
      .select('publisher_id')
      .where('app_id', '=', appId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (locked === undefined) throw new NoSuch('app', appId)
    const before = await readRewardSettings(trx, appId)
    const after = { ...before, ...change }
    await trx
      .updateTable('apps')
      .set({ kind: after.kind, keeps_balance: after.keepsBalance })
      .where('app_id', '=', appId)
      .execute()
    const details = { before: presentRewardSettings(before), after: presentRewardSettings(after) }
    const { publisher_id: publisherId } = locked
    await recordAudit(trx, by, { action: 'rewards.change', subject: appId, publisherId, details })
  })
}
