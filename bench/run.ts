// npm run bench: measures Offerdeck side by side with simpler servers and says what was wanted. See README.md.
import { availableParallelism, cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { FOLDER } from './data.ts'
import { type FigureNumber, measureCatalogue, type Measured, measureStarts, type Starts } from './figures.ts'
import { type Figure, makeFigures, tableOf } from './report.ts'
import { type Plan, prepareWrk } from './wrk.ts'

const FULL: Plan = { warmUpSeconds: 8, rounds: 5, seconds: 3 }
const QUICK: Plan = { warmUpSeconds: 4, rounds: 3, seconds: 2 }

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, quick: { type: 'boolean' }, json: { type: 'boolean' } },
})
const wanted = readWanted(options.only ?? '1,2,3,4,5')
const plan = options.quick === true ? QUICK : FULL
const say = (text: string) => process.stderr.write(`${text}\n`)

prepareWrk()
say(`Data folders are kept in ${FOLDER}; delete it to start afresh.`)
const loadBefore = loadavg()[0] ?? 0
const measured: Measured[] = [await measureCatalogue(100_000, wanted, plan, say)]
if (wanted.has(2)) {
  const sizes = options.quick === true ? [1_000] : [1_000, 1_000_000]
  for (const offers of sizes) measured.push(await measureCatalogue(offers, new Set([2] as const), plan, say))
}
const starts = wanted.has(5) ? await measureStarts(say) : null
print(makeFigures(wanted, measured, starts), measured, starts)

function readWanted(text: string): Set<FigureNumber> {
  const numbers = text.split(',').map(Number)
  if (numbers.every((number) => [1, 2, 3, 4, 5].includes(number))) return new Set(numbers as FigureNumber[])
  throw new Error('--only takes numbers from 1 to 5, such as --only 1,3.')
}

function print(figures: Figure[], all: Measured[], startTimes: Starts | null): void {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    node: process.version,
    loadBefore,
    loadAfter: loadavg()[0] ?? 0,
  }
  if (options.json === true) {
    console.log(JSON.stringify({ machine, plan, figures, measured: all, starts: startTimes }, null, 2))
    return
  }
  console.log(
    `\n${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; load average ${machine.loadBefore.toFixed(1)} before, ` +
      `${machine.loadAfter.toFixed(1)} after (the measuring itself makes about 2).\n` +
      `${plan.rounds} rounds of ${plan.seconds} s after ${plan.warmUpSeconds} s of warm-up each; medians.` +
      `${options.quick === true ? ' Quick: too short to be believed.' : ''}\n`,
  )
  console.log(tableOf(figures))
  for (const { figure, notes } of figures) for (const note of notes) console.log(`${figure}: ${note}`)
  const log = all.flatMap((one) => one.log)
  if (log.length > 0) console.log(`\nLogged by the servers (${log.length} lines):\n${log.slice(0, 20).join('\n')}`)
}
