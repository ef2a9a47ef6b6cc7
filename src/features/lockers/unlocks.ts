// What unlocks a locker: conversions of this visitor through this locker, in the same mode, that stand. Nothing else does,
// and the database decides it: each conversion unlocks once (locker_unlock_conversions), and times are those of its clock.
//
// An unlock that was given stays, also when its conversion is reversed later: the visitor has seen the content by then. The
// next one needs new conversions.
import { sql } from 'kysely'
import { LOCK_CLASSES } from '../../db/locks.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { hashNumber } from '../../lib/hash-text.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { KnownLocker } from './lockers.ts'
import { type LockerVisitor, userOf } from './visitors.ts'

const STEPS_PER_UNIT = 10_000
const MAX_CONVERSIONS = 500

export type Progress = {
  /** Null: it is locked. */
  unlock: { unlockId: string; expiresAt: Date } | null
  /** Why the last unlock is over; null: there was none, or it is valid. */
  ended: 'opened' | 'expired' | null
  offersDone: number
  rewardSteps: number
  /** Offers that are pending where only approved ones count. */
  pending: number
}

/** A link that was opened can be opened again for a minute, also when the unlock expires meanwhile. */
const IS_VALID = sql<boolean>`coalesce(opened_at > now() - interval '1 minute', expires_at > now())`

/** As it was credited. What was earned in a currency that the app no longer has, is worth its payout at the rate of today. */
const REWARD_STEPS = sql<number>`CASE WHEN c.currency = a.currency THEN reward_steps(c.payout_micros, c.rate_micros, c.rounding)
  ELSE reward_steps(c.payout_micros, div(a.rate_micros::numeric * coalesce(c.multiplier_ppm, 1000000), 1000000)::bigint, a.rounding) END`

type Fresh = { conversion_id: string; offer_id: number; status: string; steps: number }

/** Unlocks where there is enough. */
export async function readProgress(db: Db, locker: KnownLocker, visitor: LockerVisitor): Promise<Progress> {
  const seen = await look(db, locker, visitor)
  if (seen.unlock !== null || seen.used === null) return seen
  return inTransaction(db, async (trx) => {
    const key = hashNumber(`${locker.lockerId}|${visitor.isTest}|${visitor.visitorId}`) % 0x7fff_ffff
    await sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.unlocks}::integer, ${key}::integer)`.execute(trx)
    const now = await look(trx, locker, visitor)
    if (now.unlock !== null || now.used === null) return now
    return { ...now, unlock: await unlock(trx, locker, visitor, now.used), ended: null }
  })
}

async function look(
  db: Db,
  locker: KnownLocker,
  visitor: LockerVisitor,
): Promise<Progress & { used: string[] | null }> {
  const { appId, isTest, userId } = userOf(visitor)
  const { rows: fresh } = await sql<Fresh>`
    SELECT c.conversion_id, c.offer_id, c.status, ${REWARD_STEPS}::bigint AS steps
    FROM conversions c JOIN apps a USING (app_id)
    WHERE c.app_id = ${appId} AND c.user_id = ${userId} AND c.is_test = ${isTest} AND c.locker_id = ${locker.lockerId}
      AND c.status IN ('approved', 'pending')
      AND NOT EXISTS (SELECT FROM locker_unlock_conversions u WHERE u.conversion_id = c.conversion_id)
    ORDER BY c.conversion_id LIMIT ${MAX_CONVERSIONS}`.execute(db)
  // After the conversions: an unlock that used them meanwhile is seen.
  const { rows: unlocks } = await sql<{ unlock_id: string; expires_at: Date; is_opened: boolean; is_valid: boolean }>`
    SELECT unlock_id, expires_at, opened_at IS NOT NULL AS is_opened, ${IS_VALID} AS is_valid FROM locker_unlocks
    WHERE locker_id = ${locker.lockerId} AND visitor_id = ${visitor.visitorId} AND is_test = ${isTest}
    ORDER BY is_valid DESC, unlock_id DESC LIMIT 1`.execute(db)
  const counted = fresh.filter(({ status }) => status === 'approved' || locker.settings.counts_pending)
  const offers = new Set(counted.map(({ offer_id }) => offer_id))
  const waiting = new Set(fresh.map(({ offer_id }) => offer_id).filter((id) => !offers.has(id)))
  const [last] = unlocks
  return {
    unlock: last?.is_valid === true ? { unlockId: last.unlock_id, expiresAt: last.expires_at } : null,
    ended: last === undefined || last.is_valid ? null : last.is_opened ? 'opened' : 'expired',
    offersDone: offers.size,
    rewardSteps: counted.reduce((sum, { steps }) => sum + steps, 0),
    pending: waiting.size,
    used: chooseConversions(locker, counted),
  }
}

/** The oldest that are enough, with all others of the same offers; null when there is not enough. */
function chooseConversions({ settings }: KnownLocker, counted: readonly Fresh[]): string[] | null {
  const { needed_offers, needed_reward } = settings
  if (needed_reward === null) {
    const offers = [...new Set(counted.map(({ offer_id }) => offer_id))].slice(0, needed_offers ?? 1)
    if (offers.length < (needed_offers ?? 1)) return null
    return counted.filter(({ offer_id }) => offers.includes(offer_id)).map(({ conversion_id }) => conversion_id)
  }
  let missing = Math.round(needed_reward * STEPS_PER_UNIT)
  const used: string[] = []
  for (const { conversion_id, steps } of counted) {
    used.push(conversion_id)
    missing -= steps
    if (missing <= 0) return used
  }
  return null
}

async function unlock(trx: Trx, locker: KnownLocker, visitor: LockerVisitor, conversionIds: string[]) {
  const unlockId = uuid7(Date.now())
  const { rows } = await sql<{ expires_at: Date }>`
    INSERT INTO locker_unlocks (unlock_id, locker_id, is_test, visitor_id, expires_at)
    VALUES (${unlockId}, ${locker.lockerId}, ${visitor.isTest}, ${visitor.visitorId},
      now() + ${locker.settings.unlocked_minutes} * interval '1 minute') RETURNING expires_at`.execute(trx)
  const values = conversionIds.map((conversion_id) => ({ conversion_id, unlock_id: unlockId }))
  await trx.insertInto('locker_unlock_conversions').values(values).execute()
  return { unlockId, expiresAt: rows[0]?.expires_at as Date }
}

export type Opened = 'opened' | 'locked' | 'full'

/**
 * Uses an unlock up. Again within a minute it counts as the same opening: an answer may be lost, and people click twice.
 * The limit of a link holds however many open it at once.
 */
export async function openLink(db: Db, { lockerId }: KnownLocker, unlockId: string): Promise<Opened> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ is_first: boolean }>`
      WITH before AS (
        SELECT opened_at, ${IS_VALID} AS is_valid FROM locker_unlocks WHERE unlock_id = ${unlockId} FOR UPDATE
      )
      UPDATE locker_unlocks u SET opened_at = coalesce(u.opened_at, now()) FROM before
      WHERE u.unlock_id = ${unlockId} AND before.is_valid
      RETURNING before.opened_at IS NULL AS is_first`.execute(trx)
    const [used] = rows
    if (used === undefined) return 'locked'
    if (!used.is_first) return 'opened'
    const { rows: counted } = await sql`
      UPDATE lockers SET opened = opened + 1 WHERE locker_id = ${lockerId}
        AND opened < coalesce((settings -> 'link' ->> 'click_limit')::bigint, opened + 1) RETURNING 1`.execute(trx)
    if (counted.length === 1) return 'opened'
    await sql`UPDATE locker_unlocks SET opened_at = NULL WHERE unlock_id = ${unlockId}`.execute(trx)
    return 'full'
  })
}
