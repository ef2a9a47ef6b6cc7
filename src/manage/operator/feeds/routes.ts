// Feeds: offers of other networks.
import { badRequest, InvalidInput, NoSuch } from '../../../errors.ts'
import { findAdvertiserName } from '../../../features/accounts/advertisers.ts'
import { listFeeds } from '../../../features/feeds/feed-list.ts'
import { showSettings } from '../../../features/feeds/feed-settings.ts'
import {
  changeFeed,
  createFeed,
  type Feed,
  type FeedChange,
  pauseFeed,
  readFeed,
} from '../../../features/feeds/feeds.ts'
import { readFeedChange, readNewFeed } from '../../../features/feeds/given-feed.ts'
import { checkRequest } from '../../../features/feeds/mapping/check.ts'
import { removeFeed } from '../../../features/feeds/remove-feed.ts'
import { presetOf, PRESETS } from '../../../features/feeds/presets/presets.ts'
import { notesFor, postbackUrlFor } from '../../../features/feeds/way-back.ts'
import { cutPage } from '../../../http/paging.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { OK, Ok } from '../../shapes.ts'
import { TOKEN_PLACE } from '../../callback-shapes.ts'
import { productRoutes } from './products.ts'
import { rateRoutes } from './rates.ts'
import { feedRunRoutes, presentRun } from './runs.ts'
import { ChangedFeed, CreatedFeed, FeedList, FeedListQuery, FeedParams, NewFeed, Presets, RemovedFeed, ShownFeed } from './schema.ts' // prettier-ignore
import { tryRoutes } from './try.ts'

const TAG = 'Feeds'
const LIMIT = 20

export function feedsRoutes(routes: ManageRoutes, context: ManageContext): void {
  const { db, secretKey, config } = context

  routes.get('/feed-presets', {
    id: 'listFeedPresets',
    summary: 'List supported networks',
    about: 'With the credentials, request and mapping of each.',
    tag: TAG,
    access: 'operator',
    reply: Presets,
    run: async () => ({
      presets: PRESETS.map(({ key, title, website, currency, every, credentials, request, mapping, back }) => ({
        preset: key,
        title,
        website,
        currency,
        every,
        credentials: credentials.map(({ name, label, hint = null, secret }) => ({ name, label, hint, is_secret: secret })), // prettier-ignore
        postback_secret: back.signed?.label ?? null,
        request,
        mapping,
      })),
    }),
  })

  routes.get('/feeds', {
    id: 'listFeeds',
    summary: 'List feeds',
    about: 'By name, each with its latest run.',
    tag: TAG,
    access: 'operator',
    query: FeedListQuery,
    reply: FeedList,
    async run({ query: { cursor, limit = LIMIT } }) {
      const found = await listFeeds(db, cursor === undefined ? {} : { after: Number(cursor) }, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (one) => String(one.feed_id))
      return { feeds: page.map(presentListed), next_cursor: nextCursor }
    },
  })

  routes.post('/feeds', {
    id: 'createFeed',
    summary: 'Add a feed',
    about: 'A new feed is paused: preview it, then resume it. Without an advertiser, one with the same name is created, and its token is returned once.', // prettier-ignore
    tag: TAG,
    access: 'operator',
    sensitive: true,
    body: NewFeed,
    reply: CreatedFeed,
    async run({ body, by }) {
      const given = readNewFeed({ ...body, settings: body.settings ?? {} })
      const advertiserId = body.advertiser_id ?? null
      if (advertiserId !== null && (await findAdvertiserName(db, advertiserId)) === null) throw badRequest({ advertiser_id: 'There is no such advertiser.' }) // prettier-ignore
      const { feedId, token } = await createFeed(db, by, secretKey, { ...given, name: body.name.trim(), advertiserId, postbackSecret: body.postback_secret ?? '' }) // prettier-ignore
      return { feed: await show(feedId), token }
    },
  })

  routes.get('/feeds/:feed_id', {
    id: 'showFeed',
    summary: 'Get a feed',
    about: 'Its settings, request and mapping, and the URL to paste into the network’s system.',
    tag: TAG,
    access: 'operator',
    params: FeedParams,
    reply: ShownFeed,
    run: async ({ params }) => show(params.feed_id),
  })

  routes.patch('/feeds/:feed_id', {
    id: 'changeFeed',
    summary: 'Change a feed',
    about: 'Fields that you leave out stay unchanged. The next run reads all offers again.',
    tag: TAG,
    access: 'operator',
    sensitive: true,
    params: FeedParams,
    body: ChangedFeed,
    reply: ShownFeed,
    async run({ params: { feed_id }, body, by }) {
      const { remove_credentials: removed = [], ...given } = body
      await find(feed_id)
      await changeFeed(db, by, secretKey, feed_id, (feed) =>
        removeCredentials(feed, readFeedChange(feed, given), removed),
      )
      return show(feed_id)
    },
  })

  for (const [word, isPaused] of [
    ['pause', true],
    ['resume', false],
  ] as const)
    // prettier-ignore
    routes.post(`/feeds/:feed_id/${word}`, {
      id: `${word}Feed`,
      summary: isPaused ? 'Pause a feed' : 'Start or resume a feed',
      about: isPaused ? 'The feed is no longer fetched. Its offers stay as they are.' : 'The first run starts immediately; later runs follow the schedule.', // prettier-ignore
      tag: TAG,
      access: 'operator',
      params: FeedParams,
      reply: Ok,
      async run({ params: { feed_id }, by }) {
        await find(feed_id)
        await pauseFeed(db, by, feed_id, isPaused)
        return OK
      },
    })

  routes.delete('/feeds/:feed_id', {
    id: 'removeFeed',
    summary: 'Remove a feed',
    about: 'The feed is no longer fetched, its credentials are deleted, and its offers are paused. Late conversions still count. A new feed of the same advertiser takes over its offers.', // prettier-ignore
    tag: TAG,
    access: 'operator',
    sensitive: true,
    params: FeedParams,
    reply: RemovedFeed,
    async run({ params: { feed_id }, by }) {
      await find(feed_id)
      return { paused_offers: await removeFeed(db, by, secretKey, feed_id) }
    },
  })

  feedRunRoutes(routes, context)
  tryRoutes(routes, context)
  rateRoutes(routes, context)
  productRoutes(routes, context)

  const find = (feedId: number) =>
    readFeed(db, secretKey, feedId).catch((error: unknown) => {
      throw error instanceof NoSuch ? notThere('There is no such feed.') : error
    })

  async function show(feedId: number) {
    const feed = await find(feedId)
    const [listed] = await listFeeds(db, { feedId })
    const back = feed.preset === null ? undefined : presetOf(feed.preset)?.back
    return {
      ...presentListed(listed!),
      settings: showSettings(feed.settings),
      credentials: Object.keys(feed.credentials),
      request: feed.request,
      mapping: feed.mapping,
      postback_url: postbackUrlFor(back, config.publicUrl, TOKEN_PLACE),
      token_place: TOKEN_PLACE,
      notes: notesFor(back),
    }
  }
}

/** Those that the request needs stay. */
function removeCredentials(feed: Feed, change: FeedChange, names: readonly string[]): FeedChange {
  if (names.length === 0) return change
  const all = Object.entries(change.credentials ?? feed.credentials)
  const credentials = Object.fromEntries(all.filter(([name]) => !names.includes(name)))
  const problems = checkRequest(change.own?.request ?? feed.request, Object.keys(credentials))
  if (problems.length > 0) throw new InvalidInput(problems)
  return { ...change, credentials }
}

function presentListed({
  settings: _settings,
  latest,
  due_at,
  ...feed
}: Awaited<ReturnType<typeof listFeeds>>[number]) {
  return {
    ...feed,
    next_run_at: feed.is_paused ? null : due_at,
    latest_run: latest === null ? null : presentRun(latest),
  }
}
