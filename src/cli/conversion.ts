import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { cannotRead, OperatorError } from '../errors.ts'
import type { Db } from '../db/open.ts'
import { MOVE_REASONS, type MoveReason, type MoveTo } from '../features/conversions/commands.ts'
import {
  type Conversion,
  findConversion,
  readHistory,
  type Status,
  STATUSES,
} from '../features/conversions/conversions.ts'
import { type ConversionFilter, searchConversions } from '../features/conversions/search.ts'
import { applyCommands } from '../features/conversions/apply-commands.ts'
import { isUuid } from '../lib/uuid7.ts'
import { withDatabase } from './context.ts'
import {
  fields,
  noneListed,
  type OutputOptions,
  readId,
  readLimit,
  goOn,
  readTime,
  readUuid,
  show,
  table,
  testOption,
} from './output.ts'
import { failLater } from './terminal.ts'

const BATCH = 50

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
    .description('conversions: completed offers and their status')
    .addCommand(moveCommand('approve', 'approve pending conversions', 'approved'))
    .addCommand(moveCommand('reject', 'reject pending conversions permanently', 'rejected'))
    .addCommand(moveCommand('reverse', 'reverse approved conversions permanently', 'reversed'))
    .addCommand(
      new Command('list')
        .description('list conversions, newest first')
        .option('--app <id>', 'only conversions from this app')
        .option('--user <id>', 'only conversions by this user')
        .option('--offer <id>', 'only conversions of this offer')
        .addOption(new Option('--status <status>', 'only conversions with this status').choices(STATUSES))
        .option('--from <time>', 'only conversions created at or after this time')
        .option('--to <time>', 'only conversions created before this time')
        .addOption(testOption())
        .option('--before <id>', 'only conversions created before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const filter = readFilter(options)
          const { rows, next } = await withDatabase(({ database }) => searchConversions(database.db, filter, limit))
          show(options, rows, () => {
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
            if (conversion === null)
              throw new OperatorError(
                `There is no conversion "${id}". List conversions with: offerdeck conversion list`,
              )
            return { ...conversion, history: await readHistory(db, id) }
          })
          show(options, shown, ({ history, ...conversion }) => `${fields(conversion)}\n\n${table(history, '')}`)
        }),
    )

const summary = (one: Conversion) => ({
  conversion_id: one.conversion_id,
  created_at: one.created_at,
  status: one.status,
  reason: one.status_reason,
  app_id: one.app_id,
  user_id: one.user_id,
  offer_id: one.offer_id,
  goal_id: one.goal_id,
  payout_micros: one.payout_micros,
  signals: one.signals.join(' '),
  test: one.is_test,
})

function readFilter(options: ListOptions): ConversionFilter {
  const filter: ConversionFilter = { isTest: options.test ?? false }
  if (options.app !== undefined) filter.appId = readId(options.app)
  if (options.offer !== undefined) filter.offerId = readId(options.offer)
  if (options.user !== undefined) filter.userId = options.user
  if (options.status !== undefined) filter.status = options.status
  if (options.from !== undefined) filter.from = readTime(options.from, '--from')
  if (options.to !== undefined) filter.to = readTime(options.to, '--to')
  if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'a conversion_id')
  return filter
}

type MoveOptions = OutputOptions & { file?: string; reason?: MoveReason }

function moveCommand(name: string, description: string, to: MoveTo): Command {
  const command = new Command(name)
    .description(description)
    .argument('[ids...]', 'conversion_ids')
    .option('--file <file>', 'read the IDs from a file, one per line (for CSV, the first column)')
    .action(async (ids: string[], options: MoveOptions) => {
      const given = [...ids, ...(options.file === undefined ? [] : await readIds(options.file))]
      const wanted = given.map((id) => id.toLowerCase())
      if (wanted.length === 0) throw new OperatorError('Give one or more conversion_ids, or a --file that lists them.')
      const result = await withDatabase(({ database }) =>
        moveAll(database.db, [...new Set(wanted)], to, options.reason),
      )
      show(options, result, ({ moved, unchanged, problems }) =>
        [
          ...problems.map(({ conversion_id, problem }) => `${conversion_id}: ${problem}`),
          `${moved} ${to}, ${unchanged} already ${to}, ${problems.length} refused.`,
        ].join('\n'),
      )
      if (result.problems.length > 0) failLater()
    })
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

/** Each stands for itself: one that cannot be moved is reported, the others are moved. */
async function moveAll(db: Db, ids: string[], to: MoveTo, reason: MoveReason = 'operator') {
  const result = { moved: 0, unchanged: 0, problems: [] as { conversion_id: string; problem: string }[] }
  const refuse = (id: string, problem: string) => result.problems.push({ conversion_id: id, problem })
  const known = ids.filter((id) => isUuid(id) || (refuse(id, 'This is not a conversion_id.'), false))
  for (let i = 0; i < known.length; i += BATCH) {
    const batch = known.slice(i, i + BATCH)
    const commands = batch.map((conversionId) => ({ kind: 'move' as const, conversionId, to, reason }))
    const outcomes = await applyCommands(db, commands, new Date())
    for (const [j, outcome] of outcomes.entries()) {
      const id = batch[j] ?? ''
      if (outcome.kind === 'moved') result.moved++
      else if (outcome.kind === 'duplicate') result.unchanged++
      else if (outcome.conversion === null) refuse(id, 'There is no such conversion.')
      else refuse(id, `This conversion is ${outcome.conversion.status} and cannot be ${to}.`)
    }
  }
  return result
}
