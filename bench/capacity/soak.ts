// npm run bench -- --only soak: the mix at 70 % of what is held, for an hour. What is flat, what grows, and whether requests
// take longer at the end than at the beginning.
import { type Catalogue, prepareCatalogue, type Say, withCopy } from '../data.ts'
import { median } from '../rounds.ts'
import { measureLoad } from './capacity.ts'
import { failuresOf } from './load.ts'
import { type Sample, takeSample } from './samples.ts'
import type { SearchPlan } from './search.ts'
import { openSetting, type Setting, waitForQueues } from './setting.ts'

/** Of the rate that is held: what a network should run at, with room for a peak. */
const SHARE = 0.7
const SAMPLES = 12
const MAX_SAMPLE_SECONDS = 60
const PATIENCE_SECONDS = 30
/** By how much a figure may be higher at the end and count as flat. */
const FLAT = 1.1
const WANTED_P99 = 1.2
/** Changes below this are noise, whatever the ratio: in the figure's own unit. */
const NOISE: [RegExp, number][] = [
  [/MB$/, 8],
  [/open files|connections/, 5],
  [/dead rows/, 2_000],
  [/ ms$/, 1],
]

export type SoakPlan = { offers: number; minutes: number; rate: number | null; search: SearchPlan }

export type Verdict = { what: string; begin: number; end: number; ratio: number; isFlat: boolean }

export type Soak = {
  offers: number
  rate: number
  minutes: number
  samples: Sample[]
  verdicts: Verdict[]
  /** Over the p99 at the beginning. */
  p99Ratio: number
  failures: number
  log: string[]
}

export async function runSoak(plan: SoakPlan, say: Say): Promise<Soak> {
  return withCopy(await prepareCatalogue(plan.offers, say), (copy) => soakOn(copy, plan, say))
}

async function soakOn(catalogue: Catalogue, plan: SoakPlan, say: Say): Promise<Soak> {
  await using ended = new AsyncDisposableStack()
  const setting = await openSetting(catalogue, ended)
  const rate = plan.rate ?? (await findRate(setting, plan, say))
  say(`The mix at ${rate} a second for ${plan.minutes} minutes …`)
  const samples = await collectSamples(setting, rate, plan.minutes, say)
  const verdicts = [...judgeFigures(samples), ...findBloat(samples)]
  return {
    offers: plan.offers,
    rate,
    minutes: plan.minutes,
    samples,
    verdicts,
    p99Ratio: verdicts.find(({ what }) => what === 'load: p99 ms')?.ratio ?? Number.NaN,
    failures: samples.reduce((sum, { report }) => sum + failuresOf(report), 0),
    log: [...setting.api.log, ...setting.worker.log],
  }
}

async function findRate(setting: Setting, { search }: SoakPlan, say: Say): Promise<number> {
  say(`The rate of the mix that is held, of which a soak takes ${SHARE * 100} % …`)
  const { rate } = await measureLoad(setting, 'mix', search, say)
  if (rate === 0) throw new Error('No rate was held. Give one with --rate.')
  await waitForQueues(setting)
  return Math.round(rate * SHARE)
}

/** The load goes on while a sample is taken: the next step begins at once. */
async function collectSamples(setting: Setting, rate: number, minutes: number, say: Say): Promise<Sample[]> {
  const seconds = Math.min(MAX_SAMPLE_SECONDS, (minutes * 60) / SAMPLES)
  const taken: Promise<Sample>[] = []
  for (let step = 1; step * seconds <= minutes * 60; step++) {
    const report = await setting.generator.run({ load: 'mix', rate, seconds, patienceSeconds: PATIENCE_SECONDS })
    const sample = takeSample(setting, step * seconds, report)
    taken.push(sample)
    void sample.then(({ figures }) => say(`  ${describeSample(step * seconds, figures)}`), () => {}) // prettier-ignore
  }
  return Promise.all(taken)
}

/** The second sixth and the last: the first one warms up. */
const beginAndEnd = (samples: Sample[]): [Sample[], Sample[]] => {
  const sixth = Math.max(1, Math.floor(samples.length / 6))
  return [samples.slice(sixth, 2 * sixth), samples.slice(-sixth)]
}

export function judgeFigures(samples: Sample[]): Verdict[] {
  const [begin, end] = beginAndEnd(samples)
  const names = Object.keys(samples[0]?.figures ?? {})
  return names.map((what) => {
    const of = (some: Sample[]) => median(some.map(({ figures }) => figures[what] ?? 0))
    return judge(what, of(begin), of(end))
  })
}

function judge(what: string, begin: number, end: number): Verdict {
  const noise = NOISE.find(([pattern]) => pattern.test(what))?.[1] ?? 0
  const ratio = begin === 0 ? (end === 0 ? 1 : Number.POSITIVE_INFINITY) : end / begin
  return { what, begin, end, ratio, isFlat: ratio <= FLAT || end - begin <= noise }
}

/** Tables and their indexes that have grown, although their rows have not: what was deleted or replaced is in the way. */
export function findBloat(samples: Sample[]): Verdict[] {
  const [begin, end] = beginAndEnd(samples)
  const of = (some: Sample[], table: string, name: 'live' | 'bytes') =>
    median(some.map(({ tables }) => tables[table]?.[name] ?? 0))
  return Object.keys(samples.at(-1)?.tables ?? {})
    .filter((table) => of(end, table, 'live') <= FLAT * of(begin, table, 'live'))
    .map((table) => judge(`${table}, no more rows: MB`, of(begin, table, 'bytes') / 1e6, of(end, table, 'bytes') / 1e6))
    .filter(({ isFlat }) => !isFlat)
}

const describeSample = (seconds: number, figures: Record<string, number>) =>
  `${(seconds / 60).toFixed(1)} min: ${Object.entries(figures)
    .map(([name, value]) => `${name} ${short(value)}`)
    .join(', ')}`

const short = (value: number) => value.toFixed(value < 100 && !Number.isInteger(value) ? 1 : 0)

export function describeSoak({ rate, minutes, offers, verdicts, p99Ratio, failures, samples }: Soak): string {
  const lines = verdicts.map(
    ({ what, begin, end, ratio, isFlat }) =>
      `${what.padEnd(34)} ${short(begin).padStart(10)} ${short(end).padStart(10)} ${ratio.toFixed(2).padStart(7)}  ${isFlat ? 'flat' : 'GROWING'}`,
  )
  const answers = samples.reduce((sum, { report }) => sum + report.answers, 0)
  return [
    `The mix at ${rate} a second for ${minutes} minutes, ${offers.toLocaleString('en')} offers: ${answers.toLocaleString('en')} answers, ${failures} failures.`,
    'Medians of the second sixth of the time and of the last.',
    '',
    `${''.padEnd(34)} ${'begin'.padStart(10)} ${'end'.padStart(10)} ${'ratio'.padStart(7)}`,
    ...lines,
    '',
    `p99 at the end over the beginning: ${p99Ratio.toFixed(2)} (wanted: at most ${WANTED_P99}${p99Ratio <= WANTED_P99 ? '' : ', MISSED'}).`,
  ].join('\n')
}
