// What an operator decides about offers of a feed: payouts that wait, and fields that follow the feed again.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { findOffers } from '../offers/offers.ts'
import { pick, pinnedFields, plainOf, type ShownRecord } from './pinned-fields.ts'

export type Held = { external_id: string; offer_id: number; name: string; payout_before: number; payout_after: number }

/** By external ID. */
export async function listHeld(db: Db, feedId: number, after: string, limit: number): Promise<Held[]> {
  const { rows } = await sql<Held>`
    SELECT f.external_id, f.offer_id, o.name, (f.held_payout ->> 'before')::float8 AS payout_before, (f.held_payout ->> 'after')::float8 AS payout_after
    FROM feed_offers f JOIN offers o USING (offer_id)
    WHERE f.feed_id = ${feedId} AND f.held_hash IS NOT NULL AND f.external_id > ${after}
    ORDER BY f.external_id LIMIT ${limit}`.execute(db)
  return rows
}

/** Their payouts change with the next run, which is due now; a payout that has changed again waits again. */
export async function approveHeld(db: Db, by: Actor, feedId: number, externalIds: readonly string[]): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ external_id: string }>`
      UPDATE feed_offers SET approved_paid = held_paid, approved_hash = held_hash, held_hash = NULL, held_payout = NULL, held_paid = NULL
      WHERE feed_id = ${feedId} AND external_id = ANY (${[...externalIds]}::text[]) AND held_hash IS NOT NULL RETURNING external_id`.execute(trx)
    if (rows.length === 0) return 0
    await readAgain(trx, feedId)
    await recordAudit(trx, by, { action: 'feed.approve', subject: feedId, details: { external_ids: rows.map(({ external_id }) => external_id).slice(0, 200), offers: rows.length } }) // prettier-ignore
    return rows.length
  }) // prettier-ignore
}

/** Everything is read at the next run, which is due now, also what has not changed. */
export const readAgain = (trx: Trx, feedId: number) =>
  sql`UPDATE feeds SET validators = '{}', due_at = now(), updated_at = now() WHERE feed_id = ${feedId}`.execute(trx)

export type Pin = { field: string; feed_value: unknown }
export type FeedOfOffer = { feed_id: number; name: string; external_id: string; pinned: Pin[] }

type Row = { feed_id: number; name: string; external_id: string; applied: ShownRecord; unapplied: ShownRecord | null }

const findRow = async (db: Db, offerId: number): Promise<Row | undefined> =>
  (await sql<Row>`SELECT f.feed_id, feeds.name, f.external_id, f.applied, f.unapplied FROM feed_offers f JOIN feeds USING (feed_id) WHERE f.offer_id = ${offerId} AND removed_at IS NULL`.execute(db)).rows[0] // prettier-ignore

/** The feed that an offer comes from, and what in it is not as the feed wrote it; null: from none. */
export async function findFeedOfOffer(db: Db, offerId: number): Promise<FeedOfOffer | null> {
  const row = await findRow(db, offerId)
  const [offer] = row === undefined ? [] : await findOffers(db, [offerId])
  if (row === undefined || offer === undefined) return null
  const { applied, unapplied, ...feed } = row
  const said: ShownRecord = { ...applied, ...unapplied }
  return { ...feed, pinned: pinnedFields(offer, applied).map((field) => ({ field, feed_value: said[field] ?? null })) }
}

/** These fields follow the feed again, from its next run on, which is due now. */
export async function releasePins(db: Db, by: Actor, offerId: number, fields: readonly string[]): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    await sql`SELECT FROM offers WHERE offer_id = ${offerId} FOR NO KEY UPDATE`.execute(trx)
    const row = await findRow(trx, offerId)
    const [offer] = await findOffers(trx, [offerId])
    if (row === undefined || offer === undefined) throw new NoSuch('feed', `of offer ${offerId}`)
    const released = pinnedFields(offer, row.applied).filter((field) => fields.includes(field))
    if (released.length === 0) return []
    const applied = JSON.stringify(pick(plainOf(offer), released))
    await sql`UPDATE feed_offers SET applied = applied || ${applied}::jsonb, hash = '' WHERE offer_id = ${offerId}`.execute(trx)
    await readAgain(trx, row.feed_id)
    await recordAudit(trx, by, { action: 'offer.follow_feed', subject: offerId, details: { feed: row.name, fields: released } }) // prettier-ignore
    return released
  }) // prettier-ignore
}
