import { Command } from 'commander'
import { readRefused } from '../features/feeds/accept-gone.ts'
import {
  countChanges,
  type FeedRun,
  type ListedFeed,
  listChanges,
  listFeeds,
  readRun,
} from '../features/feeds/feed-list.ts'
import { type FeedSettings, showSettings } from '../features/feeds/feed-settings.ts'
import { changeFeed, createFeed, pauseFeed } from '../features/feeds/feeds.ts'
import { readFeedChange, readNewFeed } from '../features/feeds/given-feed.ts'
import { removeFeed } from '../features/feeds/remove-feed.ts'
import { presetOf, PRESETS } from '../features/feeds/presets/presets.ts'
import { notesFor, postbackUrlFor } from '../features/feeds/way-back.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { byOption, type FeedOptions, readGiven, readSecret, withSettings } from './feed-options.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { findAdvertiser, findFeed } from './find.ts'
import { fields, type OutputOptions, readLimit, show, table } from './output.ts'
import { hint, UsageError } from './usage.ts'

export const feedCommand = () =>
  new Command('feed')
    .addCommand(
      new Command('presets')
        .description('list the supported networks, and the credentials that each needs')
        .action((options: OutputOptions) => {
          const presets = PRESETS.map(({ key, title, credentials, every }) => ({ preset: key, title, every, credentials: credentials.map(({ name }) => name) })) // prettier-ignore
          show(options, presets, () => table(presets, ''))
        }),
    )
    .addCommand(
      withSettings(
        new Command('add')
          .description('add a feed from a supported network (--preset) or from any other (--definition)')
          .requiredOption('--name <name>', 'name of the feed')
          .option('--preset <preset>', 'the network; see "feed presets"')
          .option('--advertiser <advertiser>', 'ID or name of the advertiser that owns the offers (default: a new one)')
          .option(
            '--postback-secret <file>',
            "file with the secret that signs the network's callbacks; - for standard input",
          ),
      ).action(add),
    )
    .addCommand(
      withSettings(
        new Command('set')
          .description('change a feed; options you leave out stay unchanged')
          .argument('<feed>', 'ID or name')
          .option('--name <name>', 'name of the feed'),
      ).action(set),
    )
    .addCommand(
      new Command('list').description('list feeds').action(async (options: OutputOptions) => {
        const feeds = await withDatabase(({ database }) => listFeeds(database.db))
        show(options, feeds.map(presentListed), (shown) =>
          table(shown, `No feeds yet. Add one with: ${hint('feed add')}`),
        )
      }),
    )
    .addCommand(
      new Command('show')
        .description('show a feed and its latest run')
        .argument('<feed>', 'ID or name')
        .action(async (named: string, options: OutputOptions) => {
          const feed = await withDatabase(({ database: { db } }) => readOne(db, named))
          show(options, present(feed), (shown) => fields(shown))
        }),
    )
    .addCommand(runCommand('preview', 'fetch a feed and show what a run would do; nothing is changed'))
    .addCommand(runCommand('run', 'fetch a feed now and apply the changes'))
    .addCommand(pauseCommand('pause', 'stop fetching a feed; its offers stay as they are', true))
    .addCommand(pauseCommand('resume', 'start fetching a paused feed again', false))
    .addCommand(
      new Command('remove')
        .description('remove a feed; its offers are paused, and its credentials are deleted')
        .argument('<feed>', 'ID or name')
        .addOption(yesOption())
        .action(remove),
    )

const runCommand = (name: 'run' | 'preview', about: string) => {
  const command = new Command(name)
    .description(about)
    .argument('<feed>', 'ID or name')
    .option('--limit <n>', 'maximum number of offers shown', '50')
  if (name === 'run') command.option('--accept-gone', 'apply a refused run after all: pause as many offers as it would have paused') // prettier-ignore
  return command.action(async (named: string, options: OutputOptions & { limit: string; acceptGone?: true }) => {
    const limit = readLimit(options.limit)
    const done = await withDatabase(async ({ config, database: { db }, secretKey, by }) => {
      const { feed_id, name: feed } = await findFeed(db, named)
      // Loaded here: only these two speak HTTP.
      const { createGuardedOpener } = await import('../features/postbacks/app-sender.ts')
      const { runFeed } = await import('../features/feeds/run.ts')
      const runner = { db, secretKey, open: createGuardedOpener(config) }
      const acceptedGone = options.acceptGone === true ? await readRefused(db, feed_id, null) : null
      const runId = await runFeed(runner, by, feed_id, name === 'preview', acceptedGone)
      if (runId === null) throw new UsageError(`The feed "${feed}" is being run by another process. Try again when that run has finished.`) // prettier-ignore
      return { ...presentRun((await readRun(db, runId))!), changes: await listChanges(db, runId, limit), changes_in_all: await countChanges(db, runId) } // prettier-ignore
    })
    show(options, done, ({ changes, changes_in_all, ...run }) => {
        const more = changes_in_all - changes.length
        const rows = changes.map(({ kind, external_id, name: offer, details }) => ({ what: kind, external_id, name: offer, details: describe(details) })) // prettier-ignore
        return [
          fields(run),
          '',
          table(rows, 'No offer changes.'),
          ...(more > 0 ? [`… and ${more.toLocaleString('en')} more: raise --limit, or see the run in the dashboard.`] : []),
          ...(run.outcome === 'refused' && (run.gone ?? 0) > 0 ? [`If these offers are really gone, apply it anyway: ${hint(`feed run ${run.feed_id} --accept-gone`)}`] : []),
        ].join('\n')
      }) // prettier-ignore
  })
}

const pauseCommand = (name: 'pause' | 'resume', about: string, isPaused: boolean) =>
  new Command(name)
    .description(about)
    .argument('<feed>', 'ID or name')
    .action(async (named: string, options: OutputOptions) => {
      const feed = await withChange(async ({ database: { db }, by }) => {
        const found = await findFeed(db, named)
        await pauseFeed(db, by, found.feed_id, isPaused)
        return found
      })
      show(options, { ...feed, is_paused: isPaused }, () => `The feed "${feed.name}" is ${isPaused ? 'paused' : 'resumed'}.`) // prettier-ignore
    })

async function remove(named: string, options: OutputOptions & ConfirmOptions): Promise<void> {
  const removed = await withChange(async ({ database: { db }, secretKey, by }) => {
    const { feed_id, name } = await findFeed(db, named)
    await confirm(`This removes the feed "${name}", pauses its offers, and deletes its credentials.`, options)
    return { feed_id, name, paused_offers: await removeFeed(db, by, secretKey, feed_id) }
  })
  show(options, removed, ({ name, paused_offers }) => `The feed "${name}" is removed. Offers paused: ${paused_offers}.`)
}

type AddOptions = OutputOptions &
  FeedOptions & { name: string; preset?: string; advertiser?: string; postbackSecret?: string }

async function add(options: AddOptions): Promise<void> {
  const { preset: key } = options
  if ((key === undefined) === (options.definition === undefined)) throw new UsageError('Give either --preset or --definition.') // prettier-ignore
  if (options.share === undefined) throw new UsageError("--share is required: the share of the network's payout that goes to publishers.") // prettier-ignore
  const preset = key === undefined ? undefined : presetOf(key)
  if (key !== undefined && preset === undefined) throw new UsageError(`--preset: there is no "${key}". Use one of ${PRESETS.map((one) => one.key).join(', ')}.`) // prettier-ignore
  const secret = options.postbackSecret === undefined ? {} : { postbackSecret: readSecret(options.postbackSecret) }
  const added = await byOption(async () => {
    const given = readNewFeed({ credentials: {}, settings: {}, ...(key === undefined ? {} : { preset: key }), ...readGiven(options) }) // prettier-ignore
    return withChange(async ({ config: { publicUrl }, database: { db }, secretKey, by }: Context) => {
      const advertiserId = options.advertiser === undefined ? null : (await findAdvertiser(db, options.advertiser)).advertiser_id // prettier-ignore
      const { feedId, token } = await createFeed(db, by, secretKey, {
        ...given,
        ...secret,
        name: options.name,
        advertiserId,
      })
      const postback_url = postbackUrlFor(preset?.back, publicUrl, token ?? 'YOUR_TOKEN')
      return { ...present(await readOne(db, String(feedId))), postback_url, is_token_new: token !== null }
    })
  })
  show(options, added, ({ postback_url, is_token_new, ...feed }) =>
    [
      fields(feed),
      '',
      is_token_new ? "Paste this URL into the network's system. It contains a new token, which won't be shown again:" : 'Paste this URL into the network\'s system, with the token of the advertiser:',
      postback_url,
      ...notesFor(preset?.back),
      '',
      `See what a run would do: ${hint(`feed preview ${feed.feed_id}`)}`,
      `Then start it: ${hint(`feed resume ${feed.feed_id}`)}`,
    ].join('\n'),
  ) // prettier-ignore
}

async function set(named: string, options: OutputOptions & FeedOptions & { name?: string }): Promise<void> {
  const { name } = options
  const given = { ...readGiven(options), ...(name === undefined ? {} : { name }) }
  if (Object.keys(given).length === 0) throw new UsageError('Nothing to change. Add at least one option.')
  const feed = await byOption(() =>
    withChange(async ({ database: { db }, secretKey, by }) => {
      const { feed_id } = await findFeed(db, named)
      await changeFeed(db, by, secretKey, feed_id, (feed) => readFeedChange(feed, given))
      return present(await readOne(db, String(feed_id)))
    }),
  )
  show(options, feed, (shown) => fields(shown))
}

async function readOne(db: Context['database']['db'], named: string): Promise<ListedFeed> {
  const { feed_id } = await findFeed(db, named)
  const [feed] = await listFeeds(db, { feedId: feed_id })
  return feed!
}

function present({ settings, latest, ...feed }: ListedFeed) {
  const { countries, platforms, categories, blocked_words, ...rest } = showSettings(settings as FeedSettings)
  return { ...feed, ...rest, countries, platforms, categories, blocked_words, latest_run: latest === null ? null : latest.outcome, message: latest?.message ?? '' } // prettier-ignore
}

/** A list has room for the most important. */
const presentListed = (listed: ListedFeed) => {
  const { feed_id, name, advertiser, preset, is_paused, active_offers, offers, held_offers, share_percent, every, latest_run, message } = present(listed) // prettier-ignore
  return { feed_id, name, advertiser, preset, is_paused, active_offers, offers, held_offers, share_percent, every, latest_run, message } // prettier-ignore
}

const presentRun = ({ beat_at: _beat, is_preview: _preview, ...run }: FeedRun) => run

function describe(details: unknown): string {
  const { reason, changes, payout } = details as { reason?: string; changes?: object; payout?: { before: number; after: number } } // prettier-ignore
  if (reason !== undefined) return reason
  const waits = payout === undefined ? [] : [`payout ${payout.before} → ${payout.after}, awaiting approval`]
  return [...waits, ...Object.keys(changes ?? {})].join(', ')
}
