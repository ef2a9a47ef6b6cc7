// Payment runs on the command line: created, exported, paid and cancelled as they are stored.
import { Command } from 'commander'
import type { Db, Trx } from '../db/open.ts'
import {
  cancelRun,
  createRun,
  exportRun,
  listRuns,
  noSuchRun,
  payRun,
  type Run,
} from '../features/ledger/payment-runs.ts'
import { readLines, writeRunCsv } from '../features/ledger/run-lines.ts'
import { exactUsd, parseUsd } from '../lib/money.ts'
import { withChange, withDatabase } from './context.ts'
import { findPublisher } from './find.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { collect, fields, type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { writeOut } from './write-out.ts'
import { failLater, terminal } from './terminal.ts'
import { hint, UsageError } from './usage.ts'

type CreateOptions = OutputOptions & { minimum: string; publisher: string[] }
type SomeOptions = OutputOptions & { publisher: string[] }

const MAX_SHOWN = 1_000

export const runCommand = () =>
  new Command('run')
    .description('payment runs: stored lists of payouts due to publishers')
    .addCommand(
      new Command('create')
        .description('create a payment run from the current balances')
        .option('--minimum <usd>', 'only publishers owed at least this amount', '0')
        .option(
          '--publisher <publisher>',
          'only this publisher (can be repeated); required to include a suspended one',
          collect,
          [],
        )
        .action(create),
    )
    .addCommand(
      new Command('list')
        .description('list payment runs, newest first')
        .option('--before <id>', 'only runs before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(list),
    )
    .addCommand(
      new Command('show')
        .description('show a payment run with its lines and the current balances')
        .argument('<id>', 'run_id')
        .action(showRun),
    )
    .addCommand(
      new Command('export')
        .description(
          'write the lines that are due as CSV, for sending the money; lines that the balance no longer covers, and lines of publishers suspended since, are cancelled',
        )
        .argument('<id>', 'run_id')
        .option('--out <file>', 'write to this file (default: print it)')
        .action(exportOne),
    )
    .addCommand(
      new Command('pay')
        .description('record that a payment run was paid, in full or for some publishers; each line counts once')
        .argument('<id>', 'run_id')
        .option('--publisher <publisher>', 'only this publisher (can be repeated)', collect, [])
        .option('--sent', 'also record lines that are short or suspended, because the money was already sent')
        .addOption(yesOption())
        .action(pay),
    )
    .addCommand(
      new Command('cancel')
        .description(
          'cancel the due lines of a payment run, all or for some publishers; the amounts stay on the balances',
        )
        .argument('<id>', 'run_id')
        .option('--publisher <publisher>', 'only this publisher (can be repeated)', collect, [])
        .requiredOption('--reason <text>', 'why')
        .addOption(yesOption())
        .action(cancel),
    )

async function create(options: CreateOptions): Promise<void> {
  const minimumMicros = parseUsd(options.minimum)
  if (minimumMicros === null)
    throw new UsageError('--minimum must be an amount in USD with at most 4 decimals, such as 50.')
  const { runId, lines, totalMicros } = await withChange(async ({ database: { db }, by }) =>
    createRun(db as Trx, by, {
      minimumMicros,
      publisherIds: await idsOf(db, options.publisher),
      now: new Date(),
    }),
  )
  const result = { run_id: runId, lines, total_micros: totalMicros }
  show(
    options,
    result,
    () =>
      `Created payment run ${runId}: ${exactUsd(totalMicros)} USD to ${lines} publishers. Next: ${hint(`ledger run export ${runId} --out run-${runId}.csv`)}`,
  )
}

async function list(options: OutputOptions & { before?: string; limit: string }): Promise<void> {
  const limit = readLimit(options.limit)
  const filter = options.before === undefined ? {} : { before: readId(options.before) }
  const found = await withDatabase(({ database: { db } }) => listRuns(db, filter, limit))
  const runs = found.map(presentRun)
  show(options, runs, () => {
    const more = readOn(runs, limit, (last) => `add --before ${last.run_id}`)
    return table(runs.map(summary), `No payment runs yet. Create one with: ${hint('ledger run create')}`) + more
  })
}

async function showRun(id: string, options: OutputOptions): Promise<void> {
  const shown = await withDatabase(async ({ database: { db } }) => {
    const [run] = await listRuns(db, { runId: readId(id) }, 1)
    if (run === undefined) throw noSuchRun(readId(id))
    return { ...presentRun(run), all_lines: await readLines(db, readId(id), {}, MAX_SHOWN) }
  })
  show(options, shown, ({ all_lines, ...run }) => {
    const rows = all_lines.map(({ email: _email, posting_id: _posting, ...line }) => line)
    return `${fields(run)}\n\n${table(rows, '')}`
  })
}

async function exportOne(id: string, options: OutputOptions & { out?: string }): Promise<void> {
  const { out } = options
  if (out === undefined && options.json)
    throw new UsageError('The export is CSV. With --json, use --out to write it to a file.')
  const runId = readId(id)
  const { cancelled } = await withChange(({ database: { db }, by }) => exportRun(db as Trx, by, runId, new Date()))
  for (const { name, amount_micros, reason } of cancelled)
    terminal().err.write(`Cancelled ${exactUsd(amount_micros)} USD to "${name}". ${reason}\n`)
  await withDatabase(({ database: { db } }) => writeOut(writeRunCsv(db, runId), out))
  if (out !== undefined) show(options, { run_id: runId, cancelled: cancelled.length, file: out }, () => `Wrote ${out}.`)
}

async function pay(id: string, options: SomeOptions & ConfirmOptions & { sent?: boolean }): Promise<void> {
  await confirm(`This records the due lines of ${whose(options)} in payment run ${readId(id)} as paid.`, options)
  const results = await withChange(async ({ database: { db }, by }) => {
    const publisherIds = await idsOf(db, options.publisher)
    return payRun(db as Trx, by, readId(id), { publisherIds, isSent: options.sent === true, now: new Date() })
  })
  show(options, results, () => table(results, 'Nothing in this run is due.'))
  if (results.some(({ outcome }) => outcome !== 'paid' && outcome !== 'already')) failLater()
}

async function cancel(id: string, options: SomeOptions & ConfirmOptions & { reason: string }): Promise<void> {
  await confirm(`This cancels the due lines of ${whose(options)} in payment run ${readId(id)}, permanently.`, options)
  const cancelled = await withChange(async ({ database: { db }, by }) => {
    const publisherIds = await idsOf(db, options.publisher)
    return cancelRun(db as Trx, by, readId(id), { publisherIds, reason: options.reason, now: new Date() })
  })
  show(options, { run_id: readId(id), cancelled }, () => `Cancelled ${cancelled} lines of payment run ${id}.`)
}

const whose = ({ publisher }: SomeOptions) => (publisher.length === 0 ? 'all publishers' : publisher.join(', '))

/** As the API has it: how many lines are due, and how much. */
const presentRun = ({ due_micros, paid_micros, ...run }: Run) => ({
  ...run,
  due_total_micros: due_micros,
  paid_total_micros: paid_micros,
})

const FIRST_COLUMNS = ['run_id', 'status', 'lines', 'total_micros', 'due', 'paid', 'created_at'] as const

const summary = (run: ReturnType<typeof presentRun>) => ({
  ...Object.fromEntries(FIRST_COLUMNS.map((name) => [name, run[name]])),
  ...run,
})

async function idsOf(db: Db, names: string[]): Promise<number[] | null> {
  if (names.length === 0) return null
  return Promise.all(names.map(async (name) => (await findPublisher(db, name)).publisher_id))
}
