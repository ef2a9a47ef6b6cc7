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
import { failLater } from './terminal.ts'

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
    .description('callbacks from advertisers: what they sent and the outcome')
    .addCommand(
      new Command('list')
        .description('list callbacks, newest first')
        .option('--outcome <outcome>', 'only callbacks with this outcome, such as unmatched, invalid or refused')
        .option('--open', 'only callbacks that had no effect so far and were not dismissed')
        .option('--advertiser <name>', 'only callbacks with a token of this advertiser')
        .option('--click <id>', 'only callbacks for this click')
        .option('--before <id>', 'only callbacks before this one')
        .option('--limit <n>', 'maximum number of results', '50')
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
            const none = next === null ? 'No callbacks found.' : 'No matches so far.'
            return table(calls.map(summary), none) + goOn(next)
          })
        }),
    )
    .addCommand(
      new Command('reprocess')
        .description('reprocess callbacks, oldest first, such as after mapping a status or allowing an IP')
        .argument('[ids...]', 'inbound_ids')
        .option('--advertiser <name>', 'all open callbacks of this advertiser (see: inbound list --open)')
        .action(async (ids: string[], options: OutputOptions & { advertiser?: string }) => {
          if ((ids.length === 0) === (options.advertiser === undefined))
            throw new OperatorError('Give either callback IDs, or --advertiser NAME for all its open callbacks.')
          const results = await withDatabase(async (context) => {
            const { db } = context.database
            return reprocessAll(context, options.advertiser === undefined ? ids : await openIds(db, options.advertiser))
          })
          show(options, results, () => table(results, 'This advertiser has no open callbacks.'))
          if (results.some(({ outcome }) => FAILURES.includes(outcome))) failLater()
        }),
    )
    .addCommand(
      new Command('dismiss')
        .description('dismiss open callbacks; they stay in the log')
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
          message: 'There is no such callback. List callbacks with: offerdeck inbound list',
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
