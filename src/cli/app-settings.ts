// Creating an app, and changing one: the same options.
import { Command } from 'commander'
import { changeApp, createApp } from '../features/apps/apps.ts'
import { type ContentRuleSet, readContentRules, setContentRules } from '../features/apps/content-rules.ts'
import { setExpiry } from '../features/apps/keys.ts'
import { changeRewardSettings, type RewardSettings } from '../features/apps/reward-settings.ts'
import { setRateLimit } from '../features/apps/trust.ts'
import { CATEGORIES } from '../features/offers/choices.ts'
import { parseUsd } from '../lib/money.ts'
import { parseTime } from '../lib/time.ts'
import { findWelcomeOffer, readRewardOptions, type RewardOptions, withRewardSettings } from './app-rewards.ts'
import { describeApp, readWhole } from './app-show.ts'
import { type Context, withChange } from './context.ts'
import { findAppId, findPublisher } from './find.ts'
import { collect, fields, type OutputOptions, show } from './output.ts'
import { hint, UsageError } from './usage.ts'

const MAX_RATE_LIMIT = 1_000_000
const NEVER = 'never'

type SettingOptions = RewardOptions & {
  name?: string
  currency?: string
  rate?: string
  rateLimit?: string
  expiresAt?: string
  blockCategory: string[]
  blockKeyword: string[]
  paymentOffers?: boolean
}

type Settings = {
  name?: string
  currency?: string
  rateMicros?: number
  rateLimit?: number
  /** Null: never. */
  expiresAt?: Date | null
  rules: Partial<ContentRuleSet>
  rewards: Partial<RewardSettings>
}

const DEFAULTS = { currency: 'Coins', rate: '100', rateLimit: '100' }

const withSettings = (command: Command, defaults: Partial<typeof DEFAULTS>) =>
  command
    .option('--currency <name>', "name of the app's own currency", defaults.currency)
    .option('--rate <units>', 'units of that currency per US dollar', defaults.rate)
    .option('--rate-limit <n>', 'requests per minute for each API key', defaults.rateLimit)
    .option('--expires-at <time>', 'when the credentials expire, such as 2030-01-31T12:00:00Z, or "never"')
    .option('--block-category <category>', 'hide offers in this category (can be repeated)', collect, [])
    .option(
      '--block-keyword <word>',
      'hide offers with this word in their name or description; word* also matches longer words (can be repeated)',
      collect,
      [],
    )
    .option('--no-payment-offers', 'hide offers that require a payment')

export const createAppCommand = () =>
  withSettings(
    new Command('create')
      .description('create an app and print its credentials; secrets are shown only once')
      .requiredOption('--publisher <publisher>', 'the publisher that owns the app')
      .requiredOption('--name <name>', "name, unique among the publisher's apps"),
    DEFAULTS,
  ).action(async (options: OutputOptions & SettingOptions & { publisher: string; name: string }) => {
    const { rules, rewards: _rewards, ...settings } = readSettings(options)
    const made = await withChange(async ({ database: { db }, secretKey, by }) => {
      const { publisher_id } = await findPublisher(db, options.publisher)
      return createApp(db, by, secretKey, {
        publisherId: publisher_id,
        name: options.name,
        currency: settings.currency ?? DEFAULTS.currency,
        rateMicros: settings.rateMicros ?? 0,
        rateLimit: settings.rateLimit ?? 0,
        expiresAt: settings.expiresAt ?? null,
        blockedCategories: rules.blockedCategories ?? [],
        blockedKeywords: rules.blockedKeywords ?? [],
        paymentOffers: rules.paymentOffers ?? true,
      })
    })
    const url = '"https://…?user={user_id}&id={transaction_id}&status={status}&reward={reward}&test={is_test}"'
    show(options, made, ({ app_id, live, test }) =>
      [
        `Created app ${app_id}, "${options.name}". Store the secrets now: they won't be shown again.`,
        '',
        'Live',
        fields(live),
        '',
        'Test',
        fields(test),
        '',
        `Next: ${hint(`app set-postback ${app_id} --url ${url}`)}`,
      ].join('\n'),
    )
  })

export const setAppCommand = () =>
  withRewardSettings(
    withSettings(
      new Command('set')
        .description("change an app's settings; options you leave out stay unchanged")
        .argument('<app>', 'ID or name')
        .option('--name <name>', "new name, unique among the publisher's apps"),
      {},
    ),
  )
    .option('--payment-offers', 'show offers that require a payment')
    .option('--no-blocks', 'show all categories and keywords again')
    .action(async (named: string, options: OutputOptions & SettingOptions & { blocks: boolean }) => {
      const settings = readSettings(options)
      if (!options.blocks)
        settings.rules = {
          ...settings.rules,
          blockedCategories: options.blockCategory,
          blockedKeywords: options.blockKeyword,
        }
      const isEmpty = Object.keys({ ...settings, ...settings.rules, ...settings.rewards }).length === 2
      if (isEmpty && options.welcomeOffer === undefined)
        throw new UsageError('Nothing to set. Add at least one option.')
      const app = await withChange(async (context) => {
        const appId = await findAppId(context.database.db, named)
        const welcome = await findWelcomeOffer(context.database.db, options)
        await change(context, appId, { ...settings, rewards: { ...settings.rewards, ...welcome } })
        return readWhole(context, appId)
      })
      show(options, app, describeApp)
    })

async function change({ database: { db }, by }: Context, appId: number, settings: Settings): Promise<void> {
  const { rules, rewards, rateLimit, expiresAt, ...more } = settings
  await changeApp(db, by, appId, more)
  await changeRewardSettings(db, by, appId, rewards)
  if (rateLimit !== undefined) await setRateLimit(db, by, appId, rateLimit)
  if (Object.keys(rules).length > 0)
    await setContentRules(db, by, appId, { ...(await readContentRules(db, appId)), ...rules })
  if (expiresAt !== undefined)
    for (const mode of ['live', 'test'] as const) await setExpiry(db, by, appId, mode, expiresAt)
}

/** Checks all options and reports what is wrong with any of them, in one message. */
function readSettings(options: SettingOptions): Settings {
  const problems: string[] = []
  const settings: Settings = { rules: {}, rewards: {} }
  const { name, currency, rate, rateLimit, expiresAt } = options
  if (name !== undefined) {
    settings.name = name
    if (name.trim() === '' || name.length > 200) problems.push('--name must have 1 to 200 characters.')
  }
  if (currency !== undefined) {
    settings.currency = currency
    if (currency.trim() === '' || currency.length > 40) problems.push('--currency must have 1 to 40 characters.')
  }
  if (rate !== undefined) {
    settings.rateMicros = parseUsd(rate) ?? 0
    if (settings.rateMicros <= 0) problems.push('--rate must be a number above 0 with at most 4 decimals.')
  }
  if (rateLimit !== undefined) {
    settings.rateLimit = /^\d{1,7}$/.test(rateLimit) ? Number(rateLimit) : 0
    if (settings.rateLimit < 1 || settings.rateLimit > MAX_RATE_LIMIT)
      problems.push(`--rate-limit must be a whole number from 1 to ${MAX_RATE_LIMIT}.`)
  }
  if (expiresAt !== undefined) {
    settings.expiresAt = expiresAt === NEVER ? null : parseTime(expiresAt)
    if (settings.expiresAt === null && expiresAt !== NEVER)
      problems.push('--expires-at must be a time such as 2030-01-31T12:00:00Z, or "never".')
    if (settings.expiresAt !== null && settings.expiresAt <= new Date()) problems.push('--expires-at is in the past.')
  }
  settings.rules = readRules(options, problems)
  settings.rewards = readRewardOptions(options, problems)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return settings
}

function readRules({ blockCategory, blockKeyword, paymentOffers }: SettingOptions, problems: string[]) {
  if (blockCategory.some((name) => !CATEGORIES.some((known) => known === name)))
    problems.push(`--block-category must be one of ${CATEGORIES.join(', ')}.`)
  if (blockKeyword.some((word) => word.trim() === ''))
    problems.push('--block-keyword must not be empty: it would hide every offer.')
  return {
    ...(blockCategory.length > 0 && { blockedCategories: blockCategory }),
    ...(blockKeyword.length > 0 && { blockedKeywords: blockKeyword }),
    ...(paymentOffers !== undefined && { paymentOffers }),
  }
}
