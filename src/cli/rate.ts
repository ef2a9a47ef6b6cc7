import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { cannotRead } from '../errors.ts'
import { readRateFile } from '../features/rates/rate-file.ts'
import { dayOf, listRates, setRates } from '../features/rates/rates.ts'
import { withChange, withDatabase } from './context.ts'
import { type OutputOptions, show, table } from './output.ts'
import { hint } from './usage.ts'

export const rateCommand = () =>
  new Command('rate')
    .addCommand(
      new Command('list')
        .description('list the latest rate of each currency')
        .action(async (options: OutputOptions) => {
          const rates = await withDatabase(({ database }) => listRates(database.db, new Date()))
          show(options, rates, () => table(rates, `No rates yet. Add one with: ${hint('rate set EUR 1.08')}`))
        }),
    )
    .addCommand(
      new Command('set')
        .description('set what one unit of a currency is worth, starting today')
        .argument('<currency>', 'such as EUR')
        .argument('<usd>', 'US dollars, such as 1.0842')
        .option('--day <day>', 'start from this day instead, such as 2026-11-17')
        .action(async (currency: string, usd: string, options: OutputOptions & { day?: string }) => {
          const now = new Date()
          const rate = { currency: currency.toUpperCase(), day: options.day ?? dayOf(now), usd }
          await withChange(({ database, by }) => setRates(database.db, by, [rate], now))
          show(options, rate, () => `From ${rate.day} on, 1 ${rate.currency} is worth $${usd}.`)
        }),
    )
    .addCommand(
      new Command('import')
        .description('read rates from a CSV file of the European Central Bank, or with the columns currency, day, usd')
        .argument('<file>', 'CSV file; - for standard input')
        .action(async (file: string, options: OutputOptions) => {
          const rates = await readRateFile(read(file))
          const changed = await withChange(({ database, by }) => setRates(database.db, by, rates, new Date()))
          show(options, { read: rates.length, changed }, () => `${rates.length} rates read, ${changed} new or changed.`) // prettier-ignore
        }),
    )

function read(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw cannotRead(file, error)
  }
}
