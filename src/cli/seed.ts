import { Command } from 'commander'
import { seedOffers } from '../features/offers/seed.ts'
import { withRecord } from './context.ts'
import { type OutputOptions, show } from './output.ts'
import { createProgressBar } from './progress.ts'
import { UsageError } from './usage.ts'

const MAX_OFFERS = 10_000_000

export const seedCommand = () =>
  new Command('seed')
    .option('--offers <n>', 'how many offers the catalog should have', '200')
    .action(async (options: OutputOptions & { offers: string }) => {
      const count = /^\d{1,8}$/.test(options.offers) ? Number(options.offers) : 0
      if (count < 1 || count > MAX_OFFERS)
        throw new UsageError(`--offers must be a whole number from 1 to ${MAX_OFFERS}.`)
      const bar = createProgressBar()
      const created = await withRecord(({ database }) =>
        seedOffers(database.db, count, (done) => bar.update(done / count, `${done} offers`)),
      ).finally(() => bar.clear())
      show(
        options,
        { created },
        () => `Created ${created} offers${created < count ? `; the other ${count - created} already existed` : ''}.`,
      )
    })
