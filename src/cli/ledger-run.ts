// Payment runs on the command line: created, exported, paid and cancelled as they are stored.
import { Command } from 'commander'
import type { Db, Trx } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { findPublisher } from '../features/accounts/publishers.ts'
import { cancelRun, createRun, exportRun, listRuns, noSuchRun, payRun } from '../features/ledger/payment-runs.ts'
import { readLines, writeRunCsv } from '../features/ledger/run-lines.ts'
import { exactUsd, parseUsd } from '../lib/money.ts'
import { withChange, withDatabase } from './context.ts'
import { operatorName } from './deed.ts'
import { collect, fields, type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { writeOut } from './write-out.ts'

type CreateOptions = OutputOptions & { minimum: string; publisher: string[] }
type SomeOptions = OutputOptions & { publisher: string[] }

const MAX_SHOWN = 1_000

export const runCommand = () =>
  new Command('run')
    .description('payment runs: stored lists of who is to be paid how much')
    .addCommand(
      new Command('create')
        .description('store who is to be paid how much, from the balances of this moment')
        .option('--minimum <usd>', 'only who is owed this much, or more', '0')
        .option('--publisher <name>', 'only this publisher (can be repeated); suspended ones only so', collect, [])
        .action(create),
    )
    .addCommand(
      new Command('list')
        .description('list payment runs, newest first')
        .option('--before <id>', 'only those before this run')
        .option('--limit <n>', 'at most this many', '50')
        .action(list),
    )
    .addCommand(
      new Command('show')
        .description('print a payment run with its lines, and what the balances are by now')
        .argument('<id>', 'run_id')
        .action(showRun),
    )
    .addCommand(
      new Command('export')
        .description(
          'write what is due as CSV, for whoever sends the money; lines that the balance no longer covers, and those of publishers suspended since, are cancelled',
        )
        .argument('<id>', 'run_id')
        .option('--out <file>', 'write to this file (default: print it)')
        .action(exportOne),
    )
    .addCommand(
      new Command('pay')
        .description('record that a payment run was paid, all of it or some publishers; each line counts once')
        .argument('<id>', 'run_id')
        .option('--publisher <name>', 'only this publisher (can be repeated)', collect, [])
        .option('--sent', 'also lines that are short or suspended, because the money was sent')
        .action(pay),
    )
    .addCommand(
      new Command('cancel')
        .description('cancel what is due of a payment run, all of it or some publishers; it stays on the balances')
        .argument('<id>', 'run_id')
        .option('--publisher <name>', 'only this publisher (can be repeated)', collect, [])
        .requiredOption('--reason <text>', 'why')
        .action(cancel),
    )

async function create(options: CreateOptions): Promise<void> {
  const minimumMicros = parseUsd(options.minimum)
  if (minimumMicros === null) throw new OperatorError('--minimum must be dollars with at most 4 decimals, such as 50.')
  const { runId, lines, totalMicros } = await withChange(async ({ database: { db } }) =>
    createRun(db as Trx, {
      minimumMicros,
      publisherIds: await idsOf(db, options.publisher),
      createdBy: operatorName(),
      now: new Date(),
    }),
  )
  const result = { run_id: runId, lines, total_micros: totalMicros }
  show(
    options,
    result,
    () =>
      `Created payment run ${runId}: ${exactUsd(totalMicros)} USD to ${lines} publishers. Next: offerdeck ledger run export ${runId} --out run-${runId}.csv`,
  )
}

async function list(options: OutputOptions & { before?: string; limit: string }): Promise<void> {
  const limit = readLimit(options.limit)
  const filter = options.before === undefined ? {} : { before: readId(options.before) }
  const runs = await withDatabase(({ database: { db } }) => listRuns(db, filter, limit))
  show(options, runs, () => {
    const more = readOn(runs, limit, (last) => `add --before ${last.run_id}`)
    return table(runs, 'No payment runs yet. Create one with: offerdeck ledger run create') + more
  })
}

async function showRun(id: string, options: OutputOptions): Promise<void> {
  const shown = await withDatabase(async ({ database: { db } }) => {
    const [run] = await listRuns(db, { runId: readId(id) }, 1)
    if (run === undefined) throw noSuchRun(readId(id))
    return { ...run, all_lines: await readLines(db, readId(id), {}, MAX_SHOWN) }
  })
  show(options, shown, ({ all_lines, ...run }) => {
    const rows = all_lines.map(({ email: _email, posting_id: _posting, ...line }) => line)
    return `${fields(run)}\n\n${table(rows, '')}`
  })
}

async function exportOne(id: string, options: OutputOptions & { out?: string }): Promise<void> {
  const { out } = options
  if (out === undefined && options.json)
    throw new OperatorError('This is CSV: with --json, name a file for it with --out.')
  const runId = readId(id)
  const { cancelled } = await withChange(({ database: { db } }) => exportRun(db as Trx, runId, new Date()))
  for (const { name, amount_micros, reason } of cancelled)
    process.stderr.write(`Cancelled ${exactUsd(amount_micros)} USD to "${name}". ${reason}\n`)
  await withDatabase(({ database: { db } }) => writeOut(writeRunCsv(db, runId), out))
  if (out !== undefined) show(options, { run_id: runId, cancelled: cancelled.length, file: out }, () => `Wrote ${out}.`)
}

async function pay(id: string, options: SomeOptions & { sent?: boolean }): Promise<void> {
  const results = await withChange(async ({ database: { db } }) => {
    const publisherIds = await idsOf(db, options.publisher)
    return payRun(db as Trx, readId(id), { publisherIds, isSent: options.sent === true, now: new Date() })
  })
  show(options, results, () => table(results, 'Nothing of this run is due.'))
  if (results.some(({ outcome }) => outcome !== 'paid' && outcome !== 'already')) process.exitCode = 1
}

async function cancel(id: string, options: SomeOptions & { reason: string }): Promise<void> {
  const cancelled = await withChange(async ({ database: { db } }) => {
    const publisherIds = await idsOf(db, options.publisher)
    return cancelRun(db as Trx, readId(id), { publisherIds, reason: options.reason, now: new Date() })
  })
  show(options, { run_id: readId(id), cancelled }, () => `Cancelled ${cancelled} lines of payment run ${id}.`)
}

async function idsOf(db: Db, names: string[]): Promise<number[] | null> {
  if (names.length === 0) return null
  return Promise.all(names.map(async (name) => (await findPublisher(db, name)).publisher_id))
}
