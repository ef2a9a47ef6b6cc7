// What is deleted of lockers, in small steps. A conversion that was used stays used (locker_unlock_conversions), a proof that
// is gone is refused like one that never was, and lockers.unlocks counts unlocks that are gone, too.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 500

export async function forgetOldUnlocks(db: Db, now: Date, keepDays: number): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const atOnce = sql.lit(AT_ONCE)
  // Those that were redeemed go with their unlock: until then they count towards how many it may have.
  await repeat(db, sql`DELETE FROM locker_proofs WHERE redeemed_at IS NULL AND proof_id IN (
    SELECT proof_id FROM locker_proofs WHERE redeemed_at IS NULL AND expires_at < ${before(1)} ORDER BY expires_at LIMIT ${atOnce})`) // prettier-ignore
  await repeat(db, sql`DELETE FROM locker_unlocks WHERE unlock_id IN (
    SELECT unlock_id FROM locker_unlocks WHERE expires_at < ${before(keepDays)} ORDER BY expires_at LIMIT ${atOnce})`) // prettier-ignore
  await repeat(db, sql`DELETE FROM locker_reports WHERE report_id IN (
    SELECT report_id FROM locker_reports WHERE closed_at < ${before(keepDays)} ORDER BY closed_at LIMIT ${atOnce})`) // prettier-ignore
  await repeat(db, sql`DELETE FROM locker_wrong_passwords WHERE (day, locker_id, network) IN (
    SELECT day, locker_id, network FROM locker_wrong_passwords WHERE day < ${before(1).toISOString().slice(0, 10)}::date LIMIT ${atOnce})`) // prettier-ignore
}

async function repeat(db: Db, deletion: RawBuilder<unknown>): Promise<void> {
  for (let gone = AT_ONCE; gone === AT_ONCE;) gone = Number((await deletion.execute(db)).numAffectedRows ?? 0)
}
