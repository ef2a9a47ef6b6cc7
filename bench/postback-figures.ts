// Figures 9 to 12, of postbacks, for the table.
import { type IsolationMeasured, isolationOf, p50Of, p99Of } from './isolation.ts'
import { type Contender, type PostbacksMeasured, ratioOf } from './postbacks.ts'
import type { Figure } from './report.ts'
import { median } from './rounds.ts'

export function postbackFigures({ rounds, latencies, delivered, logged }: PostbacksMeasured): Figure[] {
  const rate = (name: 'ours' | Contender) => median(rounds.map((round) => round[name])).toFixed(0)
  const over = (figure: 9 | 10, what: string, to: Contender, least: number, notes: string[]): Figure => ({
    figure,
    what,
    value: ratioOf(rounds, to).toFixed(2),
    byCpu: '',
    wanted: `at least ${least}`,
    met: ratioOf(rounds, to) >= least,
    notes: [...notes, `rounds: ${rounds.map((round) => (round.ours / round[to]).toFixed(2)).join(' ')}`],
  })
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? Number.NaN
  const isWhole = delivered <= logged
  return [
    over(9, 'postbacks delivered and logged, over BullMQ without a log', 'bullmq', 1.1, [
      `Offerdeck: ${rate('ours')} a second; BullMQ on Redis: ${rate('bullmq')}`,
      `${delivered.toLocaleString('en')} delivered, ${logged.toLocaleString('en')} in the log${isWhole ? '' : ': SOME ARE MISSING'}`,
    ]),
    over(9, 'the same, over a sender with a log in PostgreSQL', 'logged', 1, [`a sender with a log: ${rate('logged')} a second`]), // prettier-ignore
    over(10, 'the same, over a bare loop of undici', 'undici', 0.4, [`a loop of undici: ${rate('undici')} a second`]),
    {
      figure: 11,
      what: 'from the answer to a report until its postback arrives',
      value: `${at(0.5).toFixed(1)} ms`,
      byCpu: '',
      wanted: 'under 30 ms',
      met: at(0.5) < 30,
      notes: [`median of ${latencies.length}, one at a time; p95 ${at(0.95).toFixed(1)} ms`],
    },
  ]
}

export function isolationFigure(measured: IsolationMeasured): Figure {
  const { rounds } = measured
  const of = (name: 'clean' | 'trouble', pick: (sorted: number[]) => number) =>
    `${median(rounds.map((round) => pick(round[name]))).toFixed(0)} ms`
  return {
    figure: 12,
    what: 'p99 to healthy addresses while others hang, over without',
    value: isolationOf(measured).toFixed(2),
    byCpu: '',
    wanted: 'at most 1.5',
    met: isolationOf(measured) <= 1.5,
    notes: [
      `without trouble: p50 ${of('clean', p50Of)}, p99 ${of('clean', p99Of)}; with: p50 ${of('trouble', p50Of)}, p99 ${of('trouble', p99Of)}`,
      `rounds: ${rounds.map(({ clean, trouble }) => (p99Of(trouble) / p99Of(clean)).toFixed(2)).join(' ')}`,
    ],
  }
}
