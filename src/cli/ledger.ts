import { Command, Option } from 'commander'
import { checkLedger, countLedger, type LedgerProblem } from '../features/ledger/check.ts'
import { readBalances } from '../features/ledger/ledger.ts'
import { listMovements, type Movement, MOVEMENT_KINDS, type MovementKind } from '../features/ledger/balances.ts'
import { recordPayout, recordReceipt } from '../features/ledger/payments.ts'
import { writeStatement } from '../features/ledger/statement.ts'
import { exactUsd, parseUsd } from '../lib/money.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { findAdvertiser, findPublisher } from './find.ts'
import { adjustCommand, voidCommand } from './ledger-correct.ts'
import { runCommand } from './ledger-run.ts'
import { fields, type OutputOptions, readLimit, show, table } from './output.ts'
import { writeOut } from './write-out.ts'
import { failLater } from './terminal.ts'
import { UsageError } from './usage.ts'

type PartyOptions = OutputOptions & { publisher?: string; advertiser?: string }
type PaymentOptions = OutputOptions & { amount: string; reference: string }
type StatementOptions = OutputOptions & { publisher: string; month: string; out?: string }

export const ledgerCommand = () =>
  new Command('ledger')
    .addCommand(
      new Command('check').description('verify the ledger; exits with status 1 if there are errors').action(check),
    )
    .addCommand(
      new Command('balance')
        .description('show the balances of the network, a publisher or an advertiser, in USD')
        .option('--publisher <publisher>', 'what this publisher is owed and was paid')
        .option('--advertiser <advertiser>', 'what this advertiser owes')
        .action(async (options: PartyOptions) => {
          if (options.publisher !== undefined && options.advertiser !== undefined)
            throw new UsageError('Use either --publisher or --advertiser, not both.')
          const balances = await withDatabase((context) => balancesFor(context, options))
          show(options, balances, fields)
        }),
    )
    .addCommand(
      new Command('statement')
        .description("write a publisher's monthly statement as CSV: earned, reversed and paid")
        .requiredOption('--publisher <publisher>', 'the publisher')
        .requiredOption('--month <month>', 'the month (UTC), such as 2026-11')
        .option('--out <file>', 'write to this file (default: print it)')
        .action(statement),
    )
    .addCommand(
      paymentCommand('payout', 'record a payout to a publisher, up to the payable amount')
        .requiredOption('--publisher <publisher>', 'the publisher that was paid')
        .action(async (options: PaymentOptions & { publisher: string }) => {
          const amountMicros = readAmount(options.amount)
          const { isNew, payableMicros } = await withChange(async ({ database: { db }, by }) => {
            const { publisher_id } = await findPublisher(db, options.publisher)
            const { reference } = options
            return recordPayout(db, by, { publisherId: publisher_id, amountMicros, reference, at: new Date() })
          })
          const { publisher, reference } = options
          const result = {
            publisher,
            reference,
            amount_micros: amountMicros,
            is_new: isNew,
            payable_micros: payableMicros,
          }
          show(
            options,
            result,
            () =>
              `${recorded(isNew, amountMicros)} paid to "${publisher}". Still payable: ${exactUsd(payableMicros)} USD.`,
          )
        }),
    )
    .addCommand(
      paymentCommand('receipt', 'record a payment from an advertiser, which can pay ahead')
        .requiredOption('--advertiser <advertiser>', 'the advertiser that paid')
        .action(async (options: PaymentOptions & { advertiser: string }) => {
          const amountMicros = readAmount(options.amount)
          const { isNew, receivableMicros } = await withChange(async ({ database: { db }, by }) => {
            const { advertiser_id } = await findAdvertiser(db, options.advertiser)
            const { reference } = options
            return recordReceipt(db, by, { advertiserId: advertiser_id, amountMicros, reference, at: new Date() })
          })
          const { advertiser, reference } = options
          const result = {
            advertiser,
            reference,
            amount_micros: amountMicros,
            is_new: isNew,
            receivable_micros: receivableMicros,
          }
          show(
            options,
            result,
            () => `${recorded(isNew, amountMicros)} received from "${advertiser}". ${receivable(receivableMicros)}`,
          )
        }),
    )

    .addCommand(runCommand())
    .addCommand(adjustCommand())
    .addCommand(voidCommand())
    .addCommand(
      new Command('list')
        .description('list payments, adjustments and voids, newest first')
        .addOption(new Option('--kind <kind>', 'only entries of this kind').choices(MOVEMENT_KINDS))
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: OutputOptions & { kind?: MovementKind; limit: string }) => {
          const filter = { kind: options.kind, before: undefined }
          const found = await withDatabase(({ database: { db } }) =>
            listMovements(db, filter, readLimit(options.limit)),
          )
          const rows = found.map(({ entry_id: _entryId, ...one }) => one)
          show(options, rows, () => table(rows.map(summary), 'No payments yet.'))
        }),
    )

const receivable = (micros: number) =>
  micros < 0 ? `Paid ahead: ${exactUsd(-micros)} USD.` : `Still receivable: ${exactUsd(micros)} USD.`

const recorded = (isNew: boolean, amountMicros: number) =>
  `${isNew ? 'Recorded' : 'Nothing new: already recorded'} ${exactUsd(amountMicros)} USD`

const paymentCommand = (name: string, description: string) =>
  new Command(name)
    .description(description)
    .requiredOption('--amount <usd>', 'amount in USD, such as 125.50')
    .requiredOption(
      '--reference <text>',
      'unique reference of this payment, such as the transfer number; the same one is never recorded twice',
    )

function readAmount(text: string): number {
  const micros = parseUsd(text) ?? 0
  if (micros <= 0)
    throw new UsageError('--amount must be an amount in USD above 0 with at most 4 decimals, such as 125.50.')
  return micros
}

async function check(options: OutputOptions): Promise<void> {
  const { problems, ...counts } = await withDatabase(async ({ database }) => ({
    ...(await countLedger(database)),
    problems: await checkLedger(database),
  }))
  show(options, { is_right: problems.length === 0, ...counts, problems }, () =>
    problems.length === 0
      ? `The ledger is correct: ${counts.postings} postings, ${counts.conversions} conversions.`
      : problems.map(describe).join('\n'),
  )
  if (problems.length > 0) failLater()
}

function describe({ kind, count, examples }: LedgerProblem): string {
  const more = count > examples.length ? [`  … and ${count - examples.length} more.`] : []
  return [`${kind}: ${count}`, ...examples.map((example) => `  ${example}`), ...more].join('\n')
}

async function balancesFor({ database: { db } }: Context, { publisher, advertiser }: PartyOptions) {
  if (publisher !== undefined) {
    const { publisher_id } = await findPublisher(db, publisher)
    const { pendingMicros, payableMicros, paidMicros } = await readBalances(db, { publisherId: publisher_id })
    return { publisher, pending_micros: pendingMicros, payable_micros: payableMicros, paid_micros: paidMicros }
  }
  if (advertiser !== undefined) {
    const { advertiser_id } = await findAdvertiser(db, advertiser)
    const { receivableMicros, unconfirmedMicros } = await readBalances(db, { advertiserId: advertiser_id })
    return { advertiser, receivable_micros: receivableMicros, unconfirmed_micros: unconfirmedMicros }
  }
  const all = await readBalances(db, 'network')
  return {
    receivable_micros: all.receivableMicros,
    unconfirmed_micros: all.unconfirmedMicros,
    cash_micros: all.cashMicros,
    pending_micros: all.pendingMicros,
    payable_micros: all.payableMicros,
    margin_micros: all.marginMicros,
  }
}

async function statement(options: StatementOptions): Promise<void> {
  const { publisher, month, out } = options
  if (out === undefined && options.json)
    throw new UsageError('Statements are CSV. With --json, use --out to write the statement to a file.')
  await withDatabase(async ({ database: { db } }) => {
    const { publisher_id } = await findPublisher(db, publisher)
    await writeOut(writeStatement(db, publisher_id, month), out)
  })
  if (out !== undefined) show(options, { publisher, month, file: out }, () => `Wrote ${out}.`)
}

/** What identifies a row first: the rest does not fit the screen. */
const summary = ({ posting_id, kind, name, amount_micros, reference, ...more }: Omit<Movement, 'entry_id'>) => ({
  posting_id,
  kind,
  name,
  amount_micros,
  reference,
  ...more,
})
