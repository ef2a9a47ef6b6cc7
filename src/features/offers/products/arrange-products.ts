// The worker's part: notes which offers wait behind another one for the same product.
import { sql } from 'kysely'
import { LOCKS } from '../../../db/locks.ts'
import type { Db, Trx } from '../../../db/open.ts'
import { withRetry } from '../../../db/pg-errors.ts'
import { tryLock } from '../../../db/try-lock.ts'
import type { Category } from '../choices.ts'
import { readLatestRanking } from '../ranking/read-rankings.ts'
import { JudgedOffers, readAppRules, UNJUDGED } from './app-rules.ts'
import { chooseShown, type ProductRule, type Rival } from './choose.ts'

/** Returns how many offers changed their place. */
export async function arrangeProducts(db: Db, judged = new JudgedOffers()): Promise<number> {
  return withRetry(() =>
    db.transaction().execute(async (trx) => ((await tryLock(trx, LOCKS.products)) ? arrange(trx, judged) : 0)),
  )
}

async function arrange(trx: Trx, judged: JudgedOffers): Promise<number> {
  const settings = await trx.selectFrom('network_settings').select(['product_rule', 'product_order']).executeTakeFirstOrThrow() // prettier-ignore
  const rule = settings.product_rule as ProductRule
  const rows = rule === 'all' ? [] : await readRivals(trx)
  const worth = await createWorth(trx, rule, settings.product_order)
  const rules = await readAppRules(trx)
  const known = await judged.read(trx, rows, rules)
  const rivals = rows.map((row): Rival => ({ ...(known.get(row.offer_id) ?? UNJUDGED), offerId: row.offer_id, product: row.product, isOpen: row.is_open, worth: worth(row), countries: row.countries, platforms: row.platforms, category: row.category, paymentRequired: row.payment_required })) // prettier-ignore
  const chosen = [...chooseShown(rivals, rules.minRewards)].filter(([, other]) => other !== null)
  const { numAffectedRows } = await sql`
    WITH chosen AS (SELECT * FROM unnest(${chosen.map(([offerId]) => offerId)}::bigint[], ${chosen.map(([, other]) => other)}::bigint[]) AS c (offer_id, behind))
    UPDATE offers o SET behind_offer_id = c.behind
    FROM (SELECT offer_id, behind FROM chosen
      UNION ALL SELECT offer_id, NULL FROM offers WHERE behind_offer_id IS NOT NULL AND offer_id NOT IN (SELECT offer_id FROM chosen)) AS c
    WHERE o.offer_id = c.offer_id AND o.behind_offer_id IS DISTINCT FROM c.behind`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

type Row = {
  offer_id: number
  changed_xid: string
  advertiser_id: number
  product: string
  payout_micros: number
  countries: string[]
  platforms: string[]
  category: string
  payment_required: boolean
  is_open: boolean
}

/** Offers that are allowed or blocked for single publishers are always listed as themselves. */
async function readRivals(trx: Trx): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT offer_id, changed_xid::text, advertiser_id, product, payout_micros, countries, platforms, category, payment_required,
      status = 'active' AND coalesce(starts_at <= now(), true) AND coalesce(ends_at > now(), true) AND coalesce(greatest(full_until, budget_until) <= now(), true) AS is_open
    FROM offers
    WHERE product IN (SELECT product FROM offers WHERE product IS NOT NULL GROUP BY product HAVING count(*) > 1)
      AND NOT EXISTS (SELECT FROM publisher_offers p WHERE p.offer_id = offers.offer_id)`.execute(trx)
  return rows
}

async function createWorth(trx: Trx, rule: ProductRule, order: readonly number[]): Promise<(row: Row) => number[]> {
  if (rule === 'fixed_order') {
    const places = new Map(order.map((advertiserId, place) => [advertiserId, order.length - place]))
    return (row) => [places.get(row.advertiser_id) ?? 0, row.payout_micros]
  }
  const ranking = rule === 'best_epc' ? await readLatestRanking(trx) : null
  if (ranking === null) return (row) => [row.payout_micros]
  return (row) => [ranking.epcMicros({ offerId: row.offer_id, category: row.category as Category, payoutMicros: row.payout_micros }), row.payout_micros] // prettier-ignore
}
