import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { importOffers, type ImportResult, type RowProblem } from '../features/offers/import.ts'
import { listOffers, setOfferStatus, showOffer } from '../features/offers/offers.ts'
import { withDatabase } from './context.ts'
import { fields, type OutputOptions, readId, show, table } from './output.ts'
import { createProgressBar } from './progress.ts'

const MAX_PROBLEMS_SHOWN = 1_000
const MAX_LISTED = 1_000

export const offerCommand = () =>
  new Command('offer')
    .description('offers: what users can complete')
    .addCommand(
      new Command('import')
        .description('make or update offers from a file: a JSON array (.json) or CSV with a header (.csv)')
        .argument('<file>', 'the file')
        .action(importFile),
    )
    .addCommand(
      new Command('list')
        .description('list offers')
        .option('--advertiser <name>', 'only those of this advertiser')
        .option('--after <id>', 'start behind this offer_id', '0')
        .option('--limit <n>', 'at most this many', '50')
        .action(async (options: OutputOptions & { advertiser?: string; after: string; limit: string }) => {
          const page = {
            after: readId(options.after),
            limit: readLimit(options.limit),
            ...(options.advertiser === undefined ? {} : { advertiser: options.advertiser }),
          }
          const offers = await withDatabase(({ database }) => listOffers(database.db, page))
          show(options, offers, () => {
            const more =
              offers.length === page.limit
                ? `\n\nThere may be more: offerdeck offer list --after ${offers.at(-1)?.offer_id}`
                : ''
            return table(offers, 'There are no offers here. Make some with: offerdeck offer import FILE') + more
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('print everything recorded about an offer')
        .argument('<id>', 'offer_id')
        .action(async (id: string, options: OutputOptions) => {
          const offer = await withDatabase(({ database }) => showOffer(database.db, readId(id)))
          show(options, offer, () => fields(offer))
        }),
    )
    .addCommand(statusCommand('pause', 'take an offer off all lists', 'paused'))
    .addCommand(statusCommand('resume', 'put a paused offer back', 'active'))

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LISTED)
    throw new OperatorError(`--limit must be a whole number from 1 to ${MAX_LISTED}.`)
  return limit
}

function statusCommand(name: string, description: string, status: 'active' | 'paused'): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'offer_id')
    .action(async (id: string, options: OutputOptions) => {
      await withDatabase(({ database }) => setOfferStatus(database.db, readId(id), status))
      show(options, { offer_id: readId(id), status }, () => `Offer ${id} is ${status}.`)
    })
}

async function importFile(file: string, options: OutputOptions): Promise<void> {
  const problems: RowProblem[] = []
  const bar = createProgressBar()
  const result = await withDatabase(({ database }) =>
    importOffers(database.db, file, {
      onProblem: (problem) => {
        if (problems.length < MAX_PROBLEMS_SHOWN) problems.push(problem)
      },
      onProgress: (read, total, { created, updated }) =>
        bar.update(read / Math.max(total, 1), `${created} new, ${updated} updated`),
    }),
  ).finally(() => bar.clear())
  show(options, { ...result, problems }, () => summary(result, problems))
  if (result.rejected > 0) process.exitCode = 1
}

function summary(result: ImportResult, problems: RowProblem[]): string {
  const lines = problems.map(({ line, problem }) => `line ${line}: ${problem}`)
  if (result.rejected > problems.length) lines.push(`… and ${result.rejected - problems.length} more.`)
  lines.push(
    `${result.rows} rows: ${result.created} new, ${result.updated} updated, ${result.unchanged} unchanged, ${result.rejected} refused.`,
  )
  return lines.join('\n')
}
