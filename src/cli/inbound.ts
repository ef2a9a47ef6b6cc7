import { Command } from 'commander'
import type { Db } from '../db/open.ts'
import { OperatorError } from '../errors.ts'
import { openCountryFinder } from '../features/clicks/geo.ts'
import {
  type CallFilter,
  type CallRow,
  findCall,
  listCalls,
  searchCalls,
} from '../features/conversions/inbound/calls.ts'
import { reprocessCalls } from '../features/conversions/inbound/confirm.ts'
import { dismissCalls } from '../features/conversions/inbound/open-calls.ts'
import { isUuid } from '../lib/uuid7.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { type Context, withChange, withDatabase } from './context.ts'
import { checkClick, findAdvertiser } from './find.ts'
import { createLog } from './log.ts'
import { fields, goOn, type OutputOptions, readLimit, readUuid, show, table } from './output.ts'
import { failLater } from './terminal.ts'
import { hint, UsageError } from './usage.ts'

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
    .addCommand(
      new Command('list')
        .description('list callbacks, newest first')
        .option('--outcome <outcome>', 'only callbacks with this outcome, such as unmatched, invalid or refused')
        .option('--open', 'only callbacks that had no effect so far and were not dismissed')
        .option('--advertiser <advertiser>', 'only callbacks with a token of this advertiser')
        .option('--click <id>', 'only callbacks for this click')
        .option('--before <id>', 'only callbacks before this one')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: ListOptions) => {
          const limit = readLimit(options.limit)
          const { rows: calls, next } = await withDatabase(async ({ database: { db } }) => {
            const filter: CallFilter = {}
            if (options.outcome !== undefined) filter.outcome = options.outcome
            if (options.open) filter.isOpen = true
            if (options.before !== undefined) filter.before = readUuid(options.before, '--before', 'an inbound_id')
            if (options.advertiser !== undefined)
              filter.advertiserId = (await findAdvertiser(db, options.advertiser)).advertiser_id
            const found = await searchCalls(
              db,
              options.click === undefined ? filter : { ...filter, clickId: options.click },
              limit,
            )
            // Callbacks may name a click that is none, or outlive it.
            if (options.click !== undefined && found.rows.length === 0) await checkClick(db, options.click)
            return found
          })
          show(options, calls.map(presentCall), () => {
            const none = next === null ? 'No callbacks found.' : 'No matches so far.'
            return table(calls.map(summary), none) + goOn(next)
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('show a callback with everything it sent')
        .argument('<id>', 'inbound_id')
        .action(async (id: string, options: OutputOptions) => {
          const call = await withDatabase(({ database: { db } }) => findCall(db, id))
          if (call === null) throw new OperatorError(noSuch(id))
          show(options, presentCall(call), fields)
        }),
    )
    .addCommand(
      new Command('reprocess')
        .description('reprocess callbacks, oldest first, such as after mapping a status or allowing an IP')
        .argument('[ids...]', 'inbound_ids')
        .option('--advertiser <advertiser>', 'all open callbacks of this advertiser (see: inbound list --open)')
        .addOption(yesOption())
        .action(async (ids: string[], options: OutputOptions & ConfirmOptions & { advertiser?: string }) => {
          if ((ids.length === 0) === (options.advertiser === undefined))
            throw new UsageError('Give either callback IDs, or --advertiser for all its open callbacks.')
          if (options.advertiser !== undefined)
            await confirm(`This processes all open callbacks of advertiser "${options.advertiser}" again.`, options)
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
        .addOption(yesOption())
        .action(async (ids: string[], options: OutputOptions & ConfirmOptions) => {
          const wanted = ids.map(readCallId)
          const many = wanted.length === 1 ? 'This callback' : `These ${wanted.length} callbacks`
          await confirm(`${many} will no longer need attention, and stay${wanted.length === 1 ? 's' : ''} in the log.`, options) // prettier-ignore
          const dismissed = await withChange(({ database: { db }, by }) => dismissCalls(db, by, wanted))
          const left = wanted.filter((id) => !dismissed.includes(id)).map((id) => `There is no open callback ${id}.`)
          show(options, { dismissed }, () => [`${dismissed.length} of ${ids.length} dismissed.`, ...left].join('\n'))
          if (dismissed.length < new Set(wanted).size) failLater()
        }),
    )

const PAGE = 500
const FAILURES = ['refused', 'invalid', 'unmatched', 'unknown']

/** What is not even an ID is no callback either. */
function readCallId(text: string): string {
  if (!isUuid(text)) throw new OperatorError(noSuch(text))
  return text
}

const noSuch = (id: string) => `There is no callback ${id}. List callbacks with: ${hint('inbound list')}`

const summary = (call: CallRow) => ({
  inbound_id: call.inbound_id,
  received_at: call.received_at,
  advertiser_id: call.advertiser_id,
  outcome: call.outcome,
  reason: call.reason,
  query: call.query,
  attempts: call.attempts,
  repeats: call.repeats ?? 0,
})

/** As the API has it. */
const presentCall = ({ repeats, ...call }: CallRow) => ({ ...call, repeats: repeats ?? 0 })

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

async function reprocessAll({ config, database: { db }, by }: Context, ids: string[]) {
  const countries = await openCountryFinder({ file: config.geoipDb, log: createLog('warn') })
  const results: { inbound_id: string; outcome: string; message: string }[] = []
  try {
    for (const id of ids) {
      const call = await findCall(db, id)
      if (call === null) {
        results.push({
          inbound_id: id,
          outcome: 'unknown',
          message: noSuch(id),
        })
        continue
      }
      results.push(...(await reprocessCalls(db, by, [call], { countryOf: (ip) => countries.find(ip) })))
    }
  } finally {
    countries.close()
  }
  return results
}
