// Offers that pass from one feed of an advertiser to another, with what was edited, paused and completed: they would be
// skipped for ever otherwise, as those of another feed.
import { sql } from 'kysely'
import { withRetry } from '../../db/pg-errors.ts'
import { type Db, inTransaction } from '../../db/open.ts'
import { holdRun } from './run-fence.ts'

/**
 * Of an offer `f` of the feed `owner`: whether a feed may have it that brings it now. Its own is removed, or has paused it
 * as gone; one whose payout waits is not gone.
 */
export const isFree = sql<boolean>`(owner.removed_at IS NOT NULL OR f.applied ->> 'status' = 'paused' AND f.held_hash IS NULL AND f.approved_paid IS NULL)`

/** What the run has fetched and no other feed has any more. */
export async function takeOver(db: Db, feedId: number, runId: number): Promise<void> {
  const take = () => inTransaction(db, async (trx) => {
    await holdRun(trx, runId)
    await sql`UPDATE feed_offers f SET feed_id = own.feed_id FROM feeds own, feeds owner, feed_staging s
      WHERE own.feed_id = ${feedId} AND owner.advertiser_id = own.advertiser_id AND owner.feed_id <> own.feed_id
        AND s.run_id = ${runId} AND f.feed_id = owner.feed_id AND f.external_id = s.external_id AND ${isFree}`.execute(trx)
  }) // prettier-ignore
  await withRetry(take)
}
