// A cache of offers, kept between batches. Every batch reads which transaction changed its offers last, which is cheap,
// and reloads only those that changed since: goals change with their offer.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { Cache } from '../../lib/cache.ts'
import { CAP_COLUMNS, type CapRow, capsOf } from '../offers/caps.ts'
import type { OfferSnapshot } from './decision-context.ts'

const REMEMBERED = 20_000

export type OfferVersion = { offer_id: number; changed_xid: string }

export class OfferCache {
  readonly #known = new Cache<number, { version: string; offer: OfferSnapshot }>(REMEMBERED)

  /** The offers in these versions, or newer ones. */
  async read(trx: Trx, versions: readonly OfferVersion[]): Promise<Map<number, OfferSnapshot>> {
    const found = new Map<number, OfferSnapshot>()
    const unknown: number[] = []
    for (const { offer_id, changed_xid } of versions) {
      const known = this.#known.get(offer_id)
      if (known?.version === changed_xid) found.set(offer_id, known.offer)
      else unknown.push(offer_id)
    }
    if (unknown.length === 0) return found
    for (const { changed_xid, ...row } of await readOffers(trx, unknown)) {
      const offer = { ...row, caps: capsOf(row) }
      found.set(row.offer_id, offer)
      this.#known.set(row.offer_id, { version: changed_xid, offer })
    }
    return found
  }
}

async function readOffers(trx: Trx, offerIds: number[]) {
  const { rows } = await sql<Omit<OfferSnapshot, 'caps'> & CapRow & OfferVersion>`/* commands-offers */
    SELECT offer_id, changed_xid::text AS changed_xid, advertiser_id, name, description, category, payment_required, status, starts_at,
      ends_at, over_cap, hold_s, confirm_within_s, redo_after_reversal, terms_id, is_capped, ${sql.raw(CAP_COLUMNS.join(', '))},
      (SELECT json_agg(json_build_object('goal_id', g.goal_id, 'external_id', g.external_id, 'name', g.name, 'is_retired', g.is_retired,
        'is_repeatable', g.is_repeatable, 'payout_micros', g.payout_micros, 'revenue_micros', g.revenue_micros,
        'payout_ppm', g.payout_ppm, 'revenue_ppm', g.revenue_ppm) ORDER BY g.place, g.goal_id)
        FROM goals g WHERE g.offer_id = offers.offer_id) AS goals
    FROM offers WHERE offer_id = ANY (${offerIds}::bigint[])`.execute(trx)
  return rows
}
