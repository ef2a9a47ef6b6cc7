// What money hangs on gets the pseudonym: conversions, clicks and balances. Nothing else of it changes, but for IP
// addresses, sub-IDs, operating systems and notes, which go.
//
// All clicks and conversions of the user on one offer move together, under the lock that commands about them take
// (conversions/lock-batch.ts): a decision that saw half of them could pay a goal twice. A command that found its user
// before that notices by erasure_moves, and finds it again. A user who is banned is so under the pseudonym, too.
import { sql } from 'kysely'
import { LOCK_CLASSES, LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { banPseudonyms } from '../apps/bans.ts'
import { newPseudonym } from '../apps/erased-users.ts'
import { userLock } from '../conversions/keys.ts'
import { type AppUser, lockUser } from './balances.ts'
import type { Job, Step } from './erasure-step.ts'

const AT_ONCE = 1_000
const NO_SUB_IDS = sql.raw('aff_sub = NULL, aff_sub2 = NULL, aff_sub3 = NULL, aff_sub4 = NULL')

const isOf = ({ appId, isTest, userId }: AppUser) =>
  sql<boolean>`app_id = ${appId} AND user_id = ${userId} AND is_test = ${isTest}`

/** Returns how many clicks and conversions there were. */
export async function moveOffers(db: Db, step: Step, job: Job): Promise<number> {
  const { appId, userId } = job.user
  await step('bans', async (trx) => {
    await banPseudonyms(trx, appId, userId, [job.pseudonym, ...job.more])
    return 0
  })
  let moved = 0
  for (;;) {
    const offerId = (await findOffer(db, 'conversions', job.user)) ?? (await findOffer(db, 'clicks', job.user))
    if (offerId === null) return moved
    moved += await moveOffer(step, job, offerId)
  }
}

async function findOffer(db: Db, table: 'clicks' | 'conversions', user: AppUser): Promise<number | null> {
  const { rows } = await sql<{ offer_id: number }>`
    SELECT offer_id FROM ${sql.table(table)} WHERE ${isOf(user)} LIMIT 1`.execute(db)
  return rows[0]?.offer_id ?? null
}

async function moveOffer(step: Step, job: Job, offerId: number): Promise<number> {
  const move = (pseudonym: string) =>
    step('clicks and conversions', async (trx) => {
      await lockOffer(trx, job.user, offerId)
      await banPseudonyms(trx, job.user.appId, job.user.userId, [pseudonym])
      await sql`UPDATE erasure_moves SET moves = moves + 1`.execute(trx)
      const count = (await moveConversions(trx, job.user, offerId, pseudonym)) + (await moveClicks(trx, job.user, offerId, pseudonym)) // prettier-ignore
      if (pseudonym !== job.pseudonym)
        await sql`UPDATE erasures SET more_pseudonyms = more_pseudonyms || ${pseudonym}::text WHERE erasure_id = ${job.erasureId}`.execute(trx) // prettier-ignore
      return count
    })
  try {
    return await move(job.pseudonym)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    // The user came back between two passes and completed the same goal again: to us, another person.
    const other = newPseudonym()
    const count = await move(other)
    job.more.push(other)
    return count
  }
}

async function lockOffer(trx: Trx, user: AppUser, offerId: number): Promise<void> {
  const key = hashNumber(userLock({ ...user, offerId })) % 0x7fff_ffff
  await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.commands}::integer, ${key}::integer)`.execute(trx)
}

async function moveConversions(trx: Trx, user: AppUser, offerId: number, pseudonym: string): Promise<number> {
  return inParts(async () => {
    const ids = await findIds(trx, 'conversions', 'conversion_id', user, offerId)
    if (ids.length === 0) return 0
    await takeFromCounts(trx, ids)
    await sql`UPDATE conversions SET user_id = ${pseudonym}, ip = NULL, ${NO_SUB_IDS}
      WHERE conversion_id = ANY (${ids}::uuid[])`.execute(trx)
    return ids.length
  })
}

async function moveClicks(trx: Trx, user: AppUser, offerId: number, pseudonym: string): Promise<number> {
  return inParts(async () => {
    const ids = await findIds(trx, 'clicks', 'click_id', user, offerId)
    if (ids.length === 0) return 0
    await sql`UPDATE clicks SET user_id = ${pseudonym}, ip = NULL, os = NULL, ${NO_SUB_IDS}
      WHERE click_id = ANY (${ids}::uuid[])`.execute(trx)
    return ids.length
  })
}

async function findIds(trx: Trx, table: 'clicks' | 'conversions', id: string, user: AppUser, offerId: number) {
  const { rows } = await sql<{ id: string }>`SELECT ${sql.ref(id)} AS id FROM ${sql.table(table)}
    WHERE ${isOf(user)} AND offer_id = ${offerId} LIMIT ${sql.lit(AT_ONCE)}`.execute(trx)
  return rows.map((row) => row.id)
}

async function inParts(part: () => Promise<number>): Promise<number> {
  for (let all = 0; ;) {
    const count = await part()
    all += count
    if (count < AT_ONCE) return all
  }
}

type Counted = { app_id: number; quarter: Date; offer_id: number; country: string | null; device: string | null; locker_id: number | null; subs: (string | null)[] } // prettier-ignore

/** Of clicks that retention dropped there are counts by sub-ID, but of bots: those of this user count without it. */
async function takeFromCounts(trx: Trx, conversionIds: string[]): Promise<void> {
  const { rows } = await sql<Counted>`
    SELECT DISTINCT ON (c.click_id) c.app_id, date_bin('15 minutes', c.click_at, '2000-01-01T00:00:00Z') AS quarter, c.offer_id,
      c.country, c.device, c.locker_id, ARRAY[c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4] AS subs
    FROM conversions c LEFT JOIN LATERAL (SELECT true AS is_there FROM clicks k WHERE k.click_id = c.click_id) k ON true
    WHERE c.conversion_id = ANY (${conversionIds}::uuid[]) AND c.click_id IS NOT NULL AND c.nth_of_click IS NOT NULL AND NOT c.is_test AND k.is_there IS NULL
      AND num_nonnulls(c.aff_sub, c.aff_sub2, c.aff_sub3, c.aff_sub4) > 0
    ORDER BY c.click_id`.execute(trx)
  for (const { app_id, quarter, offer_id, country, device, locker_id, subs } of rows) {
    const [s1 = null, s2 = null, s3 = null, s4 = null] = subs
    const { numAffectedRows = 0n } = await sql`
      UPDATE click_counts SET clicks = clicks - 1 WHERE ctid = (SELECT ctid FROM click_counts
        WHERE app_id = ${app_id} AND quarter = ${quarter} AND offer_id = ${offer_id} AND NOT is_compact
          AND (country, device, locker_id, aff_sub, aff_sub2, aff_sub3, aff_sub4)
            IS NOT DISTINCT FROM (${country}::text, ${device}::text, ${locker_id}::bigint, ${s1}::text, ${s2}::text, ${s3}::text, ${s4}::text)
        LIMIT 1 FOR UPDATE)`.execute(trx)
    if (numAffectedRows === 0n) continue // compacted: there is no sub-ID in it
    await sql`INSERT INTO click_counts (app_id, quarter, offer_id, country, device, locker_id, clicks)
      VALUES (${app_id}, ${quarter}, ${offer_id}, ${country}, ${device}, ${locker_id}, 1)`.execute(trx)
    await sql`DELETE FROM click_counts WHERE app_id = ${app_id} AND quarter = ${quarter} AND clicks = 0`.execute(trx)
  }
}

/**
 * The sum and the entries that are not in it yet move together, while neither debits nor sums are written; the others in
 * parts, after them. Returns how many entries there were.
 */
export async function eraseBalance(step: Step, { user, pseudonym }: Job): Promise<number> {
  const first = await step('balance entries', async (trx) => {
    await lockUser(trx, user)
    await sql`SELECT pg_advisory_xact_lock(${LOCKS.userBalances})`.execute(trx)
    await sql`WITH gone AS (DELETE FROM user_balances WHERE ${isOf(user)} RETURNING *)
      INSERT INTO user_balances AS old (app_id, user_id, is_test, amount_steps)
      SELECT app_id, ${pseudonym}, is_test, amount_steps FROM gone
      ON CONFLICT (app_id, user_id, is_test) DO UPDATE SET amount_steps = old.amount_steps + excluded.amount_steps`.execute(
      trx,
    )
    const behind = sql<boolean>`entry_id > (SELECT entry_id FROM user_balances_rollup)`
    return inParts(() => moveEntries(trx, user, pseudonym, behind))
  })
  for (let all = first; ;) {
    const count = await step('balance entries', (trx) => moveEntries(trx, user, pseudonym, sql`true`))
    all += count
    if (count < AT_ONCE) return all
  }
}

async function moveEntries(trx: Trx, user: AppUser, pseudonym: string, which: ReturnType<typeof sql<boolean>>) {
  const { rows } = await sql<{ entry_id: number }>`SELECT entry_id FROM user_entries WHERE ${isOf(user)} AND ${which}
    ORDER BY app_id DESC, user_id DESC, is_test DESC, entry_id DESC LIMIT ${sql.lit(AT_ONCE)}`.execute(trx)
  const ids = rows.map((row) => row.entry_id)
  if (ids.length > 0)
    await sql`UPDATE user_entries SET user_id = ${pseudonym}, note = NULL WHERE entry_id = ANY (${ids}::bigint[])`.execute(trx) // prettier-ignore
  return ids.length
}
