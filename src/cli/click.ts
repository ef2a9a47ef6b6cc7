import { Command } from 'commander'
import { type ClickFilter, searchClicks } from '../features/clicks/clicks.ts'
import { withDatabase } from './context.ts'
import { findAppId, findOfferId } from './find.ts'
import { goOn, noneListed, type OutputOptions, readLimit, readUuid, show, table, testOption } from './output.ts'

type ListOptions = OutputOptions & {
  app?: string
  user?: string
  offer?: string
  test?: boolean
  before?: string
  limit: string
}

export const clickCommand = () =>
  new Command('click').addCommand(
    new Command('list')
      .description('list clicks, newest first')
      .option('--app <app>', 'only clicks from this app')
      .option('--user <id>', 'only clicks by this user')
      .option('--offer <offer>', 'only clicks on this offer')
      .addOption(testOption())
      .option('--before <id>', 'only clicks before this one')
      .option('--limit <n>', 'maximum number of results', '50')
      .action(async (options: ListOptions) => {
        const limit = readLimit(options.limit)
        const filter: ClickFilter = { isTest: options.test ?? false }
        if (options.user !== undefined) filter.userId = options.user
        if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'a click_id')
        const { rows, next } = await withDatabase(async ({ database: { db } }) => {
          if (options.app !== undefined) filter.appId = await findAppId(db, options.app)
          if (options.offer !== undefined) filter.offerId = await findOfferId(db, options.offer)
          return searchClicks(db, filter, limit)
        })
        show(options, rows, () => {
          const none = next === null ? noneListed('clicks', options) : 'No matches so far.'
          return table(rows, none) + goOn(next)
        })
      }),
  )
