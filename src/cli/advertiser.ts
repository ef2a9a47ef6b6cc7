import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import {
  type AdvertiserSettings,
  CONFIRMED_STATUSES,
  DECIMAL_MARKS,
  NEGATIVE_AMOUNTS,
  POSTBACK_PARAMETERS,
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
import { listPostbackUrls, type PostbackUrls } from '../features/offers/postback-urls.ts'
import { parseDuration } from '../lib/duration.ts'
import { createSecretHashes } from '../lib/tokens.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { fields, type OutputOptions, readId, show, table } from './output.ts'
import { testConfirmCommand } from './test-confirm.ts'

const TOKEN_PLACE = 'YOUR_TOKEN'

export const advertiserCommand = () =>
  new Command('advertiser')
    .description('advertisers: companies that own offers and confirm their completion')
    .addCommand(createCommand())
    .addCommand(
      new Command('list').description('list advertisers').action(async (options: OutputOptions) => {
        const advertisers = await withDatabase(({ database }) => listAdvertisers(database.db))
        show(options, advertisers, () =>
          table(advertisers, 'There are no advertisers yet. Make one with: offerdeck advertiser create --name NAME'),
        )
      }),
    )
    .addCommand(showCommand())
    .addCommand(setCommand())
    .addCommand(rotateCommand())
    .addCommand(testConfirmCommand())

const createCommand = () =>
  new Command('create')
    .description('make an advertiser and print its token, which is shown once')
    .requiredOption('--name <name>', 'name, unique among advertisers')
    .action(async (options: OutputOptions & { name: string }) => {
      const made = await withChange(({ database, secretKey }) => createAdvertiser(database.db, secretKey, options.name))
      show(options, made, ({ advertiser_id, name, token }) =>
        [
          `Made advertiser ${advertiser_id}, "${name}". Store its token now: it is not shown again.`,
          '',
          fields({ token }),
          '',
          'Next: offerdeck offer import FILE',
          `Then: offerdeck advertiser show ${advertiser_id} prints the postback URLs for its system.`,
        ].join('\n'),
      )
    })

const rotateCommand = () =>
  new Command('rotate-token')
    .description('issue a new token; the one before stays good for the grace')
    .argument('<id>', 'advertiser_id')
    .option('--grace <time>', 'how long, such as 90s, 15m, 24h or 7d; 0s ends the old one at once', '24h')
    .action(async (id: string, options: OutputOptions & { grace: string }) => {
      const graceMs = parseDuration(options.grace)
      if (graceMs === null) throw new OperatorError('--grace must be a time such as 90s, 15m, 24h or 7d.')
      const rotated = await withChange(({ database, secretKey }) =>
        rotateToken(database.db, secretKey, readId(id), graceMs, new Date()),
      )
      show(options, rotated, () => `Store the new token now: it is not shown again.\n\n${fields(rotated)}`)
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
}

/** After --no-map, `before` is false. */
const collect = (value: string, before: string[] | false | undefined) => [...(before || []), value]

const setCommand = () =>
  new Command('set')
    .description("set where an advertiser's confirmations may come from, and the words it uses in them")
    .argument('<id>', 'advertiser_id')
    .option('--allow-ip <cidr>', 'take confirmations from here only (can be repeated; replaces those before)', collect)
    .option('--any-ip', 'take confirmations from anywhere')
    .option(
      '--map <theirs=ours>',
      `what its word for a status means: ${CONFIRMED_STATUSES.join(', ')} (can be repeated; replaces those before)`,
      collect,
    )
    .option('--no-map', 'forget what its words mean')
    .option(
      '--alias <ours=theirs>',
      `its name for a parameter: ${POSTBACK_PARAMETERS.join(', ')} (can be repeated; replaces those before)`,
      collect,
    )
    .option('--no-aliases', 'forget its names for parameters')
    .option('--negative-amount <meaning>', `what a negative amount alone means: ${NEGATIVE_AMOUNTS.join(', ')}`)
    .option('--decimal-mark <mark>', `what it separates decimals with: ${DECIMAL_MARKS.join(', ')}`)
    .action(async (id: string, options: SetOptions) => {
      const settings = readSettings(options)
      const advertiser = await withChange(({ database }) => setAdvertiser(database.db, readId(id), settings))
      show(options, advertiser, fields)
    })

function readSettings(options: SetOptions): Partial<AdvertiserSettings> {
  const isForgetting = !options.aliases
  if (options.allowIp && options.anyIp) throw new OperatorError('Give either --allow-ip or --any-ip.')
  if (options.alias && isForgetting) throw new OperatorError('Give either --alias or --no-aliases.')
  const allowedIps = options.anyIp ? [] : options.allowIp
  const statusMap =
    options.map === false ? [] : options.map?.map((text) => splitPair(text, 'map', text.lastIndexOf('=')))
  const aliases = isForgetting ? [] : options.alias?.map((text) => splitPair(text, 'alias', text.indexOf('=')))
  const { negativeAmount, decimalMark } = options
  const settings = {
    ...(allowedIps && { allowedIps }),
    ...(statusMap && { statusMap }),
    ...(aliases && { aliases }),
    ...(negativeAmount !== undefined && { negativeAmount }),
    ...(decimalMark !== undefined && { decimalMark }),
  }
  if (Object.keys(settings).length === 0)
    throw new OperatorError(
      'Say what to set: --allow-ip, --any-ip, --map, --no-map, --alias, --no-aliases, --negative-amount or --decimal-mark.',
    )
  return settings
}

function splitPair(text: string, option: 'map' | 'alias', at: number): [string, string] {
  if (at === -1)
    throw new OperatorError(
      `--${option} must be a pair such as ${option === 'map' ? 'paid=approved' : 'click_id=cid'}.`,
    )
  return [text.slice(0, at), text.slice(at + 1)]
}

const showCommand = () =>
  new Command('show')
    .description('print what is recorded about an advertiser, and the postback URLs for its system')
    .argument('<id>', 'advertiser_id')
    .option('--token <token>', 'a live token of its, to put into the URLs')
    .action(async (id: string, options: OutputOptions & { token?: string }) => {
      const found = await withDatabase(async (context) => {
        const { db } = context.database
        const advertiser = await getAdvertiser(db, readId(id))
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
    `This is no live token of advertiser ${advertiser.advertiser_id}. Make a new one with: offerdeck advertiser rotate-token ${advertiser.advertiser_id}`,
  )
}

function describe({ offers, more_offers, ...advertiser }: Advertiser & PostbackUrls, lacksToken: boolean): string {
  const lines = [fields(advertiser), '']
  if (offers.length === 0) return [...lines, 'It has no offers yet: offerdeck offer import FILE'].join('\n')
  lines.push(
    'Its system confirms a conversion by calling the URL of the goal. What stands in braces is for that system to fill in:',
    '  {click_id}  whatever it calls the value that it got from our link, where the destination says {click_id}',
    '  {txn_id}    its own id of the sale or action, different each time',
    '  {amount}    what the sale came to, in US dollars; only for goals that pay a percentage',
  )
  if (lacksToken) lines.push(`${TOKEN_PLACE} stands for its token: --token puts it there.`)
  for (const offer of offers) {
    lines.push('', `Offer ${offer.offer_id}, "${offer.name}"`)
    if (!offer.can_be_confirmed)
      lines.push('  WARNING: its destination_url has no {click_id}, so its conversions cannot be confirmed.')
    for (const goal of offer.goals) lines.push(`  Goal ${goal.goal_id}, "${goal.name}"`, `    ${goal.postback_url}`)
  }
  if (more_offers > 0) lines.push('', `… and ${more_offers} more offers.`)
  return lines.join('\n')
}
