// Clicks are not deleted before they are exported, for a while.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'

/** How much longer clicks are kept for an export that fails. After that they go, and are counted as lost. */
const LONGEST_WAIT_DAYS = 30
const DAY_MS = 86_400_000
const NO_CLICK = '00000000-0000-0000-0000-000000000000'

type Day = { name: string; endsMs: number }

/** Whether the clicks of a day may go; of those that are not exported, those of days may that ended long before `beforeMs`. */
export const mayDropClicks =
  (target: string) =>
  async (trx: Trx, { name, endsMs }: Day, beforeMs: number): Promise<boolean> => {
    const position = trx.selectFrom('export_positions').where('target', '=', target).where('kind', '=', 'clicks')
    const { through = 0, old_through = NO_CLICK } =
      (await position.select(['through', 'old_through']).executeTakeFirst()) ?? {}
    const numbered = sql`FROM ${sql.table(name)} WHERE click_no > ${through}::bigint`
    const others = sql`FROM ${sql.table(name)} WHERE click_no IS NULL AND click_id > ${old_through}::uuid
      AND click_id <= (SELECT last_id FROM unnumbered_clicks)`
    const { rows } = await sql<{ found: boolean }>`
      SELECT EXISTS (SELECT ${numbered}) OR EXISTS (SELECT ${others}) AS found`.execute(trx)
    if (rows[0]?.found === false) return true
    if (endsMs > beforeMs - LONGEST_WAIT_DAYS * DAY_MS) return false
    await sql`UPDATE export_positions SET lost_rows = lost_rows + (SELECT count(*) ${numbered}) + (SELECT count(*) ${others})
      WHERE target = ${target} AND kind = 'clicks'`.execute(trx)
    return true
  }
