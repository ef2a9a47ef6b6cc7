// Feeds and their runs, as operators look at them. Credentials are not among what is read.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Reference } from '../../lib/reference.ts'

const COUNTS = sql<{ offers: number; active_offers: number; held_offers: number }>`(
  SELECT count(*)::int AS offers, count(*) FILTER (WHERE o.status = 'active')::int AS active_offers,
    count(f.held_hash)::int AS held_offers
  FROM feed_offers f JOIN offers o USING (offer_id) WHERE f.feed_id = feeds.feed_id)`

/** `after` is the last one of the previous page. */
export type FeedFilter = { feedId?: number; after?: number }

/** By name, each with its latest run. */
export async function listFeeds(db: Db, { feedId, after }: FeedFilter = {}, limit?: number) {
  const feeds = await db
    .selectFrom('feeds')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'feeds.advertiser_id')
    .innerJoinLateral(COUNTS.as<'counts'>('counts'), (join) => join.onTrue())
    .select([
      'feed_id',
      'feeds.name',
      'feeds.advertiser_id',
      'advertisers.name as advertiser',
      'preset',
      'is_paused',
      'due_at',
      'failures',
      'settings',
    ]) // prettier-ignore
    .select(['counts.offers', 'counts.active_offers', 'counts.held_offers'])
    .where('removed_at', 'is', null)
    .$if(feedId !== undefined, (query) => query.where('feed_id', '=', feedId as number))
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`feeds.name > (SELECT name FROM feeds WHERE feed_id = ${after}::bigint)`),
    )
    .$if(limit !== undefined, (query) => query.limit(limit as number))
    .orderBy('feeds.name')
    .execute()
  const latest = await db
    .selectFrom('feed_runs')
    .distinctOn('feed_id')
    .selectAll()
    .where('is_preview', '=', false)
    .where((is) => is('feed_id', '=', is.fn.any(is.val(feeds.map((feed) => feed.feed_id)))))
    .orderBy('feed_id')
    .orderBy('run_id', 'desc')
    .execute()
  const byFeed = new Map(latest.map((run) => [run.feed_id, run]))
  return feeds.map((feed) => ({ ...feed, latest: byFeed.get(feed.feed_id) ?? null }))
}

export type ListedFeed = Awaited<ReturnType<typeof listFeeds>>[number]

export const feedExists = async (db: Db, feedId: number): Promise<boolean> =>
  (await db
    .selectFrom('feeds')
    .select('feed_id')
    .where('feed_id', '=', feedId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()) !== undefined

/** Newest first. */
export const listRuns = (db: Db, feedId: number, limit: number, before: number | null) =>
  db
    .selectFrom('feed_runs')
    .selectAll()
    .where('feed_id', '=', feedId)
    .$if(before !== null, (query) => query.where('run_id', '<', before as number))
    .orderBy('run_id', 'desc')
    .limit(limit)
    .execute()

export const readRun = (db: Db, runId: number) =>
  db.selectFrom('feed_runs').selectAll().where('run_id', '=', runId).executeTakeFirst()

export type FeedRun = NonNullable<Awaited<ReturnType<typeof readRun>>>

export type ChangeFilter = { kind: string | null; after: { kind: string; externalId: string } | null }

/** What it did, or would do, with each offer that did not stay as it was. */
export const listChanges = (
  db: Db,
  runId: number,
  limit: number,
  { kind, after }: ChangeFilter = { kind: null, after: null },
) =>
  // prettier-ignore
  db
    .selectFrom('feed_changes')
    .select(['external_id', 'name', 'offer_id', 'kind', 'details'])
    .where('run_id', '=', runId)
    .$if(kind !== null, (query) => query.where('kind', '=', kind))
    .$if(after !== null, (query) => query.where(sql<boolean>`(kind, external_id) > (${after?.kind}, ${after?.externalId})`))
    .orderBy('kind')
    .orderBy('external_id')
    .limit(limit)
    .execute()

export async function countChanges(db: Db, runId: number): Promise<number> {
  const { rows } = await sql<{ all: number }>`SELECT count(*)::int AS all FROM feed_changes WHERE run_id = ${runId}`.execute(db)
  return rows[0]?.all ?? 0
} // prettier-ignore

export const matchFeeds = (db: Db, { id, name }: Reference) =>
  db
    .selectFrom('feeds')
    .select(['feed_id', 'name'])
    .where('removed_at', 'is', null)
    .where((is) => is.or([is('feed_id', '=', id), is('name', '=', name)]))
    .execute()
