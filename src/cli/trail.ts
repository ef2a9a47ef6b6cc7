import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { readTrail } from '../features/conversions/request-trail.ts'
import { withDatabase } from './context.ts'
import { type OutputOptions, show, table } from './output.ts'

export const findCommand = () =>
  new Command('find')
    .argument('<id>', 'a request ID, as in X-Request-Id; or that of a click, callback, conversion, event or postback')
    .action(async (id: string, options: OutputOptions) => {
      const steps = await withDatabase(({ database: { db } }) => readTrail(db, id.trim()))
      if (steps.length === 0)
        throw new OperatorError(
          `Nothing is recorded for "${id}". The request log keeps a sample of a busy app's requests, and clicks and callbacks are kept for RETENTION_DAYS.`,
        )
      show(options, steps, () => table(steps, ''))
    })
