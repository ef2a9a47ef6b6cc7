import { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { findAdvertiser } from '../features/accounts/advertisers.ts'
import { openCountryFinder } from '../features/clicks/geo.ts'
import {
  type CallFilter,
  callOf,
  type CallRow,
  findCall,
  listCalls,
  searchCalls,
} from '../features/conversions/inbound/calls.ts'
import { reprocessCall } from '../features/conversions/inbound/confirm.ts'
import { dismissCalls } from '../features/conversions/inbound/open-calls.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { createLog } from './log.ts'
import { type OutputOptions, readLimit, goOn, readUuid, show, table } from './output.ts'

type ListOptions = OutputOptions & {
  outcome?: string
  open?: boolean
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
        .option('--open', 'only those that came to nothing so far and were not dismissed')
        .option('--advertiser <name>', 'only those with the token of this advertiser')
        .option('--click <id>', 'only those about this click')
        .option('--before <id>', 'only those before this call')
        .option('--limit <n>', 'at most this many', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const { rows: calls, next } = await withDatabase(async ({ database: { db } }) => {
            const filter: CallFilter = {}
            if (options.outcome !== undefined) filter.outcome = options.outcome
            if (options.open) filter.isOpen = true
            if (options.click !== undefined) filter.clickId = options.click
            if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'an inbound_id')
            if (options.advertiser !== undefined)
              filter.advertiserId = (await findAdvertiser(db, options.advertiser)).advertiser_id
            return searchCalls(db, filter, limit)
          })
          show(options, calls, () => {
            const none = next === null ? 'There are no such calls.' : 'None found so far.'
            return table(calls.map(summary), none) + goOn(next)
          })
        }),
    )
    .addCommand(
      new Command('reprocess')
        .description('process calls again, the oldest first, such as after a status was mapped or an address allowed')
        .argument('[ids...]', 'inbound_ids')
        .option('--advertiser <name>', 'all of this advertiser that came to nothing so far (see: inbound list --open)')
        .action(async (ids: string[], options: OutputOptions & { advertiser?: string }) => {
          if ((ids.length === 0) === (options.advertiser === undefined))
            throw new OperatorError('Give the ids of calls, or --advertiser NAME for all of its open ones.')
          const results = await withDatabase(async (context) => {
            const { db } = context.database
            return reprocessAll(context, options.advertiser === undefined ? ids : await openIds(db, options.advertiser))
          })
          show(options, results, () => table(results, 'No call of this advertiser is open.'))
          if (results.some(({ outcome }) => FAILURES.includes(outcome))) process.exitCode = 1
        }),
    )
    .addCommand(
      new Command('dismiss')
        .description('take calls off the list of open ones; the log keeps them')
        .argument('<ids...>', 'inbound_ids')
        .action(async (ids: string[], options: OutputOptions) => {
          const wanted = ids.map((id) => readUuid(id, 'id', 'an inbound_id'))
          const dismissed = await withChange(({ database: { db } }) => dismissCalls(db, wanted))
          show(options, { dismissed }, () => `${dismissed.length} of ${ids.length} dismissed`)
        }),
    )

const PAGE = 500
const FAILURES = ['refused', 'invalid', 'unmatched', 'unknown']

const summary = (call: CallRow) => ({
  inbound_id: call.inbound_id,
  received_at: call.received_at,
  advertiser_id: call.advertiser_id,
  outcome: call.outcome,
  attempts: call.attempts,
  repeats: call.repeats ?? 0,
  query: call.query.slice(0, 100),
  reason: call.reason,
})

/** All open calls of an advertiser, the oldest first. */
async function openIds(db: Db, name: string): Promise<string[]> {
  const { advertiser_id: advertiserId } = await findAdvertiser(db, name)
  const ids: string[] = []
  for (;;) {
    const last = ids.at(-1)
    const filter = { advertiserId, isOpen: true, ...(last === undefined ? {} : { before: last }) }
    const page = await listCalls(db, filter, PAGE)
    ids.push(...page.map((call) => call.inbound_id))
    if (page.length < PAGE) return ids.toReversed()
  }
}

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
      results.push({ inbound_id: id, outcome: again.outcome, message: again.message })
    }
  } finally {
    countries.close()
  }
  return results
}
