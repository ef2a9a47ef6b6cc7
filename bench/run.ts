// npm run bench: measures Offerdeck side by side with simpler servers and says what was wanted. See README.md.
import { availableParallelism, cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { accept, describeSlipped } from './accepted.ts'
import { type CapacityPlan, describeCapacity, measureCapacity } from './capacity/capacity.ts'
import { describeClickDay, findProblems, measureClickDay } from './capacity/click-day.ts'
import { acceptCapacity, acceptClickDay, acceptPlan, readMeasured, readPage } from './capacity/page.ts'
import { describeSoak, runSoak } from './capacity/soak.ts'
import { describeAlternatives, measureAlternatives } from './alternatives.ts'
import { measureClicks } from './clicks.ts'
import { measureConversions } from './conversions.ts'
import { FOLDER } from './data.ts'
import { describeGrowth, type GrowthPlan, measureGrowth } from './growth.ts'
import { type FigureNumber, measureCatalogue, type Measured, measureStarts } from './figures.ts'
import { describeFeed, type FeedPlan, measureFeed } from './feed.ts'
import { measureFirstPage } from './first-page.ts'
import { measureIsolation } from './isolation.ts'
import { measurePartitions, type PartitionsPlan } from './partitions.ts'
import { describeProcesses, measureProcesses, type ProcessesPlan } from './processes.ts'
import { measurePostbacks } from './postbacks.ts'
import { type Figure, type Findings, createFigures, tableOf } from './report.ts'
import type { Plan } from './rounds.ts'
import { describeRanking, type RankingPlan, simulateRanking } from './ranking.ts'
import { measureWall } from './wall.ts'
import { prepareWrk } from './wrk.ts'

const FULL: Plan = { warmUpSeconds: 8, rounds: 5, seconds: 3 }
const QUICK: Plan = { warmUpSeconds: 4, rounds: 3, seconds: 2 }
const FULL_BATCHES: PartitionsPlan = { clicks: 10_000_000, rounds: 9, warmUpBatches: 10, batches: 50 }
const QUICK_BATCHES: PartitionsPlan = { clicks: 1_000_000, rounds: 5, warmUpBatches: 10, batches: 50 }
const YEAR = { apps: 400, offersInUse: 20_000, retentionDays: 90 }
const FULL_GROWTH: GrowthPlan = { offers: 1_000_000, sizes: { ...YEAR, conversions: 5_000_000, clicks: 20_000_000 }, rounds: 200 } // prettier-ignore
const QUICK_GROWTH: GrowthPlan = { offers: 100_000, sizes: { ...YEAR, conversions: 500_000, clicks: 2_000_000 }, rounds: 60 } // prettier-ignore
const FULL_RANKING: RankingPlan = { seeds: [1, 2, 3], days: 45, viewsADay: 3_000, offers: 400, newADay: 8 }
const QUICK_RANKING: RankingPlan = { ...FULL_RANKING, seeds: [1], days: 30, viewsADay: 1_200 }
const FULL_FEED: FeedPlan = { offers: 50_000, quietLaps: 5 }
const QUICK_FEED: FeedPlan = { offers: 10_000, quietLaps: 3 }
const FULL_PROCESSES: ProcessesPlan = { ...FULL, offers: 10_000, processes: 2 }
const QUICK_PROCESSES: ProcessesPlan = { ...FULL_PROCESSES, ...QUICK }
const FULL_CAPACITY: CapacityPlan = { p99Ms: 50, offers: 100_000, warmUpSeconds: 10, stepSeconds: 5, confirmSeconds: 60, precision: 0.1 } // prettier-ignore
const QUICK_CAPACITY: CapacityPlan = { p99Ms: 50, offers: 10_000, warmUpSeconds: 3, stepSeconds: 2, confirmSeconds: 6, precision: 0.4 } // prettier-ignore
const FIGURES: readonly FigureNumber[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean' },
    json: { type: 'boolean' },
    accept: { type: 'boolean' },
    p99: { type: 'string' },
    minutes: { type: 'string' },
    rate: { type: 'string' },
  },
})
const NAMED: Record<string, () => Promise<void>> = {
  growth: printGrowth,
  ranking: printRanking,
  feed: printFeed,
  processes: printProcesses,
  capacity: printCapacity,
  soak: printSoak,
  'click-day': printClickDay,
  plan: writePlan,
  alternatives: printAlternatives,
}
const named = NAMED[options.only ?? '']
const wanted = readWanted(named === undefined ? options.only : undefined)
const isQuick = options.quick === true
const plan = isQuick ? QUICK : FULL
const say = (text: string) => process.stderr.write(`${text}\n`)

const loadBefore = loadavg()[0] ?? 0
await (named ?? printFigures)()

async function printFigures(): Promise<void> {
  prepareWrk()
  say(`Data folders are kept in ${FOLDER}; delete it to start afresh.`)
  print({
    catalogues: await measureCatalogues(),
    starts: wanted.has(5) ? await measureStarts(say) : null,
    clicks: wanted.has(6) ? await measureClicks(plan, say) : null,
    conversions: wanted.has(7) ? await measureConversions(plan, say) : null,
    partitions: wanted.has(8) ? await measurePartitions(isQuick ? QUICK_BATCHES : FULL_BATCHES, say) : null,
    postbacks: [9, 10, 11].some((figure) => wanted.has(figure as FigureNumber))
      ? await measurePostbacks(plan, say)
      : null,
    isolation: wanted.has(12) ? await measureIsolation({ rounds: 3, seconds: isQuick ? 5 : 20 }, say) : null,
    firstPage: wanted.has(13) ? await measureFirstPage(say) : null,
    wall: [14, 15, 16].some((figure) => wanted.has(figure as FigureNumber)) ? await measureWall(plan, say) : null,
  })
}

async function printGrowth(): Promise<void> {
  const measured = await measureGrowth(isQuick ? QUICK_GROWTH : FULL_GROWTH, say)
  console.log(options.json === true ? JSON.stringify(measured, null, 2) : `\n${describeGrowth(measured)}`)
  printLog(measured.log)
}

async function printRanking(): Promise<void> {
  const findings = await simulateRanking(isQuick ? QUICK_RANKING : FULL_RANKING, say)
  console.log(options.json === true ? JSON.stringify(findings, null, 2) : `\n${describeRanking(findings)}`)
}

async function printFeed(): Promise<void> {
  prepareWrk()
  const measured = await measureFeed(isQuick ? QUICK_FEED : FULL_FEED, say)
  console.log(options.json === true ? JSON.stringify(measured, null, 2) : `\n${describeFeed(measured)}`)
}

async function printProcesses(): Promise<void> {
  prepareWrk()
  const measured = await measureProcesses(isQuick ? QUICK_PROCESSES : FULL_PROCESSES, say)
  console.log(options.json === true ? JSON.stringify(measured, null, 2) : `\n${describeProcesses(measured)}`)
}

async function printCapacity(): Promise<void> {
  const measured = await measureCapacity(capacityPlan(), say)
  console.log(options.json === true ? JSON.stringify(measured, null, 2) : `\n${describeCapacity(measured)}`)
  if (options.accept === true) acceptCapacity(measured)
  printLog(measured.log)
}

async function printSoak(): Promise<void> {
  const { offers, ...search } = capacityPlan()
  const minutes = Number(options.minutes ?? (isQuick ? 2 : 60))
  const rate = options.rate === undefined ? null : Number(options.rate)
  const soak = await runSoak({ offers, minutes, rate, search }, say)
  console.log(options.json === true ? JSON.stringify(soak, null, 2) : `\n${describeSoak(soak)}`)
  printLog(soak.log)
}

/** Fails where the page of capacity is wrong. */
async function printClickDay(): Promise<void> {
  const day = await measureClickDay(isQuick ? 100_000 : 1_000_000, say)
  const problems = findProblems(readMeasured(readPage()), day)
  console.log(options.json === true ? JSON.stringify({ ...day, problems }, null, 2) : `\n${describeClickDay(day)}`)
  if (options.accept === true) acceptClickDay(day)
  for (const problem of problems) say(`docs/capacity.md: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}

/** What follows from the figures and assumptions of the page, after one was changed by hand. */
async function writePlan(): Promise<void> {
  acceptPlan()
}

function printLog(log: string[]): void {
  if (log.length > 0) say(`\nLogged by the servers (${log.length} lines):\n${log.slice(0, 20).join('\n')}`)
}

function capacityPlan(): CapacityPlan {
  const { p99Ms, ...usual } = isQuick ? QUICK_CAPACITY : FULL_CAPACITY
  return { ...usual, p99Ms: Number(options.p99 ?? p99Ms) }
}

async function printAlternatives(): Promise<void> {
  prepareWrk()
  const measured = await measureAlternatives(plan, say)
  console.log(options.json === true ? JSON.stringify(measured, null, 2) : `\n${describeAlternatives(measured)}`)
  const log = measured.flatMap((one) => one.log.map((line) => `${one.name}: ${line}`))
  if (log.length > 0) say(`\nLogged by the servers:\n${log.slice(0, 20).join('\n')}`)
}

function readWanted(text: string | undefined): Set<FigureNumber> {
  if (text === undefined) return new Set(FIGURES)
  const numbers = text.split(',').map(Number) as FigureNumber[]
  if (numbers.every((number) => FIGURES.includes(number))) return new Set(numbers)
  throw new Error(
    `--only takes numbers from 1 to ${FIGURES.length}, such as --only 1,3, or ${Object.keys(NAMED).join(' or ')}.`,
  )
}

async function measureCatalogues(): Promise<Measured[]> {
  const measured: Measured[] = []
  if (FIGURES.slice(0, 5).some((figure) => wanted.has(figure)))
    measured.push(await measureCatalogue(100_000, wanted, plan, say))
  const others = !wanted.has(2) ? [] : isQuick ? [1_000] : [1_000, 1_000_000]
  for (const offers of others) measured.push(await measureCatalogue(offers, new Set([2] as const), plan, say))
  return measured
}

function print(findings: Findings): void {
  const figures: Figure[] = createFigures(wanted, findings)
  const slipped = describeSlipped(figures)
  if (options.accept === true) accept(figures)
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    node: process.version,
    loadBefore,
    loadAfter: loadavg()[0] ?? 0,
  }
  if (options.json === true) {
    console.log(JSON.stringify({ machine, plan, figures, slipped, ...findings }, null, 2))
    return
  }
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; load average ${machine.loadBefore.toFixed(1)} before, ` +
      `${machine.loadAfter.toFixed(1)} after (the measuring itself makes about 2).\n` +
      `${plan.rounds} rounds of ${plan.seconds} s after ${plan.warmUpSeconds} s of warm-up each; medians.` +
      `${isQuick ? ' Quick: too short to be believed.' : ''}\n`,
  )
  console.log(tableOf(figures))
  for (const line of slipped) console.log(line)
  for (const { figure, notes } of figures) for (const note of notes) console.log(`${figure}: ${note}`)
  const { catalogues, clicks, conversions, postbacks, isolation, firstPage } = findings
  const log = [...catalogues, clicks, conversions, postbacks, isolation, firstPage].flatMap((one) => one?.log ?? [])
  if (log.length > 0) console.log(`\nLogged by the servers (${log.length} lines):\n${log.slice(0, 20).join('\n')}`)
}
