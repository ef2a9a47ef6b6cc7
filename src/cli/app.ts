import { Command, Option } from 'commander'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { findPublisher } from '../features/accounts/publishers.ts'
import { createApp, listApps, type NewApp } from '../features/apps/apps.ts'
import { revokeApp, rotateSecret } from '../features/apps/keys.ts'
import type { Mode } from '../features/apps/secrets.ts'
import { rotateSigningSecret } from '../features/apps/signing-secrets.ts'
import { distrustApp, type TrustedOffers, trustApp } from '../features/apps/trust.ts'
import { CATEGORIES } from '../features/offers/schema.ts'
import { readHealth } from '../features/postbacks/health.ts'
import { parseDuration } from '../lib/duration.ts'
import { parseUsd } from '../lib/money.ts'
import { parseTime, rfc3339 } from '../lib/time.ts'
import { describeHealth, setPostbackCommand } from './app-postback.ts'
import { withChange, withDatabase } from './context.ts'
import { collect, fields, type OutputOptions, readId, show, table } from './output.ts'

const MAX_RATE_LIMIT = 1_000_000

type CreateOptions = OutputOptions & {
  publisher: string
  name: string
  currency: string
  rate: string
  rateLimit: string
  expiresAt?: string
  blockCategory: string[]
  blockKeyword: string[]
  paymentOffers: boolean
}

export const appCommand = () =>
  new Command('app')
    .description("apps: a publisher's integrations, with their credentials")
    .addCommand(
      new Command('create')
        .description('create an app and print its credentials; secrets are shown only once')
        .requiredOption('--publisher <name>', 'the publisher that owns the app')
        .requiredOption('--name <name>', "name, unique among the publisher's apps")
        .option('--currency <name>', "name of the app's own currency", 'Coins')
        .option('--rate <units>', 'units of that currency per US dollar', '100')
        .option('--rate-limit <n>', 'requests per minute for each API key', '100')
        .option('--expires-at <time>', 'when the credentials expire, such as 2030-01-31T12:00:00Z (default: never)')
        .option('--block-category <category>', 'hide offers in this category (can be repeated)', collect, [])
        .option(
          '--block-keyword <word>',
          'hide offers with this word in their name or description; word* also matches longer words (can be repeated)',
          collect,
          [],
        )
        .option('--no-payment-offers', 'hide offers that require a payment')
        .action(async (options: CreateOptions) => {
          const made = await withChange(async ({ database: { db }, secretKey }) => {
            const input = readNewApp(options)
            const { publisher_id } = await findPublisher(db, options.publisher)
            return createApp(db, secretKey, { ...input, publisherId: publisher_id })
          })
          const { app_id, live, test } = made
          show(options, { app_id, ...live, test }, () =>
            [
              `Created app ${app_id}. Store the secrets now: they won't be shown again.`,
              '',
              'Live',
              fields(live),
              '',
              'Test',
              fields(test),
              '',
              `Next: offerdeck app set-postback ${app_id} --url "https://…?user={user_id}&id={transaction_id}&status={status}&reward={reward}&test={is_test}"`,
            ].join('\n'),
          )
        }),
    )
    .addCommand(
      new Command('list')
        .description('list apps with their API keys and postback health')
        .action(async (options: OutputOptions) => {
          const apps = await withDatabase(({ database }) => listWithHealth(database.db))
          show(options, apps, () => {
            const rows = apps.map(({ app_id, publisher, name, mode, api_key, rate_limit, expires_at, revoked_at, postback_url, postbacks, secret_leaked_at }) => ({
              app_id, publisher, name, mode, api_key, rate_limit, state: stateOf(expires_at, revoked_at),
              postbacks: describeHealth(postback_url !== null, postbacks), leak_warning: secret_leaked_at,
            })) // prettier-ignore
            return table(rows, 'No apps yet. Create one with: offerdeck app create --publisher NAME --name NAME')
          })
        }),
    )
    .addCommand(
      rotateCommand(
        'rotate-secret',
        'issue a new API secret; the old one keeps working for the grace period',
        rotateSecret,
      ),
    )
    .addCommand(setPostbackCommand())
    .addCommand(
      rotateCommand(
        'rotate-signing-secret',
        'issue a new secret for signing postbacks; both sign them for the grace period',
        rotateSigningSecret,
      ),
    )
    .addCommand(
      trustCommand(
        'trust',
        'trust an app: conversions it reports for these offers are approved immediately',
        trustApp,
        'trusted',
      ),
    )
    .addCommand(trustCommand('distrust', "stop trusting an app's reports", distrustApp, 'no longer trusted'))
    .addCommand(
      new Command('revoke')
        .description('revoke both keys of an app permanently')
        .argument('<id>', 'app_id')
        .addOption(
          new Option('--only <mode>', 'revoke only this key; the other keeps working').choices(['live', 'test']),
        )
        .action(async (id: string, options: OutputOptions & { only?: Mode }) => {
          await withChange(({ database }) => revokeApp(database.db, readId(id), options.only))
          const what = options.only === undefined ? `App ${id}` : `The ${options.only} key of app ${id}`
          show(
            options,
            { app_id: readId(id), revoked: options.only ?? true },
            () => `${what} is revoked. All servers refuse its credentials within a second.`,
          )
        }),
    )

/** Live and test have a row each; postbacks are those of the whole app. */
async function listWithHealth(db: Db) {
  const apps = await listApps(db)
  const health = await readHealth(db, [...new Set(apps.map((app) => app.app_id))])
  return apps.map((app) => ({ ...app, postbacks: health.get(app.app_id) ?? null }))
}

type RotateVerb = (
  db: Db,
  secretKey: string,
  appId: number,
  mode: Mode,
  graceMs: number,
) => Promise<Record<string, unknown>>

function rotateCommand(name: string, description: string, rotate: RotateVerb): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'app_id')
    .option(
      '--grace <time>',
      'how long the old one keeps working, such as 90s, 15m, 24h or 7d; 0s revokes it immediately',
      '24h',
    )
    .option('--test', "rotate the test key's secret instead of the live key's")
    .action(async (id: string, options: OutputOptions & { grace: string; test?: boolean }) => {
      const graceMs = parseDuration(options.grace)
      if (graceMs === null) throw new OperatorError('--grace must be a duration such as 90s, 15m, 24h or 7d.')
      const rotated = await withChange(({ database, secretKey }) =>
        rotate(database.db, secretKey, readId(id), options.test ? 'test' : 'live', graceMs),
      )
      show(options, rotated, () => `Store the new secret now: it won't be shown again.\n\n${fields(rotated)}`)
    })
}

type TrustVerb = (db: Db, appId: number, offers: TrustedOffers) => Promise<number>

function trustCommand(name: string, description: string, change: TrustVerb, done: string): Command {
  const more = name === 'trust' ? 'more ' : ''
  return new Command(name)
    .description(description)
    .argument('<id>', 'app_id')
    .option('--offer <id>', 'this offer (can be repeated)', collect, [])
    .option('--all', 'all offers that exist now')
    .action(async (id: string, options: OutputOptions & { offer: string[]; all?: boolean }) => {
      if (options.all !== true && options.offer.length === 0)
        throw new OperatorError('Choose offers with --offer, or use --all.')
      const offers = options.all === true ? 'all' : options.offer.map(readId)
      const changed = await withChange(({ database }) => change(database.db, readId(id), offers))
      show(
        options,
        { app_id: readId(id), changed },
        () => `App ${id} is ${done} for ${changed} ${more}${changed === 1 ? 'offer' : 'offers'}.`,
      )
    })
}

function stateOf(expiresAt: Date | null, revokedAt: Date | null): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'good'
  return expiresAt <= new Date() ? 'expired' : `until ${rfc3339(expiresAt)}`
}

/** Checks all options and reports what is wrong with any of them, in one message. */
function readNewApp(options: CreateOptions): Omit<NewApp, 'publisherId'> {
  const problems: string[] = []
  const rateMicros = parseUsd(options.rate) ?? 0
  if (rateMicros <= 0) problems.push('--rate must be a number above 0 with at most 4 decimals.')
  const rateLimit = /^\d{1,7}$/.test(options.rateLimit) ? Number(options.rateLimit) : 0
  if (rateLimit < 1 || rateLimit > MAX_RATE_LIMIT)
    problems.push(`--rate-limit must be a whole number from 1 to ${MAX_RATE_LIMIT}.`)
  if (options.currency.trim() === '' || options.currency.length > 40)
    problems.push('--currency must have 1 to 40 characters.')
  if (options.name.trim() === '' || options.name.length > 200) problems.push('--name must have 1 to 200 characters.')
  const expiresAt = options.expiresAt === undefined ? null : parseTime(options.expiresAt)
  if (expiresAt !== null && expiresAt <= new Date()) problems.push('--expires-at is in the past.')
  if (options.expiresAt !== undefined && expiresAt === null)
    problems.push('--expires-at must be a time such as 2030-01-31T12:00:00Z.')
  const unknown = options.blockCategory.filter((name) => !CATEGORIES.some((known) => known === name))
  if (unknown.length > 0) problems.push(`--block-category must be one of ${CATEGORIES.join(', ')}.`)
  if (options.blockKeyword.some((word) => word.trim() === ''))
    problems.push('--block-keyword must not be empty: it would hide every offer.')
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
  return {
    name: options.name,
    currency: options.currency,
    rateMicros,
    rateLimit,
    expiresAt,
    blockedCategories: options.blockCategory,
    blockedKeywords: options.blockKeyword,
    paymentOffers: options.paymentOffers,
  }
}
