// Where the figures of a time come from: whole days and quarters of an hour from the rollups, the rest from the rows.
import type { Day } from './days.ts'
import type { Grouping } from './schema.ts'

const QUARTER_MS = 900_000
const DAY_MS = 86_400_000

/** In requests whole seconds, as they are shown; `toMs` is no longer in it. */
export type Range = { fromMs: number; toMs: number }
export type Sources = { days: Range[]; quarters: Range[]; rows: Range[] }

export type Asked = { groupBy: Grouping; isFiltered: boolean; days: readonly Day[] }

/**
 * UTC days have offers and countries, quarters of an hour neither. Days of another time zone are summed from quarters.
 * Platforms and sub-IDs are in no rollup.
 */
export function chooseSources(range: Range, throughMs: number, { groupBy, isFiltered, days }: Asked): Sources {
  if (!['day', 'offer', 'country'].includes(groupBy)) return { days: [], quarters: [], rows: [range] }
  const isByUtcDay = days.every(({ startsMs }, i) => i === 0 || startsMs % DAY_MS === 0)
  const byDay = isByUtcDay ? cut([range], DAY_MS, throughMs) : { whole: [], rest: [range] }
  const byQuarter =
    groupBy === 'day' && !isFiltered ? cut(byDay.rest, QUARTER_MS, throughMs) : { whole: [], rest: byDay.rest }
  return { days: byDay.whole, quarters: byQuarter.whole, rows: byQuarter.rest }
}

/**
 * What of these ranges is whole pieces of this length before `throughMs`, and what is left. The last piece is whole as far
 * as `throughMs`: nothing behind that is rolled up yet.
 */
function cut(ranges: readonly Range[], lengthMs: number, throughMs: number): { whole: Range[]; rest: Range[] } {
  const whole: Range[] = []
  const rest: Range[] = []
  for (const { fromMs, toMs } of ranges) {
    const startMs = Math.ceil(fromMs / lengthMs) * lengthMs
    const endMs = toMs >= throughMs ? throughMs : Math.floor(toMs / lengthMs) * lengthMs
    if (startMs < endMs) {
      whole.push({ fromMs: startMs, toMs: endMs })
      rest.push({ fromMs, toMs: startMs }, { fromMs: endMs, toMs })
    } else rest.push({ fromMs, toMs })
  }
  return { whole, rest: rest.filter((range) => range.fromMs < range.toMs) }
}
