import { Command } from 'commander'
import { findAdvertiser } from '../features/accounts/advertisers.ts'
import { openCountryFinder } from '../features/clicks/geo.ts'
import { type CallFilter, callOf, type CallRow, findCall, listCalls } from '../features/conversions/inbound/calls.ts'
import { reprocessCall } from '../features/conversions/inbound/confirm.ts'
import { type Context, withDatabase } from './context.ts'
import { createLog } from './log.ts'
import { type OutputOptions, readLimit, readOn, readUuid, show, table } from './output.ts'

type ListOptions = OutputOptions & {
  outcome?: string
  advertiser?: string
  click?: string
  before?: string
  limit: string
}

export const inboundCommand = () =>
  new Command('inbound')
    .description("advertisers' calls: what they sent, and what came of it")
    .addCommand(
      new Command('list')
        .description('list calls, newest first')
        .option('--outcome <outcome>', 'only those that came to this, such as unmatched, invalid or refused')
        .option('--advertiser <name>', 'only those with the token of this advertiser')
        .option('--click <id>', 'only those about this click')
        .option('--before <id>', 'only those before this call')
        .option('--limit <n>', 'at most this many', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const calls = await withDatabase(async ({ database: { db } }) => {
            const filter: CallFilter = {}
            if (options.outcome !== undefined) filter.outcome = options.outcome
            if (options.click !== undefined) filter.clickId = options.click
            if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'an inbound_id')
            if (options.advertiser !== undefined)
              filter.advertiserId = (await findAdvertiser(db, options.advertiser)).advertiser_id
            return listCalls(db, filter, limit)
          })
          show(options, calls, () => {
            const more = readOn(calls, limit, (last) => `add --before ${last.inbound_id}`)
            return table(calls.map(summary), 'There are no such calls.') + more
          })
        }),
    )
    .addCommand(
      new Command('reprocess')
        .description('process calls again, such as after a status was mapped; a wrong token stays wrong')
        .argument('<ids...>', 'inbound_ids')
        .action(async (ids: string[], options: OutputOptions) => {
          const results = await withDatabase((context) => reprocessAll(context, ids))
          show(options, results, () => table(results, ''))
          if (results.some(({ outcome }) => FAILURES.includes(outcome))) process.exitCode = 1
        }),
    )

const FAILURES = ['refused', 'invalid', 'unmatched', 'unknown']

const summary = (call: CallRow) => ({
  inbound_id: call.inbound_id,
  received_at: call.received_at,
  advertiser_id: call.advertiser_id,
  outcome: call.outcome,
  attempts: call.attempts,
  query: call.query.slice(0, 100),
  reason: call.reason,
})

async function reprocessAll({ config, database: { db } }: Context, ids: string[]) {
  const countries = await openCountryFinder({ file: config.geoipDb, log: createLog('warn') })
  const results: { inbound_id: string; outcome: string; message: string }[] = []
  try {
    for (const id of ids) {
      const call = await findCall(db, id)
      if (call === null) {
        results.push({
          inbound_id: id,
          outcome: 'unknown',
          message: 'There is no such call. "offerdeck inbound list" shows them.',
        })
        continue
      }
      const again = await reprocessCall(db, callOf(call), { countryOf: (ip) => countries.find(ip), isAgain: true })
      results.push({
        inbound_id: id,
        outcome: again?.outcome ?? 'refused',
        message: again?.message ?? 'Its token was wrong when it came. That verdict stays.',
      })
    }
  } finally {
    countries.close()
  }
  return results
}
