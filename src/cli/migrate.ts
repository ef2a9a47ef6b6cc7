import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import { type OutputOptions, show } from './output.ts'
import { terminal } from './terminal.ts'

export const migrateCommand = () =>
  new Command('migrate').action(async (options: OutputOptions) => {
    const database = await openDatabase(loadConfig(terminal().env))
    try {
      const applied = await migrate(database)
      show(options, { applied }, () =>
        applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.',
      )
    } finally {
      await database.close()
    }
  })
