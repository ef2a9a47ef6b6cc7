import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { Command, Option } from 'commander'
import { countCaps } from '../features/offers/cap-counts.ts'
import { type Caps, OVER_CAP, parseCountCap, parsePayoutCap, showCaps } from '../features/offers/caps.ts'
import { setCaps } from '../features/offers/edit-offers.ts'
import {
  importOffers,
  type ImportResult,
  type RowProblem,
  type RowWarning,
  startImport,
} from '../features/offers/import.ts'
import { listOffers, setOfferStatus, showOffer } from '../features/offers/offers.ts'
import { microsToUsd } from '../lib/money.ts'
import { presentOffer } from '../manage/operator/offers/record.ts'
import type { ShownOffer } from '../manage/operator/offers/schema.ts'
import { confirm, type ConfirmOptions, yesOption } from './confirm.ts'
import { withChange, withDatabase } from './context.ts'
import { findAdvertiser, findOffer, findOfferId } from './find.ts'
import { approveProposalCommand, proposalsCommand, refuseProposalCommand } from './offer-proposals.ts'
import { fields, type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { createProgressBar } from './progress.ts'
import { failLater } from './terminal.ts'
import { hint, UsageError } from './usage.ts'

const MAX_PROBLEMS_SHOWN = 1_000

export const offerCommand = () =>
  new Command('offer')
    .addCommand(
      new Command('import')
        .description('create or update offers from a file: a JSON array (.json) or CSV with a header row (.csv)')
        .argument('<file>', 'the file to import')
        .action(importFile),
    )
    .addCommand(
      new Command('list')
        .description('list offers')
        .option('--advertiser <advertiser>', 'only offers of this advertiser')
        .option('--after <id>', 'start after this offer_id', '0')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: OutputOptions & { advertiser?: string; after: string; limit: string }) => {
          const { advertiser } = options
          const page = { after: readId(options.after), limit: readLimit(options.limit) }
          const offers = await withDatabase(async ({ database: { db } }) =>
            listOffers(db, {
              ...page,
              ...(advertiser === undefined ? {} : { advertiser: (await findAdvertiser(db, advertiser)).name }),
            }),
          )
          show(options, offers, () => {
            const rows = offers.map(({ offer_id, name, status, payout_micros, category, advertiser: owner, external_id }) => ({
              offer_id, name, status, payout_micros, category, advertiser: owner, external_id,
            })) // prettier-ignore
            const more = readOn(offers, page.limit, (last) => `add --after ${last.offer_id}`)
            return table(rows, `No offers found. Import some with: ${hint('offer import FILE')}`) + more
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('show everything recorded about an offer')
        .argument('<offer>', 'ID or name')
        .action(async (named: string, options: OutputOptions) => {
          const offer = await withDatabase(async ({ database: { db } }) =>
            presentOffer(db, await showOffer(db, await findOfferId(db, named)), new Date()),
          )
          show(options, offer, describeOffer)
        }),
    )
    .addCommand(capsCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(proposalsCommand())
    .addCommand(approveProposalCommand())
    .addCommand(refuseProposalCommand())

/** The fields, and the goals as a table. Usage is what `offer caps` shows. */
function describeOffer({ goals, usage: _usage, warnings, ...offer }: ShownOffer): string {
  const parts = [fields(offer), table(goals, ''), ...warnings.map((warning) => `Warning: ${warning}`)]
  return parts.join('\n\n')
}

type CapOptions = Partial<
  Record<
    | 'dailyClicks'
    | 'totalClicks'
    | 'dailyConversions'
    | 'totalConversions'
    | 'dailyPayout'
    | 'totalPayout'
    | 'dailyRevenue'
    | 'totalRevenue',
    string
  >
>

const capsCommand = () =>
  new Command('caps')
    .description("set an offer's daily (UTC) and total caps; without options, show the caps and their usage")
    .argument('<offer>', 'ID or name')
    .option('--daily-clicks <n>', 'maximum clicks per day, or "none" for no cap')
    .option('--total-clicks <n>', 'maximum clicks in total since the offer was first capped, or "none"')
    .option('--daily-conversions <n>', 'maximum conversions per day, or "none"')
    .option('--total-conversions <n>', 'maximum conversions in total, or "none"')
    .option('--daily-payout <usd>', 'maximum payout per day in USD, or "none"')
    .option('--total-payout <usd>', 'maximum payout in total in USD, or "none"')
    .option('--daily-revenue <usd>', 'maximum that the advertiser pays per day in USD, or "none"')
    .option('--total-revenue <usd>', 'maximum that the advertiser pays in total in USD, or "none"')
    .addOption(
      new Option('--over-cap <what>', 'what to do with conversions from clicks made before a cap was reached').choices(
        OVER_CAP,
      ),
    )
    .action(async (named: string, options: OutputOptions & CapOptions & { overCap?: (typeof OVER_CAP)[number] }) => {
      const settings = { ...readCapOptions(options), ...(options.overCap && { overCap: options.overCap }) }
      const now = new Date()
      if (Object.keys(settings).length > 0)
        await withChange(async ({ database: { db }, by }) =>
          setCaps(db, by, await findOfferId(db, named), settings, now),
        )
      const caps = await withDatabase(async ({ database: { db } }) => {
        const offerId = await findOfferId(db, named)
        await countCaps(db, now)
        return showCaps(db, offerId, now)
      })
      show(options, caps, describeCaps)
    })

/** Checks all options and reports what is wrong with any of them, in one message. */
function readCapOptions(options: CapOptions): Partial<Caps> {
  const problems: string[] = []
  const caps: Partial<Caps> = {}
  const read = (name: keyof Caps, option: string, text: string | undefined) => {
    if (text === undefined) return
    const isMoney = option.endsWith('payout') || option.endsWith('revenue')
    const cap = text === 'none' ? null : isMoney ? parsePayoutCap(text) : parseCountCap(text)
    caps[name] = cap
    if (cap !== null || text === 'none') return
    const rule = isMoney ? 'an amount in USD above 0 with at most 4 decimals' : 'a whole number above 0'
    problems.push(`--${option} must be ${rule}, or "none".`)
  }
  read('dailyClicks', 'daily-clicks', options.dailyClicks)
  read('totalClicks', 'total-clicks', options.totalClicks)
  read('dailyConversions', 'daily-conversions', options.dailyConversions)
  read('totalConversions', 'total-conversions', options.totalConversions)
  read('dailyPayoutMicros', 'daily-payout', options.dailyPayout)
  read('totalPayoutMicros', 'total-payout', options.totalPayout)
  read('dailyRevenueMicros', 'daily-revenue', options.dailyRevenue)
  read('totalRevenueMicros', 'total-revenue', options.totalRevenue)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return caps
}

const STATES = {
  no: 'The offer is open.',
  today: 'A daily cap is reached: the offer reopens at midnight UTC.',
  'for good': 'A total cap is reached: the offer stays closed unless the cap is raised.',
}

function describeCaps(caps: Awaited<ReturnType<typeof showCaps>>): string {
  const { today, total } = caps
  const budget = caps.is_out_of_budget ? ' A budget of its advertiser is used up: the offer is closed.' : ''
  if (today === null || total === null) return `Offer ${caps.offer_id} has no caps. Its usage is not counted.${budget}`
  const rows = [
    { of: 'clicks', today: today.clicks, daily_cap: caps.daily_click_cap, total: total.clicks, total_cap: caps.total_click_cap },
    { of: 'conversions', today: today.conversions, daily_cap: caps.daily_conversion_cap, total: total.conversions, total_cap: caps.total_conversion_cap },
    { of: 'payout', today: usd(today.payout_micros), daily_cap: usd(caps.daily_payout_cap_micros), total: usd(total.payout_micros), total_cap: usd(caps.total_payout_cap_micros) },
    { of: 'revenue', today: usd(today.revenue_micros), daily_cap: usd(caps.daily_revenue_cap_micros), total: usd(total.revenue_micros), total_cap: usd(caps.total_revenue_cap_micros) },
  ] // prettier-ignore
  const late = caps.over_cap === 'honour' ? 'still count' : 'are rejected'
  return `${table(rows, '')}\n\n${caps.is_out_of_budget && caps.full === 'no' ? 'No cap is reached.' : STATES[caps.full]}${budget} Conversions from earlier clicks ${late}.`
}

const usd = (micros: number | null) => (micros === null ? null : microsToUsd(micros))

const pauseCommand = () =>
  new Command('pause')
    .description('pause an offer: it is no longer listed')
    .argument('<offer>', 'ID or name')
    .addOption(yesOption())
    .action(async (named: string, options: OutputOptions & ConfirmOptions) => {
      const { offer_id, name } = await withDatabase(({ database }) => findOffer(database.db, named))
      await confirm(`This takes offer ${offer_id}, "${name}", off all lists within a second.`, options)
      await setStatus(named, options, 'paused')
    })

const resumeCommand = () =>
  new Command('resume')
    .description('list a paused offer again')
    .argument('<offer>', 'ID or name')
    .action((named: string, options: OutputOptions) => setStatus(named, options, 'active'))

async function setStatus(named: string, options: OutputOptions, status: 'active' | 'paused'): Promise<void> {
  const { offer_id, name } = await withChange(async ({ database: { db }, by }) => {
    const offer = await findOffer(db, named)
    await setOfferStatus(db, by, offer.offer_id, status)
    return offer
  })
  show(options, { offer_id, status }, () => `Offer ${offer_id}, "${name}", is ${status}.`)
}

async function importFile(file: string, options: OutputOptions): Promise<void> {
  const problems: RowProblem[] = []
  const warnings: RowWarning[] = []
  const bar = createProgressBar()
  const source = { importId: randomUUID(), file, fileName: basename(file) }
  const result = await withDatabase(async ({ database: { db }, by }) =>
    importOffers(db, await startImport(db, by, source), {
      onProblem: (problem) => {
        if (problems.length < MAX_PROBLEMS_SHOWN) problems.push(problem)
      },
      onWarning: (warning) => {
        if (warnings.length < MAX_PROBLEMS_SHOWN) warnings.push(warning)
      },
      onProgress: (read, total, { created, updated }) =>
        bar.update(read / Math.max(total, 1), `${created} new, ${updated} updated`),
    }),
  ).finally(() => bar.clear())
  show(options, { ...result, problems, warnings }, () => summary(result, problems, warnings))
  if (result.rejected > 0) failLater()
}

function summary(result: ImportResult, problems: RowProblem[], warnings: RowWarning[]): string {
  const lines = problems.map(({ line, problem }) => `line ${line}: ${problem}`)
  if (result.rejected > problems.length) lines.push(`… and ${result.rejected - problems.length} more.`)
  lines.push(...warnings.map(({ line, warning }) => `line ${line}: warning: ${warning}`))
  lines.push(
    `${result.rows} rows: ${result.created} new, ${result.updated} updated, ${result.unchanged} unchanged, ${result.rejected} rejected.`,
  )
  return lines.join('\n')
}
