import { Command, Option } from 'commander'
import { OperatorError } from '../errors.ts'
import { countCaps, setCaps } from '../features/offers/cap-counts.ts'
import { type Caps, OVER_CAP, parseCountCap, parsePayoutCap, showCaps } from '../features/offers/caps.ts'
import { importOffers, type ImportResult, type RowProblem, type RowWarning } from '../features/offers/import.ts'
import { listOffers, setOfferStatus, showOffer } from '../features/offers/offers.ts'
import { formatDuration } from '../lib/duration.ts'
import { microsToUsd } from '../lib/money.ts'
import { withChange, withDatabase } from './context.ts'
import { fields, type OutputOptions, readId, readLimit, readOn, show, table } from './output.ts'
import { createProgressBar } from './progress.ts'
import { failLater } from './terminal.ts'

const MAX_PROBLEMS_SHOWN = 1_000

export const offerCommand = () =>
  new Command('offer')
    .description('offers: what users can complete')
    .addCommand(
      new Command('import')
        .description('create or update offers from a file: a JSON array (.json) or CSV with a header row (.csv)')
        .argument('<file>', 'the file to import')
        .action(importFile),
    )
    .addCommand(
      new Command('list')
        .description('list offers')
        .option('--advertiser <name>', 'only offers of this advertiser')
        .option('--after <id>', 'start after this offer_id', '0')
        .option('--limit <n>', 'maximum number of results', '50')
        .action(async (options: OutputOptions & { advertiser?: string; after: string; limit: string }) => {
          const page = {
            after: readId(options.after),
            limit: readLimit(options.limit),
            ...(options.advertiser === undefined ? {} : { advertiser: options.advertiser }),
          }
          const offers = await withDatabase(({ database }) => listOffers(database.db, page))
          show(options, offers, () => {
            const more = readOn(offers, page.limit, (last) => `offerdeck offer list --after ${last.offer_id}`)
            return table(offers, 'No offers found. Import some with: offerdeck offer import FILE') + more
          })
        }),
    )
    .addCommand(
      new Command('show')
        .description('show everything recorded about an offer')
        .argument('<id>', 'offer_id')
        .action(async (id: string, options: OutputOptions) => {
          const offer = await withDatabase(({ database }) => showOffer(database.db, readId(id)))
          show(options, describeOffer(offer), fields)
        }),
    )
    .addCommand(capsCommand())
    .addCommand(statusCommand('pause', 'pause an offer: it is no longer listed', 'paused'))
    .addCommand(statusCommand('resume', 'list a paused offer again', 'active'))

type OfferAsRecorded = Awaited<ReturnType<typeof showOffer>>

/** Durations and percentages as an import takes them. */
function describeOffer({ attribution_s, hold_s, full_until, goals, ...offer }: OfferAsRecorded) {
  return {
    ...offer,
    attribution_window: formatDuration(attribution_s * 1_000),
    hold: formatDuration(hold_s * 1_000),
    full_until: Number(full_until) === Infinity ? 'for good' : full_until,
    goals: goals.map(({ payout_ppm, revenue_ppm, ...goal }) => ({
      ...goal,
      payout_percent: payout_ppm === null ? null : payout_ppm / 10_000,
      revenue_percent: revenue_ppm === null ? null : revenue_ppm / 10_000,
    })),
  }
}

type CapOptions = Partial<
  Record<
    'dailyClicks' | 'totalClicks' | 'dailyConversions' | 'totalConversions' | 'dailyPayout' | 'totalPayout',
    string
  >
>

const capsCommand = () =>
  new Command('caps')
    .description("set an offer's daily (UTC) and total caps; without options, show the caps and their usage")
    .argument('<id>', 'offer_id')
    .option('--daily-clicks <n>', 'maximum clicks per day, or "none" for no cap')
    .option('--total-clicks <n>', 'maximum clicks in total since the offer was first capped, or "none"')
    .option('--daily-conversions <n>', 'maximum conversions per day, or "none"')
    .option('--total-conversions <n>', 'maximum conversions in total, or "none"')
    .option('--daily-payout <usd>', 'maximum payout per day in USD, or "none"')
    .option('--total-payout <usd>', 'maximum payout in total in USD, or "none"')
    .addOption(
      new Option('--over-cap <what>', 'what to do with conversions from clicks made before a cap was reached').choices(
        OVER_CAP,
      ),
    )
    .action(async (id: string, options: OutputOptions & CapOptions & { overCap?: (typeof OVER_CAP)[number] }) => {
      const settings = { ...readCapOptions(options), ...(options.overCap && { overCap: options.overCap }) }
      const now = new Date()
      if (Object.keys(settings).length > 0)
        await withChange(({ database: { db } }) => setCaps(db, readId(id), settings, now))
      const caps = await withDatabase(async ({ database: { db } }) => {
        await countCaps(db, now)
        return showCaps(db, readId(id), now)
      })
      show(options, caps, describeCaps)
    })

/** Checks all options and reports what is wrong with any of them, in one message. */
function readCapOptions(options: CapOptions): Partial<Caps> {
  const problems: string[] = []
  const caps: Partial<Caps> = {}
  const read = (name: keyof Caps, option: string, text: string | undefined) => {
    if (text === undefined) return
    const isPayout = option.endsWith('payout')
    const cap = text === 'none' ? null : isPayout ? parsePayoutCap(text) : parseCountCap(text)
    caps[name] = cap
    if (cap !== null || text === 'none') return
    const rule = isPayout ? 'an amount in USD above 0 with at most 4 decimals' : 'a whole number above 0'
    problems.push(`--${option} must be ${rule}, or "none".`)
  }
  read('dailyClicks', 'daily-clicks', options.dailyClicks)
  read('totalClicks', 'total-clicks', options.totalClicks)
  read('dailyConversions', 'daily-conversions', options.dailyConversions)
  read('totalConversions', 'total-conversions', options.totalConversions)
  read('dailyPayoutMicros', 'daily-payout', options.dailyPayout)
  read('totalPayoutMicros', 'total-payout', options.totalPayout)
  if (problems.length > 0) throw new OperatorError(problems.join('\n'))
  return caps
}

const STATES = {
  no: 'The offer is open.',
  today: 'A daily cap is reached: the offer reopens at midnight UTC.',
  'for good': 'A total cap is reached: the offer stays closed unless the cap is raised.',
}

function describeCaps(caps: Awaited<ReturnType<typeof showCaps>>): string {
  const { today, total } = caps
  if (today === null || total === null) return `Offer ${caps.offer_id} has no caps. Its usage is not counted.`
  const rows = [
    { of: 'clicks', today: today.clicks, daily_cap: caps.daily_click_cap, total: total.clicks, total_cap: caps.total_click_cap },
    { of: 'conversions', today: today.conversions, daily_cap: caps.daily_conversion_cap, total: total.conversions, total_cap: caps.total_conversion_cap },
    { of: 'payout', today: usd(today.payout_micros), daily_cap: usd(caps.daily_payout_cap_micros), total: usd(total.payout_micros), total_cap: usd(caps.total_payout_cap_micros) },
  ] // prettier-ignore
  const late = caps.over_cap === 'honour' ? 'still count' : 'are rejected'
  return `${table(rows, '')}\n\n${STATES[caps.full]} Conversions from earlier clicks ${late}.`
}

const usd = (micros: number | null) => (micros === null ? null : microsToUsd(micros))

function statusCommand(name: string, description: string, status: 'active' | 'paused'): Command {
  return new Command(name)
    .description(description)
    .argument('<id>', 'offer_id')
    .action(async (id: string, options: OutputOptions) => {
      await withChange(({ database }) => setOfferStatus(database.db, readId(id), status))
      show(options, { offer_id: readId(id), status }, () => `Offer ${id} is ${status}.`)
    })
}

async function importFile(file: string, options: OutputOptions): Promise<void> {
  const problems: RowProblem[] = []
  const warnings: RowWarning[] = []
  const bar = createProgressBar()
  const result = await withDatabase(({ database }) =>
    importOffers(database.db, file, {
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
