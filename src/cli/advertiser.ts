import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import {
  type AdvertiserSettings,
  CONFIRMED_STATUSES,
  DECIMAL_MARKS,
  NEGATIVE_AMOUNTS,
  POSTBACK_PARAMETERS,
  SEEN_PUBLISHERS,
  setAdvertiser,
} from '../features/accounts/advertiser-settings.ts'
import {
  type Advertiser,
  createAdvertiser,
  findAdvertiserByToken,
  getAdvertiser,
  listAdvertisers,
  rotateToken,
} from '../features/accounts/advertisers.ts'
import { setPostbackSecret } from '../features/feeds/postback-secret.ts'
import { listPostbackUrls, type PostbackUrls } from '../features/offers/postback-urls.ts'
import { parseDuration } from '../lib/duration.ts'
import { createSecretHashes } from '../lib/tokens.ts'
import { budgetCommand } from './advertiser-budget.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { readSecret } from './feed-options.ts'
import { findAdvertiser } from './find.ts'
import { fields, type OutputOptions, show, table } from './output.ts'
import { testConfirmCommand } from './test-confirm.ts'
import { byOption, hint, UsageError } from './usage.ts'

const TOKEN_PLACE = 'YOUR_TOKEN'

export const advertiserCommand = () =>
  new Command('advertiser')
    .addCommand(createCommand())
    .addCommand(
      new Command('list').description('list advertisers').action(async (options: OutputOptions) => {
        const advertisers = await withDatabase(({ database }) => listAdvertisers(database.db))
        show(options, advertisers, () =>
          table(advertisers, `No advertisers yet. Create one with: ${hint('advertiser create --name NAME')}`),
        )
      }),
    )
    .addCommand(showCommand())
    .addCommand(setCommand())
    .addCommand(budgetCommand())
    .addCommand(rotateCommand())
    .addCommand(testConfirmCommand())

const createCommand = () =>
  new Command('create')
    .description('create an advertiser and print its token, which is shown only once')
    .requiredOption('--name <name>', 'name, unique among advertisers')
    .action(async (options: OutputOptions & { name: string }) => {
      const made = await withChange(({ database, secretKey, by }) =>
        createAdvertiser(database.db, by, secretKey, options.name),
      )
      show(options, made, ({ advertiser_id, name, token }) =>
        [
          `Created advertiser ${advertiser_id}, "${name}". Store its token now: it won't be shown again.`,
          '',
          fields({ token }),
          '',
          `Next: ${hint('offer import FILE')}`,
          `Then: ${hint(`advertiser show ${advertiser_id}`)} prints the postback URLs to give the advertiser.`,
        ].join('\n'),
      )
    })

const rotateCommand = () =>
  new Command('rotate-token')
    .description('issue a new token; the old one keeps working for the grace period')
    .argument('<advertiser>', 'ID or name')
    .option(
      '--grace <time>',
      'how long the old one keeps working, such as 90s, 15m, 24h or 7d; 0s revokes it immediately',
      '24h',
    )
    .addOption(yesOption())
    .action(async (named: string, options: OutputOptions & ConfirmOptions & { grace: string }) => {
      const graceMs = parseDuration(options.grace)
      if (graceMs === null) throw new UsageError('--grace must be a duration such as 90s, 15m, 24h or 7d.')
      if (graceMs === 0) await confirm('The old token stops working immediately.', options)
      const rotated = await withChange(async ({ database: { db }, secretKey, by }) => {
        const { advertiser_id } = await findAdvertiser(db, named)
        return rotateToken(db, by, secretKey, advertiser_id, graceMs, new Date())
      })
      show(options, rotated, () => `Store the new token now: it won't be shown again.\n\n${fields(rotated)}`)
    })

type SetOptions = OutputOptions & {
  allowIp?: string[]
  anyIp?: true
  map?: string[] | false
  alias?: string[]
  /** False: forget them. */
  aliases: boolean
  negativeAmount?: string
  decimalMark?: string
  reversalPrefix?: string
  seesPublishers?: string
  postbackSecret?: string
}

/** After --no-map, `before` is false. */
const collect = (value: string, before: string[] | false | undefined) => [...(before || []), value]

/** Of each field of the settings. */
const OPTIONS = {
  allowed_ips: '--allow-ip',
  status_map: '--map',
  aliases: '--alias',
  negative_amount: '--negative-amount',
  decimal_mark: '--decimal-mark',
  reversal_prefix: '--reversal-prefix',
  sees_publishers: '--sees-publishers',
}

const setCommand = () =>
  new Command('set')
    .description("set an advertiser's IP allowlist, status mapping, parameter names, and how it sees publishers")
    .argument('<advertiser>', 'ID or name')
    .option(
      '--allow-ip <cidr>',
      'accept confirmations only from this IP range (can be repeated; replaces the current list)',
      collect,
    )
    .option('--any-ip', 'accept confirmations from any IP')
    .option(
      '--map <theirs=ours>',
      `map the advertiser's status to one of ours: ${CONFIRMED_STATUSES.join(', ')} (can be repeated; replaces the current mapping)`,
      collect,
    )
    .option('--no-map', 'clear the status mapping')
    .option(
      '--alias <ours=theirs>',
      `the advertiser's name for a parameter: ${POSTBACK_PARAMETERS.join(', ')} (can be repeated; replaces the current names)`,
      collect,
    )
    .option('--no-aliases', 'clear the parameter names')
    .option(
      '--negative-amount <meaning>',
      `how to treat a negative amount that comes without a status: ${NEGATIVE_AMOUNTS.join(', ')}`,
    )
    .option('--decimal-mark <mark>', `decimal separator the advertiser uses: ${DECIMAL_MARKS.join(', ')}`)
    .option('--reversal-prefix <text>', 'transaction ID prefix of reversals, such as r-, or "" for none')
    .option('--sees-publishers <what>', `how its people see publishers: ${SEEN_PUBLISHERS.join(', ')}`)
    .option('--postback-secret <file>', 'file with the secret that signs its callbacks; - for standard input')
    .action(async (named: string, options: SetOptions) => {
      const settings = readSettings(options)
      const secret = options.postbackSecret === undefined ? null : readSecret(options.postbackSecret)
      const advertiser = await byOption(OPTIONS, () =>
        withChange(async ({ database: { db }, secretKey, by }) => {
          const { advertiser_id } = await findAdvertiser(db, named)
          if (secret !== null) await setPostbackSecret(db, by, secretKey, advertiser_id, secret)
          if (Object.keys(settings).length === 0) return getAdvertiser(db, advertiser_id)
          return setAdvertiser(db, by, advertiser_id, settings)
        }),
      )
      show(options, advertiser, fields)
    })

function readSettings(options: SetOptions): Partial<AdvertiserSettings> {
  const isForgetting = !options.aliases
  if (options.allowIp && options.anyIp) throw new UsageError('Use either --allow-ip or --any-ip, not both.')
  if (options.alias && isForgetting) throw new UsageError('Use either --alias or --no-aliases, not both.')
  const allowedIps = options.anyIp ? [] : options.allowIp
  const statusMap =
    options.map === false ? [] : options.map?.map((text) => splitPair(text, 'map', text.lastIndexOf('=')))
  const aliases = isForgetting ? [] : options.alias?.map((text) => splitPair(text, 'alias', text.indexOf('=')))
  const { negativeAmount, decimalMark, reversalPrefix, seesPublishers } = options
  const settings = {
    ...(allowedIps && { allowedIps }),
    ...(statusMap && { statusMap }),
    ...(aliases && { aliases }),
    ...(negativeAmount !== undefined && { negativeAmount }),
    ...(decimalMark !== undefined && { decimalMark }),
    ...(reversalPrefix !== undefined && { reversalPrefix }),
    ...(seesPublishers !== undefined && { seesPublishers }),
  }
  if (Object.keys(settings).length === 0 && options.postbackSecret === undefined)
    throw new UsageError(
      'Nothing to set. Use --allow-ip, --any-ip, --map, --no-map, --alias, --no-aliases, --negative-amount, --decimal-mark, --reversal-prefix, --sees-publishers or --postback-secret.',
    )
  return settings
}

function splitPair(text: string, option: 'map' | 'alias', at: number): [string, string] {
  if (at === -1)
    throw new UsageError(`--${option} must be a pair such as ${option === 'map' ? 'paid=approved' : 'click_id=cid'}.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

const showCommand = () =>
  new Command('show')
    .description("show an advertiser's settings and its postback URLs")
    .argument('<advertiser>', 'ID or name')
    .option('--token <token>', 'one of its tokens, to include in the URLs')
    .action(async (named: string, options: OutputOptions & { token?: string }) => {
      const found = await withDatabase(async (context) => {
        const { db } = context.database
        const advertiser = await findAdvertiser(db, named)
        if (options.token !== undefined) await checkToken(context, advertiser, options.token)
        const target = { publicUrl: context.config.publicUrl, token: options.token ?? TOKEN_PLACE }
        return { ...advertiser, ...(await listPostbackUrls(db, advertiser, target)) }
      })
      show(options, found, () => describe(found, options.token === undefined))
    })

async function checkToken({ database, secretKey }: Context, advertiser: Advertiser, token: string): Promise<void> {
  const owner = await findAdvertiserByToken(database.db, createSecretHashes(secretKey)(token), new Date())
  if (owner?.advertiserId === advertiser.advertiser_id && !owner.isExpired) return
  throw new OperatorError(
    `This is not a valid token of advertiser ${advertiser.advertiser_id}. Issue a new one with: ${hint(`advertiser rotate-token ${advertiser.advertiser_id}`)}`,
  )
}

function describe({ offers, more_offers, ...advertiser }: Advertiser & PostbackUrls, lacksToken: boolean): string {
  const lines = [fields(advertiser), '']
  if (offers.length === 0) return [...lines, `No offers yet. Import some with: ${hint('offer import FILE')}`].join('\n')
  lines.push(
    "To confirm a conversion, the advertiser calls the goal's URL with these placeholders filled in:",
    '  {click_id}  the click ID it received in its destination URL, where that says {click_id}',
    '  {txn_id}    its own ID of the sale or action, unique each time',
    '  {amount}    the sale amount in USD; only for goals that pay a percentage',
  )
  if (lacksToken) lines.push(`${TOKEN_PLACE} is a placeholder for its token. Add --token to fill it in.`)
  for (const offer of offers) {
    lines.push('', `Offer ${offer.offer_id}, "${offer.name}"`)
    if (!offer.can_be_confirmed)
      lines.push('  WARNING: destination_url has no {click_id}, so conversions cannot be confirmed.')
    for (const goal of offer.goals) lines.push(`  Goal ${goal.goal_id}, "${goal.name}"`, `    ${goal.postback_url}`)
  }
  if (more_offers > 0) lines.push('', `… and ${more_offers} more offers.`)
  return lines.join('\n')
}
