// The figures that were accepted last, in accepted.json: a figure that is worse now has slipped, and is a defect of what
// was changed since. `--accept` writes down those of this run.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './report.ts'

const FILE = join(import.meta.dirname, 'accepted.json')
/** Worse by less than this is noise. */
const TOLERANCE = 0.1

type Accepted = Record<string, { value: string; byCpu: string }>

const readAccepted = (): Accepted => (existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Accepted) : {})

export function accept(figures: readonly Figure[]): void {
  const accepted = readAccepted()
  for (const { what, value, byCpu } of figures) accepted[what] = { value, byCpu }
  writeFileSync(FILE, `${JSON.stringify(accepted, null, 2)}\n`)
}

/** A line for each figure that is worse than the one accepted last. By CPU, where that is measured: it is less noisy. */
export function describeSlipped(figures: readonly Figure[]): string[] {
  const accepted = readAccepted()
  return figures.flatMap(({ figure, what, value, byCpu, wanted }) => {
    const before = accepted[what]
    if (before === undefined) return []
    const [was, is] = byCpu === '' ? [before.value, value] : [before.byCpu, byCpu]
    const change = Number.parseFloat(is) / Number.parseFloat(was)
    const isWorse = wanted.startsWith('at least') ? change < 1 - TOLERANCE : change > 1 + TOLERANCE
    return isWorse ? [`${figure}: SLIPPED from ${was} to ${is}${byCpu === '' ? '' : ' by CPU'} (${what})`] : []
  })
}
