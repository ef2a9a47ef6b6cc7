// Tickets are kept for as long as users may ask about them; their images, which are large and private, for less long.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

const IMAGE_DAYS = 90
const AT_ONCE = 500

export async function forgetOldTickets(db: Db, now: Date, keepDays: number): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * 86_400_000)
  for (let gone = AT_ONCE; gone === AT_ONCE;) {
    const result = await sql`DELETE FROM ticket_images WHERE message_id IN (
      SELECT message_id FROM ticket_images WHERE created_at < ${before(Math.min(IMAGE_DAYS, keepDays))} ORDER BY created_at LIMIT ${sql.lit(AT_ONCE)})`.execute(
      db,
    )
    gone = Number(result.numAffectedRows ?? 0)
  }
  for (let gone = AT_ONCE; gone === AT_ONCE;) {
    const result = await sql`DELETE FROM tickets WHERE updated_at < ${before(keepDays)} AND ticket_id IN (
      SELECT ticket_id FROM tickets WHERE updated_at < ${before(keepDays)} ORDER BY updated_at LIMIT ${sql.lit(AT_ONCE)})`.execute(
      db,
    )
    gone = Number(result.numAffectedRows ?? 0)
  }
}
