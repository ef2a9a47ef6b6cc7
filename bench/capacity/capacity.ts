// npm run bench -- --only capacity: the highest rate of each kind of request that one API process holds, and what a million
// of them cost.
import { type Catalogue, prepareCatalogue, type Say, withCopy } from '../data.ts'
import { runLong } from '../postgres.ts'
import { type Costs, measureCosts, type TableSize } from './costs.ts'
import type { LoadStep, StepReport } from './load.ts'
import { KINDS, type Load, MIX } from './requests.ts'
import { findHighestRate, type SearchPlan } from './search.ts'
import { openSetting, type Setting, waitForQueues } from './setting.ts'

export type CapacityPlan = SearchPlan & { offers: number }

export type LoadCapacity = {
  load: Load
  rate: number
  report: StepReport
  /** Of the step that confirmed the rate, until its postbacks were delivered. */
  costs: Costs
  grown: TableSize[]
  /** From the end of that step until its postbacks were delivered. */
  queueSeconds: number
}

export type Capacity = { offers: number; loads: LoadCapacity[]; log: string[] }

const LOADS: readonly Load[] = [...KINDS, 'mix']

export async function measureCapacity(plan: CapacityPlan, say: Say): Promise<Capacity> {
  return withCopy(await prepareCatalogue(plan.offers, say), (copy) => measureOn(copy, plan, say))
}

async function measureOn(catalogue: Catalogue, plan: CapacityPlan, say: Say): Promise<Capacity> {
  await using ended = new AsyncDisposableStack()
  const setting = await openSetting(catalogue, ended)
  const loads: LoadCapacity[] = []
  for (const load of LOADS) {
    say(`${load}: the highest rate with a 99th percentile below ${plan.p99Ms} ms and no failure …`)
    loads.push({ load, ...(await measureLoad(setting, load, plan, say)) })
  }
  return { offers: plan.offers, loads, log: [...setting.api.log, ...setting.worker.log] }
}

export async function measureLoad(setting: Setting, load: Load, plan: SearchPlan, say: Say) {
  const runStep = async (step: LoadStep) => {
    const report = await setting.generator.run(step)
    await waitForQueues(setting)
    return report
  }
  const confirm = async (step: LoadStep) => {
    // Plans made for empty tables do not suit full ones. PostgreSQL analyzes automatically, but only every minute.
    await runLong(setting.pool, 'ANALYZE')
    const { result, ...cost } = await measureCosts(setting, async () => {
      const report = await setting.generator.run(step)
      return { report, queueSeconds: await waitForQueues(setting) }
    })
    return { ...result, ...cost }
  }
  return findHighestRate(load, plan, runStep, confirm, say)
}

const COLUMNS = ['a million', 'held a second', 'p99 ms', 'API s', 'worker s', 'PostgreSQL s', 'rows', 'tables MB', 'indexes MB', 'WAL MB', 'sent MB'] // prettier-ignore

/** A row for each load, all but the rate and the time for a million. The page of capacity has the same table. */
export function toRows({ loads }: Capacity): string[][] {
  return loads.map(({ load, rate, report, costs }) => {
    const million = (amount: number) => (amount * 1e6) / report.answers
    const megabytes = (bytes: number) => million(bytes) / 1e6
    const { apiSeconds, workerSeconds, postgresSeconds, rows, tableBytes, indexBytes, walBytes } = costs
    const amounts = [
      ...[apiSeconds, workerSeconds, postgresSeconds, rows].map(million),
      ...[tableBytes, indexBytes, walBytes, report.bytes].map(megabytes),
    ]
    return [load, String(rate), report.p99Ms.toFixed(1), ...amounts.map((amount) => amount.toFixed(0))]
  })
}

export const capacityTable = (capacity: Capacity) => markdownTable([COLUMNS, ...toRows(capacity)])

/** Aligned, so that it can be read as it is: the first columns to the left, the others, which are numbers, to the right. */
export function markdownTable(rows: string[][], texts = 1): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0), 3)) ?? []
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const align = (cell: string, i: number) => (i < texts ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))
  const lines = rows.map((row) => line(row.map(align)))
  lines.splice(1, 0, line(widths.map((width, i) => (i < texts ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))))
  return lines.join('\n')
}

export function describeCapacity(capacity: Capacity): string {
  const { offers, loads } = capacity
  const mix = KINDS.map((kind) => `${MIX[kind]} % ${kind}`).join(', ')
  return [
    `One API process, one worker, ${offers.toLocaleString('en')} offers; everything, the load too, on this machine. The mix is ${mix}.`,
    '',
    capacityTable(capacity),
    '',
    ...loads.flatMap(describeDetails),
  ].join('\n')
}

function describeDetails({ load, report, grown, queueSeconds }: LoadCapacity): string[] {
  const tables = grown
    .filter(({ rows }) => rows > 0)
    .map(({ table, rows, tableBytes, indexBytes }) => `${table} ${rows.toLocaleString('en')} × ${(tableBytes / rows).toFixed(0)} + ${(indexBytes / rows).toFixed(0)}`) // prettier-ignore
  const kinds = KINDS.filter((kind) => load === 'mix' && report.kinds[kind].answers > 0)
    .map((kind) => `${kind} ${report.kinds[kind].p99Ms.toFixed(1)} ms`)
    .join(', ')
  return [
    `${load}: rows × bytes of table and indexes: ${tables.slice(0, 12).join('; ') || 'none'}`,
    ...(kinds === '' ? [] : [`${load}: p99 of each kind: ${kinds}`]),
    ...(queueSeconds < 1
      ? []
      : [`${load}: postbacks were delivered ${queueSeconds.toFixed(1)} s after the last answer.`]),
  ]
}
