// Balances of users, for apps that let Offerdeck keep them. A balance is the sum of the user's entries: rewards and their
// reversals, which a trigger writes with the event of the conversion (migrations/0120_user_balances.sql), and debits,
// which the publisher's server asks for. It is read as a stored sum and the few entries behind it (rollup.ts).
//
// Debits of a user take turns, so together they never take more than there is. Rewards and reversals wait for nothing: a
// reversal of what was spent already leaves the balance below zero, and debits are refused until rewards have made up
// for it.
import { sql } from 'kysely'
import { LOCK_CLASSES } from '../../db/locks.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { stepsToUnits } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'

/** A test user is another one. */
export type AppUser = { appId: number; isTest: boolean; userId: string }

export const ENTRY_KINDS = ['reward', 'reversal', 'debit'] as const
export type EntryKind = (typeof ENTRY_KINDS)[number]

/** In ten thousandths of the app's currency, as all amounts here. */
export async function readBalance(db: Db, { appId, isTest, userId }: AppUser): Promise<number> {
  const { rows } = await sql<{ steps: number }>`SELECT user_balance(${appId}, ${userId}, ${isTest}) AS steps`.execute(
    db,
  )
  return rows[0]?.steps ?? 0
}

const COLUMNS = ['entry_id', 'kind', 'amount_steps', 'conversion_id', 'note', 'created_at'] as const

/** Newest first. */
export const listEntries = (...of: Parameters<typeof entriesOf>) => entriesOf(...of).execute()

/** The question for them. */
export function entriesOf(db: Db, { appId, isTest, userId }: AppUser, before: number | null, limit: number) {
  let query = db
    .selectFrom('user_entries')
    .select(COLUMNS)
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('is_test', '=', isTest)
  if (before !== null) query = query.where('entry_id', '<', before)
  // By the whole index: by the entry's ID alone, PostgreSQL walks the primary key through what others have got since.
  for (const column of ['app_id', 'user_id', 'is_test', 'entry_id'] as const) query = query.orderBy(column, 'desc')
  return query.limit(limit)
}

type EntryRow = Awaited<ReturnType<typeof listEntries>>[number]

export const presentEntry = ({ entry_id, kind, amount_steps, conversion_id, note, created_at }: EntryRow) => ({
  entry_id,
  kind: kind as EntryKind,
  amount: stepsToUnits(amount_steps),
  conversion_id,
  note,
  created_at: rfc3339(created_at),
})

export type Debit = { amountSteps: number; key: string; note: string | null }

export type DebitOutcome =
  | { kind: 'debited' | 'repeated'; entry: EntryRow; balanceSteps: number }
  | { kind: 'too_small'; balanceSteps: number }
  | { kind: 'key_reused' }
  | { kind: 'closed' }

/** Once for each key, however often it is asked for, also when the balance is closed to debits since. */
export async function debitUser(
  db: Db,
  user: AppUser,
  debit: Debit,
  { now, isClosed }: { now: Date; isClosed: boolean },
): Promise<DebitOutcome> {
  return inTransaction(db, async (trx) => {
    await lockUser(trx, user)
    const earlier = await findDebit(trx, user, debit)
    if (earlier !== null) return earlier
    return isClosed ? { kind: 'closed' } : writeDebit(trx, user, debit, now)
  })
}

export async function lockUser(trx: Trx, { appId, isTest, userId }: AppUser): Promise<void> {
  const key = hashNumber(`${appId}|${isTest}|${userId}`) % 0x7fff_ffff
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.balance}::integer, ${key}::integer)`.execute(trx)
}

/** The debit that has this key. */
async function findDebit(trx: Trx, user: AppUser, { amountSteps, key, note }: Debit): Promise<DebitOutcome | null> {
  const found = await trx
    .selectFrom('user_entries')
    .select([...COLUMNS, 'user_id'])
    .where('app_id', '=', user.appId)
    .where('is_test', '=', user.isTest)
    .where('key', '=', key)
    .executeTakeFirst()
  if (found === undefined) return null
  const { user_id, ...entry } = found
  if (user_id !== user.userId || entry.amount_steps !== -amountSteps || entry.note !== note)
    return { kind: 'key_reused' }
  return { kind: 'repeated', entry, balanceSteps: await readBalance(trx, user) }
}

async function writeDebit(trx: Trx, user: AppUser, debit: Debit, now: Date): Promise<DebitOutcome> {
  const balanceSteps = await readBalance(trx, user)
  if (balanceSteps < debit.amountSteps) return { kind: 'too_small', balanceSteps }
  const entry = await trx
    .insertInto('user_entries')
    .values({
      app_id: user.appId,
      is_test: user.isTest,
      user_id: user.userId,
      kind: 'debit',
      amount_steps: -debit.amountSteps,
      key: debit.key,
      note: debit.note,
      created_at: now,
    })
    .onConflict((on) => on.doNothing()) // the same key at the same time, for another user
    .returning(COLUMNS)
    .executeTakeFirst()
  if (entry === undefined) return { kind: 'key_reused' }
  return { kind: 'debited', entry, balanceSteps: balanceSteps - debit.amountSteps }
}
