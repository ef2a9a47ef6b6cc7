// Banned users: they see no offers, their links lead nowhere, and their conversions are rejected.
//
// A ban outlasts an erasure. What moves to a pseudonym must not be paid either, so bans of the pseudonym follow from those
// of the user (`of_ban_id`), and are lifted with them. They say nothing of the user but that link, which no one is shown.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

const MAX_USER_ID = 256

/** `appId` null: in every app. */
export type NewBan = { appId: number | null; userId: string; reason: string }

/** A second ban of the same user changes nothing. Returns whether it was new. */
export async function banUser(db: Db, by: Actor, { appId, userId, reason }: NewBan): Promise<boolean> {
  if (userId.trim() === '') throw new OperatorError('Enter the user ID to ban: it cannot be blank.', 'user_id')
  // As the API counts them: by code points.
  if (Array.from(userId).length > MAX_USER_ID)
    throw new OperatorError(`A user ID has at most ${MAX_USER_ID} characters.`, 'user_id')
  if (reason.trim() === '' || reason.length > 500)
    throw new OperatorError('Enter a reason of 1 to 500 characters.', 'reason')
  return inTransaction(db, async (trx) => {
    await touchApps(trx, appId)
    const added = await trx
      .insertInto('banned_users')
      .values({ app_id: appId, user_id: userId, reason: reason.trim() })
      .onConflict((on) => on.doNothing())
      .executeTakeFirst()
    if ((added.numInsertedOrUpdatedRows ?? 0n) === 0n) return false
    await recordAudit(trx, by, { action: 'user.ban', subject: userId, details: { app_id: appId, reason } })
    await banWhileErased(trx, appId, userId)
    return true
  })
}

/** For clicks and conversions that get a pseudonym, before they do. */
export async function banPseudonyms(trx: Trx, appId: number, userId: string, pseudonyms: string[]): Promise<void> {
  const { numAffectedRows = 0n } = await sql`INSERT INTO banned_users (app_id, user_id, reason, of_ban_id)
    SELECT ${appId}, p.user_id, 'Banned before the erasure', b.ban_id
    FROM banned_users b CROSS JOIN unnest(${pseudonyms}::text[]) AS p (user_id)
    WHERE b.user_id = ${userId} AND (b.app_id = ${appId} OR b.app_id IS NULL)
    FOR KEY SHARE OF b ON CONFLICT DO NOTHING`.execute(trx)
  if (numAffectedRows > 0n) await touchApps(trx, appId)
}

/** A part of what the user did has its pseudonym already. */
async function banWhileErased(trx: Trx, appId: number | null, userId: string): Promise<void> {
  let query = trx.selectFrom('erasures').select(['app_id', 'pseudonym', 'more_pseudonyms'])
  if (appId !== null) query = query.where('app_id', '=', appId)
  for (const erasure of await query.where('user_id', '=', userId).where('done_at', 'is', null).execute())
    await banPseudonyms(trx, erasure.app_id, userId, [erasure.pseudonym, ...erasure.more_pseudonyms])
}

/** What it was; null when there is no such ban. */
export async function liftBan(db: Db, by: Actor, banId: number) {
  return inTransaction(db, async (trx) => {
    const lifted = await trx
      .deleteFrom('banned_users')
      .where('ban_id', '=', banId)
      .returning(['app_id', 'user_id', 'reason'])
      .executeTakeFirst()
    if (lifted === undefined) return null
    await touchApps(trx, lifted.app_id)
    const { user_id: subject, ...details } = lifted
    await recordAudit(trx, by, { action: 'user.unban', subject, details })
    return lifted
  })
}

/** Stamps the apps that it concerns as changed, which every API process looks for. */
async function touchApps(trx: Trx, appId: number | null): Promise<void> {
  const query = trx.updateTable('apps').set((is) => ({ name: is.ref('name') }))
  const touched = await (appId === null ? query : query.where('app_id', '=', appId)).executeTakeFirst()
  if (appId !== null && touched.numUpdatedRows === 0n) throw new NoSuch('app', appId)
}

/** Every part narrows; what is absent does not. */
export type BanFilter = { appId?: number | null; userId?: string; before?: number }

/** Newest first. */
export async function listBans(db: Db, filter: BanFilter, limit: number) {
  let query = db
    .selectFrom('banned_users')
    .leftJoin('apps', 'apps.app_id', 'banned_users.app_id')
    .select(['ban_id', 'banned_users.app_id', 'apps.name as app', 'user_id', 'reason', 'banned_users.created_at'])
  if (filter.appId === null) query = query.where('banned_users.app_id', 'is', null)
  else if (filter.appId !== undefined) query = query.where('banned_users.app_id', '=', filter.appId)
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId)
  if (filter.before !== undefined) query = query.where('ban_id', '<', filter.before)
  return query.orderBy('ban_id', 'desc').limit(limit).execute()
}

export async function readBannedEverywhere(db: Db): Promise<Set<string>> {
  const { rows } = await sql<{ user_id: string }>`SELECT user_id FROM banned_users WHERE app_id IS NULL`.execute(db)
  return new Set(rows.map((row) => row.user_id))
}
