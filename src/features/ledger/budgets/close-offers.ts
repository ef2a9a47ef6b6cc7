// Writes to offers what budgets say: the catalogue, the links and the choice among offers for one product read it there.
import { sql } from 'kysely'
import type { Trx } from '../../../db/open.ts'

type State = { advertiserId: number; closedUntil: Date | typeof Infinity | null }

/** In the order in which imports lock offers, too. */
export async function closeOffers(trx: Trx, states: readonly State[]): Promise<void> {
  for (const { advertiserId, closedUntil } of states) {
    const until = closedUntil === Infinity ? 'infinity' : closedUntil
    await sql`
      UPDATE offers SET budget_until = ${until}::timestamptz WHERE offer_id = ANY (ARRAY (
        SELECT offer_id FROM offers WHERE advertiser_id = ${advertiserId}
          AND budget_until IS DISTINCT FROM ${until}::timestamptz ${closedUntil === null ? sql`AND budget_until IS NOT NULL` : sql``}
        ORDER BY offer_id FOR NO KEY UPDATE))`.execute(trx)
  }
}

/** Offers of advertisers whose budgets were removed. */
export async function openOthers(trx: Trx, states: readonly State[]): Promise<void> {
  await sql`
    UPDATE offers SET budget_until = NULL WHERE offer_id = ANY (ARRAY (
      SELECT offer_id FROM offers WHERE budget_until IS NOT NULL
        AND advertiser_id <> ALL (${states.map(({ advertiserId }) => advertiserId)}::bigint[])
      ORDER BY offer_id FOR NO KEY UPDATE))`.execute(trx)
}
