// Conversions are kept for good, the IP addresses of their users are not: after some time only a dispute about fraud could
// need them. Walks on in the order of conversions, and remembers how far it came.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { tryLock } from '../../db/try-lock.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'

const AT_ONCE = 500
const DAY_MS = 86_400_000

/** Of conversions that are older than that, and of their history. Returns how many it looked at. */
export async function forgetOldAddresses(db: Db, now: Date, keepDays: number): Promise<number> {
  const before = uuid7Floor(now.getTime() - keepDays * DAY_MS)
  for (let looked = 0; ;) {
    const count = await db.transaction().execute((trx) => forgetSome(trx, before))
    looked += count
    if (count < AT_ONCE) return looked
  }
}

async function forgetSome(trx: Trx, before: string): Promise<number> {
  if (!(await tryLock(trx, LOCKS.erasures))) return 0 // at the next look
  const { rows } = await sql<{ conversion_id: string }>`
    SELECT conversion_id FROM conversions WHERE conversion_id > (SELECT conversion_id FROM address_retention) AND conversion_id < ${before}::uuid
    ORDER BY conversion_id LIMIT ${sql.lit(AT_ONCE)}`.execute(trx)
  const ids = rows.map((row) => row.conversion_id)
  const last = ids.at(-1)
  if (last === undefined) return 0
  await sql`SELECT set_config('offerdeck.erasure', 'addresses', true)`.execute(trx)
  await sql`UPDATE conversions SET ip = NULL WHERE conversion_id = ANY (${ids}::uuid[]) AND ip IS NOT NULL`.execute(trx)
  await sql`UPDATE conversion_events SET ip = NULL WHERE conversion_id = ANY (${ids}::uuid[]) AND ip IS NOT NULL`.execute(
    trx,
  )
  await sql`UPDATE address_retention SET conversion_id = ${last}::uuid`.execute(trx)
  return ids.length
}
