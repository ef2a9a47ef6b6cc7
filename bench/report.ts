// From what was measured to a table: each figure with what was wanted, and whether it was met.
import type { ClicksMeasured } from './clicks.ts'
import type { ConversionsMeasured } from './conversions.ts'
import type { FigureNumber, Measured, Starts } from './figures.ts'
import type { FirstPageMeasured } from './first-page.ts'
import type { IsolationMeasured } from './isolation.ts'
import type { PartitionsMeasured } from './partitions.ts'
import { isolationFigure, postbackFigures } from './postback-figures.ts'
import type { PostbacksMeasured } from './postbacks.ts'
import { type Comparison, type Lap, median } from './rounds.ts'
import { describeLive, type WallMeasured } from './wall.ts'

export type Figure = {
  figure: FigureNumber
  what: string
  value: string
  /** The same by CPU time of the server process, where that makes sense. */
  byCpu: string
  wanted: string
  /** Null where nothing was wanted but to know. */
  met: boolean | null
  notes: string[]
}

/** Everything that was measured; null where it was not asked for. */
export type Findings = {
  catalogues: Measured[]
  starts: Starts | null
  clicks: ClicksMeasured | null
  conversions: ConversionsMeasured | null
  partitions: PartitionsMeasured | null
  postbacks: PostbacksMeasured | null
  isolation: IsolationMeasured | null
  firstPage: FirstPageMeasured | null
  wall: WallMeasured | null
}

export function createFigures(wanted: ReadonlySet<FigureNumber>, findings: Findings): Figure[] {
  const { catalogues, starts, clicks, conversions, partitions, postbacks, isolation, firstPage, wall } = findings
  const figures: Figure[] = []
  const [main] = catalogues
  if (main !== undefined) figures.push(...listFigures(wanted, main, catalogues))
  if (main !== undefined && wanted.has(5)) figures.push(...reports(main, starts))
  if (clicks !== null) figures.push(clicksFigure(clicks))
  if (conversions !== null) figures.push(...conversionsFigures(conversions))
  if (partitions !== null) figures.push(partitionsFigure(partitions))
  if (postbacks !== null) figures.push(...postbackFigures(postbacks))
  if (isolation !== null) figures.push(isolationFigure(isolation))
  if (firstPage !== null) figures.push(firstPageFigure(firstPage))
  if (wall !== null) figures.push(...wallFigures(wall))
  return figures
}

function listFigures(wanted: ReadonlySet<FigureNumber>, main: Measured, measured: Measured[]): Figure[] {
  const figures: Figure[] = []
  if (wanted.has(1) && main.list !== undefined) {
    const what = 'list of 20 from 100,000, over a bare node:http server'
    figures.push(ratio(1, what, main.list, 0.55, ['The aim is 0.70.']))
  }
  if (wanted.has(2)) figures.push(spread(measured.toSorted((a, b) => a.offers - b.offers)))
  if (wanted.has(3) && main.newUsers !== undefined) {
    const what = 'every request a new user with four new sub-IDs, over bare'
    figures.push(ratio(3, what, main.newUsers, 0.25, ['The CPU time is of Offerdeck alone, without PostgreSQL.']))
  }
  if (wanted.has(4) && main.sql !== undefined) {
    const what = 'the list of figure 1, over Fastify with one SQL query a request'
    figures.push(
      ratio(4, what, main.sql, 5, [
        'The total is a count(*) in the same statement. The CPU time is of the Node processes alone, without PostgreSQL.',
      ]),
    )
  }
  return figures
}

function clicksFigure({ comparison, answers, rows, unheard }: ClicksMeasured): Figure {
  return ratio(6, 'links followed, each click on disk, over bare', comparison, 0.35, [
    'By CPU counts Offerdeck and PostgreSQL together.',
    compareCounts('clicks', answers, rows, unheard),
  ])
}

function conversionsFigures({ comparisons, answers, rows, unheard, ledger }: ConversionsMeasured): Figure[] {
  const { pending, payment, crowd, approved } = comparisons
  const more = (name: string, comparison: Comparison) => [
    `${name}: ${comparison.throughput.toFixed(2)}, by CPU ${comparison.cpu.toFixed(2)}`,
    ...describe(comparison).map((line) => `${name}: ${line}`),
  ]
  const overPlain = ratio(7, 'new conversions with ledger, over plain rows by pgbench', pending, 0.4, [
    'By CPU counts Offerdeck and PostgreSQL together.',
    compareCounts('pending conversions', answers.pending, rows.pending, unheard.pending),
    ...more('128 connections', crowd),
    ...more('trusted, approved at once', approved),
    compareCounts('approved conversions', answers.approved, rows.approved, unheard.approved),
    ledger.length === 0
      ? 'The ledger is right.'
      : `THE LEDGER IS WRONG: ${ledger.map(({ kind, count, examples }) => `${count} × ${kind} (${examples[0]})`).join('; ')}`,
  ])
  return [overPlain, ratio(7, 'the same, over payments of pgbench (TPC-B)', payment, 1, [])]
}

function firstPageFigure({ signIn, home, scriptBytes }: FirstPageMeasured): Figure {
  const slower = Math.max(median(signIn), median(home))
  return {
    figure: 13,
    what: 'first page of the dashboard, until it can be used',
    value: `${slower.toFixed(0)} ms`,
    byCpu: '',
    wanted: 'under 1 s',
    met: slower < 1000,
    notes: [
      `signing in: median ${median(signIn).toFixed(0)} ms; the operator's first page: median ${median(home).toFixed(0)} ms, of ${home.length}`,
      `${(scriptBytes / 1000).toFixed(0)} kB of JavaScript, packed, until a person can sign in`,
    ],
  }
}

function wallFigures({ page, data, live, firstOfferMs }: WallMeasured): Figure[] {
  const slow = median(firstOfferMs)
  const liveMs = median(live.browserMs)
  return [
    ratio(14, 'page of a wall, packed, over a bare node:http server', page, 0.5, []),
    ratio(14, 'the data of a wall, over a bare node:http server', data, 0.5, []),
    {
      figure: 15,
      what: 'from a conversion to the wall of its user in a browser',
      value: `${liveMs.toFixed(0)} ms`,
      byCpu: '',
      wanted: 'under 300 ms',
      met: liveMs < 300,
      notes: [describeLive(live)],
    },
    {
      figure: 16,
      what: 'the first offer of a wall, on slow 4G with a quarter of the CPU',
      value: `${slow.toFixed(0)} ms`,
      byCpu: '',
      wanted: 'under 1 s',
      met: slow < 1000,
      notes: [
        `all: ${firstOfferMs.map((ms) => ms.toFixed(0)).join(' ')} ms; a page has ${(page.second.bytesPerRequest / 1000).toFixed(1)} kB with its headers`,
      ],
    },
  ]
}

/** Nothing acknowledged may be missing, and nothing be there that was not sent. */
function compareCounts(what: string, answers: number, rows: number, unheard: number): string {
  const counts = `${answers.toLocaleString('en')} answers, ${rows.toLocaleString('en')} ${what} in the database`
  if (rows < answers) return `${counts}: ${answers - rows} ARE MISSING.`
  if (rows > answers + unheard) return `${counts}: ${rows - answers} TOO MANY.`
  return `${counts}: all are there (those on top were under way when wrk stopped, at most ${unheard}).`
}

function partitionsFigure(measured: PartitionsMeasured): Figure {
  const { clicks, gigabytes, madeInSeconds, rounds, clicksOfADay, dropMs, countAndDropMs } = measured
  const batch = (side: 'many' | 'empty') => {
    const of = (name: 'meanMs' | 'p99Ms') => median(rounds.map((round) => round[side][name])).toFixed(1)
    return `${of('meanMs')} ms for a batch of 200, p99 ${of('p99Ms')} ms`
  }
  const times = (values: number[]) => values.map((ms) => ms.toFixed(0)).join(', ')
  const size = clicks.toLocaleString('en')
  return {
    figure: 8,
    what: `recording clicks among ${size}, over an empty table`,
    value: measured.ratio.toFixed(2),
    byCpu: '',
    wanted: 'at most 1.3',
    met: measured.ratio <= 1.3,
    notes: [
      `among ${size}: ${batch('many')}`,
      `among none: ${batch('empty')}`,
      `rounds: ${rounds.map((round) => (round.many.meanMs / round.empty.meanMs).toFixed(2)).join(' ')}`,
      `The ${size} take ${gigabytes.toFixed(1)} GB; making them took ${madeInSeconds.toFixed(0)} s.`,
      `Dropping a day of ${clicksOfADay.toLocaleString('en')} clicks: ${times(dropMs)} ms; counted first: ${times(countAndDropMs)} ms.`,
    ],
  }
}

function ratio(figure: FigureNumber, what: string, comparison: Comparison, floor: number, notes: string[]): Figure {
  return {
    figure,
    what,
    value: comparison.throughput.toFixed(2),
    byCpu: comparison.cpu.toFixed(2),
    wanted: `at least ${floor}`,
    met: comparison.throughput >= floor,
    notes: [...describe(comparison), ...notes],
  }
}

const apart = (values: number[]) => Math.max(...values) / Math.min(...values)

/** How far apart the costs of catalogues are, each relative to the bare server of its own rounds. */
function spread(measured: Measured[]): Figure {
  const lists = measured.flatMap(({ offers, list }) => (list === undefined ? [] : [{ offers, list }]))
  const byThroughput = apart(lists.map(({ list }) => list.throughput))
  const hasMillion = lists.some(({ offers }) => offers === 1_000_000)
  return {
    figure: 2,
    what: `dearest over cheapest of ${lists.map(({ offers }) => offers.toLocaleString('en')).join(' / ')} offers`,
    value: byThroughput.toFixed(2),
    byCpu: apart(lists.map(({ list }) => list.cpu)).toFixed(2),
    wanted: 'at most 1.3',
    met: byThroughput <= 1.3,
    notes: [
      ...lists.map(
        ({ offers, list }) =>
          `${offers.toLocaleString('en')} offers: ${list.throughput.toFixed(2)} of bare, ${list.cpu.toFixed(2)} by CPU`,
      ),
      ...measured.map(
        ({ offers, startMs, residentMbAtStart, residentMbAtEnd }) =>
          `${offers.toLocaleString('en')} offers: started in ${seconds(startMs)}, ${residentMbAtStart} MB resident, ${residentMbAtEnd} MB at the end`,
      ),
      ...(hasMillion ? [] : ['1,000,000 offers were left out.']),
    ],
  }
}

function describe({ first, second, rounds }: Comparison): string[] {
  const ratios = rounds.map((round) => (round.first.requestsPerSecond / round.second.requestsPerSecond).toFixed(2))
  return [describeLap('Offerdeck:', first), describeLap('other:    ', second), `rounds: ${ratios.join(' ')}`]
}

function describeLap(name: string, lap: Lap): string {
  const failures = lap.refused + lap.broken > 0 ? `; ${lap.refused} REFUSED, ${lap.broken} BROKEN` : ''
  const database =
    lap.databaseMicrosPerRequest > 0 ? ` (PostgreSQL: ${lap.databaseMicrosPerRequest.toFixed(0)} µs more)` : ''
  return (
    `${name} ${lap.requestsPerSecond.toFixed(0)} requests/s, ${lap.cpuMicrosPerRequest.toFixed(0)} µs CPU${database} and ` +
    `${lap.bytesPerRequest.toFixed(0)} bytes each, p50 ${lap.p50Ms.toFixed(1)} ms, p99 ${lap.p99Ms.toFixed(1)} ms${failures}`
  )
}

const plain = (what: string, value: string, notes: string[] = []): Figure => ({
  figure: 5,
  what,
  value,
  byCpu: '',
  wanted: 'to know',
  met: null,
  notes,
})

function reports({ startMs, residentMbAtStart, residentMbAtEnd, change }: Measured, starts: Starts | null): Figure[] {
  const figures = [
    plain('resident memory, 100,000 offers, after start', `${residentMbAtStart} MB`, [
      'Memory is of the Node process; PostgreSQL runs beside it.',
    ]),
    plain('resident memory, 100,000 offers, after the run', `${residentMbAtEnd} MB`),
    plain('start with 100,000 offers', seconds(startMs)),
  ]
  if (starts !== null) {
    figures.push(plain('first start, empty folder, with the demo', seconds(starts.firstMs)))
    figures.push(plain('later start, with the demo', seconds(starts.laterMs)))
  }
  if (change !== undefined) {
    const { fromCommit, fromCommand, command } = change
    figures.push(
      plain('a change is in the list, from its commit (median of 10)', `${median(fromCommit).toFixed(0)} ms`, [
        `at most ${Math.max(...fromCommit).toFixed(0)} ms from commit to list; the server looks for changes every 200 ms`,
      ]),
      plain('a change is in the list, from the start of "offer pause"', `${fromCommand.toFixed(0)} ms`, [
        `"offer pause" itself took ${command.toFixed(0)} ms until it ended.`,
      ]),
    )
  }
  return figures
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`

export function tableOf(figures: Figure[]): string {
  const rows = [
    ['', 'figure', 'measured', 'by CPU', 'wanted', 'met'],
    ...figures.map(({ figure, what, value, byCpu, wanted, met }) => [
      String(figure),
      what,
      value,
      byCpu,
      wanted,
      met === null ? '' : met ? 'yes' : 'NO',
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return `${lines.join('\n')}\n`
}
