// Removing a feed: it is not fetched any more, and its credentials are forgotten. Its offers are paused, and stay with
// what users were promised. A later feed of the same advertiser takes them over.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { type Actor, recordAuditAlone, recordParts } from '../accounts/audit.ts'
import { changeStatuses } from '../offers/offers.ts'
import { lockFeed, pauseFeed, sealCredentials } from './feeds.ts'
import { BATCH } from './plan.ts'
import { endRunOf } from './run-fence.ts'

/** Offers go in batches: where one fails, removing the feed again goes on. Returns how many were paused. */
export async function removeFeed(db: Db, by: Actor, secretKey: string, feedId: number): Promise<number> {
  const { name } = await inTransaction(db, (trx) => lockFeed(trx, feedId))
  await pauseFeed(db, by, feedId, true)
  const auditId = await recordAuditAlone(db, by, { action: 'feed.remove', subject: feedId, details: { name } })
  const pauseBatch = () => inTransaction(db, async (trx) => {
    const { changed } = await changeStatuses(trx, await findActive(trx, feedId), 'paused')
    const ids = changed.map(({ offer_id }) => offer_id)
    await sql`UPDATE feed_offers SET applied = applied || '{"status": "paused"}' WHERE offer_id = ANY (${ids}::bigint[])`.execute(trx)
    await recordParts(trx, by, auditId, ids.map((subject) => ({ action: 'offer.feed', subject, details: { feed: name, removed: true } })))
    return ids.length
  }) // prettier-ignore
  let paused = 0
  do for (let some = await pauseBatch(); some > 0; some = await pauseBatch()) paused += some
  while (!(await inTransaction(db, (trx) => markRemoved(trx, secretKey, feedId))))
  return paused
}

const findActive = async (trx: Trx, feedId: number, limit = BATCH): Promise<number[]> =>
  (await sql<{ offer_id: number }>`
    SELECT offer_id FROM feed_offers JOIN offers USING (offer_id) WHERE feed_id = ${feedId} AND status = 'active'
    ORDER BY offer_id LIMIT ${limit}`.execute(trx)).rows.map(({ offer_id }) => offer_id) // prettier-ignore

/** False where the feed was resumed meanwhile, and a run brought offers. */
async function markRemoved(trx: Trx, secretKey: string, feedId: number): Promise<boolean> {
  await lockFeed(trx, feedId)
  await endRunOf(trx, feedId, 'removed')
  if ((await findActive(trx, feedId, 1)).length > 0) return false
  const credentials = sealCredentials(secretKey, feedId, {})
  await sql`UPDATE feeds SET removed_at = now(), is_paused = true, credentials = ${credentials} WHERE feed_id = ${feedId}`.execute(trx) // prettier-ignore
  await sql`UPDATE feed_offers SET held_hash = NULL, held_payout = NULL, held_paid = NULL, approved_paid = NULL WHERE feed_id = ${feedId}`.execute(trx) // prettier-ignore
  return true
}
