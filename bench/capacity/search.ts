// The highest rate that is held: double until it is not, halve the interval, then hold it for longer. A rate counts as
// missed when it was missed twice, because the machine is noisy.
import type { Say } from '../data.ts'
import { failuresOf, type LoadStep, type StepReport } from './load.ts'
import type { Load } from './requests.ts'

const LOWEST_RATE = 50
/** A rate that was not held for long is lowered by this share. */
const STEP_DOWN = 0.85
const CONFIRMATIONS = 6

export type SearchPlan = {
  /** A rate is held when the 99th percentile is below this, and nothing failed. */
  p99Ms: number
  warmUpSeconds: number
  stepSeconds: number
  confirmSeconds: number
  /** How near the rates held and missed come, as a share of the one held. */
  precision: number
}

const isHeld = (report: StepReport, { p99Ms }: SearchPlan) => failuresOf(report) === 0 && report.p99Ms < p99Ms

type RunStep = (step: LoadStep) => Promise<StepReport>

/** `confirm` runs the long step at the end, and may measure what it costs. */
export async function findHighestRate<T extends { report: StepReport }>(
  load: Load,
  plan: SearchPlan,
  runStep: RunStep,
  confirm: (step: LoadStep) => Promise<T>,
  say: Say,
): Promise<T & { rate: number }> {
  const holds = async (rate: number) => {
    for (let attempt = 0; attempt < 2; attempt++) {
      const report = await runStep({ load, rate, seconds: plan.stepSeconds, patienceSeconds: 1 })
      say(`  ${describeStep(rate, report)}`)
      if (isHeld(report, plan)) return true
    }
    return false
  }
  await runStep({ load, rate: LOWEST_RATE, seconds: plan.warmUpSeconds, patienceSeconds: plan.warmUpSeconds })
  let held = 0
  let missed = LOWEST_RATE
  for (; await holds(missed); missed *= 2) held = missed
  while (held > 0 && missed - held > held * plan.precision) {
    const middle = Math.round((held + missed) / 2)
    if (await holds(middle)) held = middle
    else missed = middle
  }
  return confirmFrom(load, held, plan, confirm, say)
}

/** A rate of 0 was found where none was held for long; the costs are true nevertheless. */
async function confirmFrom<T extends { report: StepReport }>(
  load: Load,
  held: number,
  plan: SearchPlan,
  confirm: (step: LoadStep) => Promise<T>,
  say: Say,
): Promise<T & { rate: number }> {
  let rate = Math.max(held, LOWEST_RATE)
  for (let attempt = 1; ; attempt++, rate = Math.round(rate * STEP_DOWN)) {
    const confirmed = await confirm({ load, rate, seconds: plan.confirmSeconds, patienceSeconds: 1 })
    say(`  for ${plan.confirmSeconds} s: ${describeStep(rate, confirmed.report)}`)
    if (isHeld(confirmed.report, plan)) return { ...confirmed, rate }
    if (attempt === CONFIRMATIONS) {
      say(`  ${held} a second were held for a moment, and ${rate} not for long: is the machine busy?`)
      return { ...confirmed, rate: 0 }
    }
  }
}

export function describeStep(rate: number, report: StepReport): string {
  const { p50Ms, p99Ms, maxMs, lateP99Ms, generatorCpuShare } = report
  const failures = failuresOf(report)
  return (
    `${rate.toLocaleString('en')} a second: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, at most ${maxMs.toFixed(0)} ms` +
    ` (the generator late by ${lateP99Ms.toFixed(1)} ms, ${(generatorCpuShare * 100).toFixed(0)} % of a core)` +
    (failures === 0 ? '' : `; ${failures} FAILED ${JSON.stringify(report.unexpected)}`)
  )
}
