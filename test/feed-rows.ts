import { FEED_DEFAULTS } from '../src/features/feeds/feed-settings.ts'
import { createFeed } from '../src/features/feeds/feeds.ts'
import { FIELDS, showFields } from '../src/features/offers/fields.ts'
import { showOffer } from '../src/features/offers/offers.ts'
import type { Deal } from './conversion-rows.ts'
import { TESTER } from './tester.ts'
import { SECRET_KEY, type World } from './world.ts'

/** A feed with the deal's offer, whose name was edited here, and whose payout waits. Returns its ID. */
export async function createFeedOf(
  { database: { db, pool } }: World,
  { offerId, advertiserId }: Pick<Deal, 'offerId' | 'advertiserId'>,
  name = 'Feed',
): Promise<number> {
  const kind = { preset: 'cpalead' }
  const feed = { name, advertiserId, kind, credentials: { publisher: '1' }, settings: FEED_DEFAULTS }
  const { feedId } = await createFeed(db, TESTER, SECRET_KEY, feed)
  const applied = { ...showFields(FIELDS, await showOffer(db, offerId)), name: 'As the feed had it' }
  await pool.query(
    `INSERT INTO feed_offers (feed_id, external_id, offer_id, hash, applied, held_hash, held_payout)
     VALUES ($1, 'held', $2, 'x', $3, 'y', '{"before": 1, "after": 2}')`,
    [feedId, offerId, JSON.stringify(applied)],
  )
  return feedId
}

/** Of another feed, a run that was refused for what would be paused. */
export async function createRefusedRun(
  { database: { db } }: World,
  { advertiserId }: Pick<Deal, 'advertiserId'>,
  name = 'Refused',
): Promise<RefusedRun> {
  const feed = { name, advertiserId, kind: { preset: 'cpalead' }, credentials: { publisher: '1' }, settings: FEED_DEFAULTS } // prettier-ignore
  const { feedId } = await createFeed(db, TESTER, SECRET_KEY, feed)
  const run = { feed_id: feedId, is_preview: false, ended_at: new Date(), outcome: 'refused', gone: 4 }
  const { run_id } = await db.insertInto('feed_runs').values(run).returning('run_id').executeTakeFirstOrThrow()
  return { feedId, runId: run_id }
}

export type RefusedRun = { feedId: number; runId: number }
type Step = readonly [id: string, method: string, path: string, body?: object]

/** Every operation that changes a feed, its offers or rates. */
export const feedSteps = (feedId: number, refused: RefusedRun, offer: string): Step[] => [
  ['createFeed', 'POST', '/feeds', { name: 'New feed', preset: 'cpalead', credentials: { publisher: '1' }, settings: { share_percent: 70 } }], // prettier-ignore
  ['changeFeed', 'PATCH', `/feeds/${feedId}`, { name: 'Renamed' }],
  ['resumeFeed', 'POST', `/feeds/${feedId}/resume`],
  ['pauseFeed', 'POST', `/feeds/${feedId}/pause`],
  ['previewFeed', 'POST', `/feeds/${feedId}/preview`],
  ['runFeed', 'POST', `/feeds/${feedId}/run`],
  ['applyRefusedFeedRun', 'POST', `/feeds/${refused.feedId}/runs/${refused.runId}/apply`],
  ['approveHeldPayouts', 'POST', `/feeds/${feedId}/approve`, { external_ids: ['held'] }],
  ['releasePinnedFields', 'POST', `${offer}/follow-feed`, { fields: ['name'] }],
  ['setProductRule', 'PUT', '/product-rule', { rule: 'best_epc', order: [] }],
  ['setCurrencyRates', 'PUT', '/rates', { rates: [{ currency: 'EUR', day: '2026-11-01', usd: '1.1' }] }],
  ['importCurrencyRates', 'POST', '/rates/import', { csv: 'currency,day,usd\nJPY,2026-11-01,0.0065\n' }],
  ['removeFeed', 'DELETE', `/feeds/${feedId}`],
]
