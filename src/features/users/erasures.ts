// Erasures of users: asked for here, worked off by erase.ts.
import { type Selectable, sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import type { Erasures } from '../../db/tables.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { createUserHashes, isPseudonym, newPseudonym } from '../apps/erased-users.ts'
import type { AppUser } from './balances.ts'
import { isLogged } from './erase-logs.ts'
import { liftedBansOf, unlocksOf } from './erase-traces.ts'

/** Postbacks that wait are delivered with the user's ID first, for as long as this. */
export const POSTBACK_WAIT_MS = 3 * 86_400_000

export type Erasure = Omit<Selectable<Erasures>, 'user_id' | 'user_hash'>
export type ErasureStatus = 'waiting' | 'settling' | 'done'

const COLUMNS = [
  'erasure_id', 'app_id', 'is_test', 'pseudonym', 'requested_by', 'requested_at', 'due_at', 'erased_at', 'done_at', 'passes',
  'more_pseudonyms', 'counts',
] as const satisfies (keyof Erasure)[] // prettier-ignore

/** waiting: for postbacks, or its turn; settling: erased, and looked at again for what arrives late. */
export const statusOf = ({ erased_at, done_at }: Pick<Erasure, 'erased_at' | 'done_at'>): ErasureStatus =>
  done_at !== null ? 'done' : erased_at !== null ? 'settling' : 'waiting'

/** Null: nothing is known of this user, so there is nothing to erase. Asked for twice, it is one erasure. */
export async function requestErasure(
  db: Db,
  by: Actor,
  secretKey: string,
  user: AppUser,
  now: Date,
): Promise<{ erasure: Erasure; isNew: boolean } | null> {
  const { appId, isTest, userId } = user
  if (isPseudonym(userId)) throw new OperatorError('This user is already erased.', 'user_id')
  return inTransaction(db, async (trx) => {
    const app = await trx.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
    if (app === undefined) throw new NoSuch('app', appId)
    const open = await findOpen(trx, user)
    if (open !== null) return { erasure: open, isNew: false }
    if (!(await isKnown(trx, user))) return null
    const [user_hash = null] = createUserHashes(secretKey)(user)
    const made = await trx
      .insertInto('erasures')
      .values({
        app_id: appId,
        is_test: isTest,
        user_id: userId,
        user_hash,
        pseudonym: newPseudonym(),
        requested_by: by.email,
        requested_at: now,
        due_at: now,
      })
      .onConflict((on) => on.doNothing()) // asked for at the same time
      .returning(COLUMNS)
      .executeTakeFirst()
    const erasure = made ?? (await findOpen(trx, user))
    if (erasure === null) throw new Error('An erasure was neither made nor found.')
    if (made === undefined) return { erasure, isNew: false }
    // Without the user's ID: entries are kept for good.
    const details = { app_id: appId, mode: isTest ? 'test' : 'live', pseudonym: made.pseudonym }
    await recordAudit(trx, by, {
      action: 'user.erase',
      subject: made.erasure_id,
      publisherId: app.publisher_id,
      details,
    })
    return { erasure, isNew: true }
  })
}

async function findOpen(db: Db, { appId, isTest, userId }: AppUser): Promise<Erasure | null> {
  const found = await db
    .selectFrom('erasures')
    .select(COLUMNS)
    .where('app_id', '=', appId)
    .where('is_test', '=', isTest)
    .where('user_id', '=', userId)
    .where('done_at', 'is', null)
    .executeTakeFirst()
  return found ?? null
}

/** Whether any table has something of this user that an erasure would change. */
async function isKnown(trx: Trx, user: AppUser): Promise<boolean> {
  const of = sql`app_id = ${user.appId} AND user_id = ${user.userId} AND is_test = ${user.isTest}`
  const { rows } = await sql<{ known: boolean }>`SELECT
    EXISTS (SELECT FROM conversions WHERE ${of}) OR EXISTS (SELECT FROM clicks WHERE ${of})
    OR EXISTS (SELECT FROM user_contexts WHERE ${of}) OR EXISTS (SELECT FROM user_entries WHERE ${of})
    OR EXISTS (SELECT FROM tickets WHERE ${of}) OR EXISTS (SELECT FROM locker_unlocks WHERE ${unlocksOf(user)})
    OR EXISTS (SELECT FROM audit_log WHERE ${liftedBansOf(user)}) AS known`.execute(trx)
  return rows[0]?.known === true || isLogged(trx, user)
}

/** How many postbacks of the user wait to be sent. */
export async function countWaitingPostbacks(db: Db, { appId, isTest, userId }: AppUser): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversions c JOIN postback_queue q USING (conversion_id)
    WHERE c.app_id = ${appId} AND c.user_id = ${userId} AND c.is_test = ${isTest}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Newest first. `appId`: of one app only. */
export async function listErasures(db: Db, appId: number | undefined, before: number | undefined, limit: number) {
  let query = db.selectFrom('erasures').select(COLUMNS)
  if (appId !== undefined) query = query.where('app_id', '=', appId)
  if (before !== undefined) query = query.where('erasure_id', '<', before)
  return query.orderBy('erasure_id', 'desc').limit(limit).execute()
}

export const findErasureOf = findOpen

/** The keyed hash is for what waits in spools: none waits for as long as clicks are kept. */
export async function forgetErasedHashes(db: Db, now: Date, keepDays: number): Promise<void> {
  await db
    .updateTable('erasures')
    .set({ user_hash: null })
    .where('user_hash', 'is not', null)
    .where('done_at', '<', new Date(now.getTime() - keepDays * 86_400_000))
    .execute()
}
