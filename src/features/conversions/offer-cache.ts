// A cache of offers, kept between batches. Every batch reads which transaction changed its offers last, which is cheap,
// and reloads only those that changed since: goals change with their offer.
import { sql } from 'kysely'
import { camelColumns, camelJson, type Selected } from '../../db/camel-case.ts'
import type { Trx } from '../../db/open.ts'
import type { Goals, Offers } from '../../db/tables.ts'
import { Cache } from '../../lib/cache.ts'
import { CAP_COLUMN, type Caps } from '../offers/caps.ts'

const GOAL_COLUMNS = [
  'goal_id', 'external_id', 'name', 'is_retired', 'is_repeatable', 'payout_micros', 'revenue_micros', 'payout_ppm', 'revenue_ppm',
] as const satisfies (keyof Goals)[] // prettier-ignore
const OFFER_COLUMNS = [
  'offer_id', 'advertiser_id', 'name', 'description', 'category', 'payment_required', 'status', 'starts_at', 'ends_at', 'budget_until', 'over_cap', 'hold_s',
  'confirm_within_s', 'redo_after_reversal', 'terms_id', 'is_capped',
] as const satisfies (keyof Offers)[] // prettier-ignore

export type GoalSnapshot = Selected<Goals, typeof GOAL_COLUMNS>

export type OfferSnapshot = Selected<Offers, typeof OFFER_COLUMNS> & {
  caps: Caps
  /** Its external ID, where it comes from a feed. */
  feedOfferId: string | null
  /** In their order, retired ones included. */
  goals: GoalSnapshot[]
}

const REMEMBERED = 20_000

/** An offer, and the transaction that changed it last. */
export type OfferVersion = { offerId: number; version: string }

export class OfferCache {
  /** How often users had been erased at the last batch; null: not known yet. */
  moves: number | null = null
  readonly #known = new Cache<number, { version: string; offer: OfferSnapshot }>(REMEMBERED)

  /** The offers in these versions, or newer ones. */
  async read(trx: Trx, versions: readonly OfferVersion[]): Promise<Map<number, OfferSnapshot>> {
    const found = new Map<number, OfferSnapshot>()
    const unknown: number[] = []
    for (const { offerId, version } of versions) {
      const known = this.#known.get(offerId)
      if (known?.version === version) found.set(offerId, known.offer)
      else unknown.push(offerId)
    }
    if (unknown.length === 0) return found
    for (const { version, ...offer } of await readOffers(trx, unknown)) {
      found.set(offer.offerId, offer)
      this.#known.set(offer.offerId, { version, offer })
    }
    return found
  }
}

const CAPS = Object.entries(CAP_COLUMN).map(([cap, column]) => `'${cap}', offers.${column}`)

async function readOffers(trx: Trx, offerIds: number[]) {
  const { rows } = await sql<OfferSnapshot & OfferVersion>`/* commands-offers */
    SELECT ${sql.raw(camelColumns('offers', OFFER_COLUMNS))}, offers.changed_xid::text AS version,
      json_build_object(${sql.raw(CAPS.join(', '))}) AS caps,
      (SELECT f.external_id FROM feed_offers f WHERE f.offer_id = offers.offer_id) AS "feedOfferId",
      (SELECT json_agg(${sql.raw(camelJson('g', GOAL_COLUMNS))} ORDER BY g.place, g.goal_id)
        FROM goals g WHERE g.offer_id = offers.offer_id) AS goals
    FROM offers WHERE offer_id = ANY (${offerIds}::bigint[])`.execute(trx)
  return rows
}
