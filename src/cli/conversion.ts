import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import type { Db } from '../db/open.ts'
import { cannotRead, NoSuch } from '../errors.ts'
import { createCommandQueue } from '../features/conversions/command-queue.ts'
import { MOVE_REASONS, type MoveReason, type MoveTo } from '../features/conversions/commands.ts'
import {
  type ConversionRow,
  findConversion,
  presentConversion,
  readHistory,
  type Status,
  STATUSES,
} from '../features/conversions/conversions.ts'
import { moveConversions, type MoveResult, type Moves } from '../features/conversions/moves.ts'
import { type ConversionFilter, searchConversions } from '../features/conversions/search.ts'
import { microsToUsd } from '../lib/money.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { type Context, withDatabase } from './context.ts'
import { findAppId, findOfferId } from './find.ts'
import {
  fields,
  noneListed,
  type OutputOptions,
  readLimit,
  goOn,
  readTime,
  readUuid,
  show,
  table,
  testOption,
} from './output.ts'
import { failLater } from './terminal.ts'
import { UsageError } from './usage.ts'

type ListOptions = OutputOptions & {
  app?: string
  user?: string
  offer?: string
  status?: Status
  from?: string
  to?: string
  before?: string
  limit: string
  test?: boolean
}

export const conversionCommand = () =>
  new Command('conversion')
    .addCommand(moveCommand('approve', 'approve pending conversions', 'approved'))
    .addCommand(moveCommand('reject', 'reject pending conversions permanently', 'rejected'))
    .addCommand(moveCommand('reverse', 'reverse approved conversions permanently', 'reversed'))
    .addCommand(
      new Command('list')
        .description('list conversions, newest first')
        .option('--app <app>', 'only conversions from this app')
        .option('--user <id>', 'only conversions by this user')
        .option('--offer <offer>', 'only conversions of this offer')
        .addOption(new Option('--status <status>', 'only conversions with this status').choices(STATUSES))
        .option('--from <time>', 'only conversions created at or after this time')
        .option('--to <time>', 'only conversions created before this time')
        .addOption(testOption())
        .option('--before <id>', 'only conversions created before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const { rows, next } = await withDatabase(async ({ database: { db } }) =>
            searchConversions(db, await readFilter(db, options), limit),
          )
          show(options, rows.map(presentForOperator), () => {
            const none = next === null ? noneListed('conversions', options) : 'No matches so far.'
            return table(rows.map(summary), none) + goOn(next)
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('show everything recorded about a conversion, including its history')
        .argument('<id>', 'conversion_id')
        .action(async (id: string, options: OutputOptions) => {
          const shown = await withDatabase(async ({ database: { db } }) => {
            const conversion = await findConversion(db, id, null)
            if (conversion === null) throw new NoSuch('conversion', id)
            return { ...presentForOperator(conversion), history: await readHistory(db, id) }
          })
          show(options, shown, ({ history, ...conversion }) => `${fields(conversion)}\n\n${table(history, '')}`)
        }),
    )

const summary = (one: ConversionRow) => ({
  conversion_id: one.conversion_id,
  status: one.status,
  payout_micros: one.payout_micros,
  user_id: one.user_id,
  offer_id: one.offer_id,
  created_at: one.created_at,
  app_id: one.app_id,
  status_reason: one.status_reason,
  signals: one.signals,
  goal_id: one.goal_id,
})

/** As the API has it, and what only the operator sees. */
const presentForOperator = (one: ConversionRow) => ({
  ...presentConversion(one),
  app_id: one.app_id,
  publisher_id: one.publisher_id,
  advertiser_id: one.advertiser_id,
  advertiser_transaction_id: one.advertiser_transaction_id,
  revenue: microsToUsd(one.revenue_micros),
  click_id: one.click_id,
  ip: one.ip,
  signals: one.signals,
  confirmed_at: one.confirmed_at,
})

async function readFilter(db: Db, options: ListOptions): Promise<ConversionFilter> {
  const filter: ConversionFilter = { isTest: options.test ?? false }
  if (options.app !== undefined) filter.appId = await findAppId(db, options.app)
  if (options.offer !== undefined) filter.offerId = await findOfferId(db, options.offer)
  if (options.user !== undefined) filter.userId = options.user
  if (options.status !== undefined) filter.status = options.status
  if (options.from !== undefined) filter.from = readTime(options.from, '--from')
  if (options.to !== undefined) filter.to = readTime(options.to, '--to')
  if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'a conversion_id')
  return filter
}

const VERB = { rejected: 'rejects', reversed: 'reverses' }

type MoveOptions = OutputOptions & ConfirmOptions & { file?: string; reason?: MoveReason }

function moveCommand(name: string, description: string, to: MoveTo): Command {
  const command = new Command(name)
    .description(description)
    .argument('[ids...]', 'conversion_ids')
    .option('--file <file>', 'read the IDs from a file, one per line (for CSV, the first column)')
    .action(async (given: string[], options: MoveOptions) => {
      const listed = options.file === undefined ? [] : await readIds(options.file)
      const ids = [...new Set([...given, ...listed].map((id) => id.toLowerCase()))]
      if (ids.length === 0) throw new UsageError('Give one or more conversion_ids, or a --file that lists them.')
      const many = ids.length === 1 ? 'the conversion' : `${ids.length} conversions`
      if (to !== 'approved') await confirm(`This ${VERB[to]} ${many} permanently.`, options)
      const { reason } = options
      const moves = { conversionIds: ids, to, ...(reason === undefined ? {} : { reason }) }
      const result = summarize(await withDatabase((context) => moveAll(context, moves)))
      show(options, result, ({ moved, unchanged, problems }) =>
        [
          ...problems.map(({ conversion_id, problem }) => `${conversion_id}: ${problem}`),
          `${moved} ${to}, ${unchanged} already ${to}, ${problems.length} refused.`,
        ].join('\n'),
      )
      if (result.problems.length > 0) failLater()
    })
  if (to !== 'approved') command.addOption(yesOption())
  const reasons = MOVE_REASONS[to]
  if (reasons.length > 1)
    command.addOption(
      new Option('--reason <reason>', 'reason sent to the publisher').choices(reasons).default(reasons[0]),
    )
  return command
}

async function readIds(file: string): Promise<string[]> {
  try {
    const lines = (await readFile(file, 'utf8')).split(/\r?\n/)
    const ids = lines.map((line) => (line.split(/[,;\t]/)[0] ?? '').trim().replaceAll('"', ''))
    return ids.filter((id) => id !== '' && id !== 'conversion_id' && !id.startsWith('#'))
  } catch (error) {
    throw cannotRead(file, error)
  }
}

async function moveAll({ database: { db }, by }: Context, moves: Moves): Promise<MoveResult[]> {
  const queue = createCommandQueue(db)
  try {
    return await moveConversions(queue.apply, by, moves)
  } finally {
    await queue.close()
  }
}

const summarize = (results: readonly MoveResult[]) => ({
  moved: results.filter(({ outcome }) => outcome === 'done').length,
  unchanged: results.filter(({ outcome }) => outcome === 'already').length,
  problems: results.flatMap(({ conversionId, problem }) =>
    problem === null ? [] : [{ conversion_id: conversionId, problem }],
  ),
})
