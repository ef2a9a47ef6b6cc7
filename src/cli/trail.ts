import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { readTrail, type Step } from '../features/conversions/request-trail.ts'
import { withDatabase } from './context.ts'
import { fields, type OutputOptions, show, table } from './output.ts'

export const findCommand = () =>
  new Command('find')
    .argument('<id>', 'a request ID (X-Request-Id), or the ID of a click, callback, conversion, event or postback')
    .action(async (id: string, options: OutputOptions) => {
      const steps = await withDatabase(({ database: { db } }) => readTrail(db, id.trim()))
      if (steps.length === 0)
        throw new OperatorError(
          `Nothing is recorded for "${id}". The request log keeps a sample of a busy app's requests, and clicks and callbacks are kept for RETENTION_DAYS.`,
        )
      show(options, steps, describe)
    })

/** What all steps have in common stands above them, once. */
function describe(steps: Step[]): string {
  const rows = steps.map(({ what, at, about, id, request_id, conversion_id }) => ({ what, at, about, id, request_id, conversion_id })) // prettier-ignore
  const isCommon = (name: 'request_id' | 'conversion_id') => new Set(rows.flatMap((row) => row[name] ?? [])).size <= 1
  const common = (['request_id', 'conversion_id'] as const).filter(isCommon)
  const shared = Object.fromEntries(
    common.map((name) => [name, rows.find((row) => row[name] !== null)?.[name] ?? null]),
  )
  const left = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !(name in shared))))
  return [...(common.length === 0 ? [] : [fields(shared)]), table(left, '')].join('\n\n')
}
