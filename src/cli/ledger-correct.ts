// Putting right what was recorded wrong, and crediting what no conversion stands for.
import { Command } from 'commander'
import type { Trx } from '../db/open.ts'
import { recordAdjustment, voidPosting } from '../features/ledger/corrections.ts'
import { exactUsd, parseSignedUsd } from '../lib/money.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange } from './context.ts'
import { findAdvertiser, findPublisher } from './find.ts'
import { type OutputOptions, show } from './output.ts'
import { UsageError } from './usage.ts'

type AdjustOptions = OutputOptions & {
  publisher?: string
  advertiser?: string
  amount: string
  reference: string
  reason: string
}

export const adjustCommand = () =>
  new Command('adjust')
    .description('credit or debit a publisher or an advertiser, such as a bonus, at the expense of the margin')
    .option('--publisher <publisher>', 'the publisher: a credit increases what it is owed')
    .option('--advertiser <advertiser>', 'the advertiser: a credit reduces what it owes')
    .requiredOption('--amount <usd>', 'amount in USD: 12.50 is a credit, -12.50 a debit')
    .requiredOption('--reference <text>', 'unique reference of this adjustment; the same one is never applied twice')
    .requiredOption('--reason <text>', 'reason, shown in the publisher statement')
    .action(adjust)

async function adjust(options: AdjustOptions): Promise<void> {
  const { publisher, advertiser, reference, reason } = options
  if ((publisher === undefined) === (advertiser === undefined))
    throw new UsageError('Use either --publisher or --advertiser.')
  const amountMicros = parseSignedUsd(options.amount)
  if (amountMicros === null)
    throw new UsageError('--amount must be an amount in USD with at most 4 decimals, such as 12.50 or -12.50.')
  const { postingId, isNew, balanceMicros } = await withChange(async ({ database: { db }, by }) => {
    const party =
      publisher === undefined
        ? { advertiserId: (await findAdvertiser(db, advertiser ?? '')).advertiser_id }
        : { publisherId: (await findPublisher(db, publisher)).publisher_id }
    return recordAdjustment(db as Trx, by, { party, amountMicros, reference, reason, at: new Date() })
  })
  const result = { posting_id: postingId, is_new: isNew, amount_micros: amountMicros, balance_micros: balanceMicros }
  show(
    options,
    result,
    () =>
      `${isNew ? 'Recorded' : 'Nothing new: already recorded'} an adjustment of ${exactUsd(amountMicros)} USD. The balance of "${publisher ?? advertiser}" is ${exactUsd(balanceMicros)} USD.`,
  )
}

export const voidCommand = () =>
  new Command('void')
    .description('void a payment or an adjustment with a reversing posting')
    .argument('<posting-id>', 'posting_id, as shown by "npx offerdeck ledger list"')
    .requiredOption('--reason <text>', 'why')
    .addOption(yesOption())
    .action(async (postingId: string, options: OutputOptions & ConfirmOptions & { reason: string }) => {
      await confirm(`This voids posting ${postingId}, permanently.`, options)
      const { reason } = options
      const voided = await withChange(({ database: { db }, by }) =>
        voidPosting(db as Trx, by, { postingId, reason, at: new Date() }),
      )
      const { kind, reference, isNew, balanceMicros } = voided
      const result = { posting_id: postingId, kind, reference, is_new: isNew, balance_micros: balanceMicros }
      show(
        options,
        result,
        () =>
          `${isNew ? 'Voided' : 'Nothing new: already voided'} the ${kind} "${reference}". The balance is ${exactUsd(balanceMicros)} USD.`,
      )
    })
