// Writes to offers what budgets say: the catalogue, the links and the choice among offers for one product read it there.
import { sql } from 'kysely'
import type { Trx } from '../../../db/open.ts'

type State = { advertiserId: number; closedUntil: Date | typeof Infinity | null }

/**
 * Closes the offers of those whose budgets are used up, and opens all others that were closed: of one advertiser, or of
 * all. They are locked in the order in which imports lock offers, too, over all advertisers.
 */
export async function closeOffers(trx: Trx, states: readonly State[], advertiserId?: number): Promise<void> {
  const closed = states.filter(({ closedUntil }) => closedUntil !== null)
  const ids = closed.map((state) => state.advertiserId)
  const untils = closed.map(({ closedUntil }) => (closedUntil === Infinity ? 'infinity' : closedUntil))
  const isAsked = advertiserId === undefined ? sql`` : sql`AND advertiser_id = ${advertiserId}`
  await sql`
    WITH closed AS (
      SELECT * FROM unnest(${ids}::bigint[], ${untils}::timestamptz[]) AS c (advertiser_id, until)
    ), wrong AS (
      SELECT offer_id FROM closed JOIN offers USING (advertiser_id) WHERE budget_until IS DISTINCT FROM until
      UNION ALL
      SELECT offer_id FROM offers WHERE budget_until IS NOT NULL AND advertiser_id <> ALL (${ids}::bigint[]) ${isAsked}
    )
    UPDATE offers SET budget_until = (SELECT until FROM closed WHERE closed.advertiser_id = offers.advertiser_id)
    WHERE offer_id = ANY (ARRAY (
      SELECT offer_id FROM offers WHERE offer_id IN (SELECT offer_id FROM wrong) ORDER BY offer_id FOR NO KEY UPDATE))`.execute(
    trx,
  )
}
