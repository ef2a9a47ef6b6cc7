import { Command } from 'commander'
import { exportDue } from '../features/exports/exporter.ts'
import { readExports } from '../features/exports/status.ts'
import { openTarget } from '../features/exports/open-target.ts'
import type { Target } from '../features/exports/target.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { type Context, withDatabase } from './context.ts'
import { fields, type OutputOptions, show, table } from './output.ts'

export const exportCommand = () =>
  new Command('export')
    .addCommand(
      new Command('status')
        .description('show how far clicks and conversions are exported to EXPORT_URL')
        .action(async (options: OutputOptions) => {
          const status = await withDatabase(({ config, database }) => readStatus(database.db, targetOf(config)))
          show(options, status, describe)
        }),
    )
    .addCommand(
      new Command('run')
        .description('export everything recorded so far to EXPORT_URL')
        .action(async (options: OutputOptions) => {
          const status = await withDatabase(runExport)
          show(options, status, describe)
          const failed = status.kinds.find(({ failure }) => failure !== null)
          if (failed !== undefined) throw new OperatorError(`Exporting ${failed.kind} failed: ${failed.failure}`)
        }),
    )

function targetOf(config: Config): Target {
  const target = openTarget(config)
  if (target === null)
    throw new OperatorError('EXPORT_URL is not set: nothing is exported. Set it as docs/analytics.md describes.')
  return target
}

/** Until each kind is at its end, or fails. */
async function runExport({ config, database: { db } }: Context) {
  const target = targetOf(config)
  const options = { db, target, intervalSeconds: config.exportIntervalSeconds, warn: () => {} }
  let outcome = await exportDue(options, true)
  while (outcome === 'more') outcome = await exportDue(options, true)
  if (outcome === 'busy') throw new OperatorError('A worker is exporting. Try again when it is done.')
  return readStatus(db, target)
}

const readStatus = async (db: Db, target: Target) => ({ target: target.url, kinds: await readExports(db, target.url) })

const describe = ({ target, kinds }: Awaited<ReturnType<typeof readStatus>>) =>
  `${fields({ target })}\n\n${table(kinds, 'Nothing has been exported yet.')}`
