// Where the figures of a time come from: whole months, days and quarters of an hour from the rollups, the rest from rows.

const QUARTER_MS = 900_000
const DAY_MS = 86_400_000

/** In requests whole seconds, as they are shown; `toMs` is no longer in it. */
export type Range = { fromMs: number; toMs: number }
export type Sources = { months: Range[]; days: Range[]; quarters: Range[]; rows: Range[] }

export type Asked = {
  /** When each period begins that has a row of its own; the first begins with the range. Empty: not grouped by time. */
  starts: readonly number[]
  /** Whether the rollups by day and by month have what it is grouped and filtered by. */
  isInDays: boolean
  /** The same for the rollup by quarters of an hour. */
  isInQuarters: boolean
}

/** Months and days are those of UTC. Days of another time zone are summed from quarters, where those have what is asked. */
export function chooseSources(range: Range, throughMs: number, { starts, isInDays, isInQuarters }: Asked): Sources {
  const isBy = (unit: Unit) => starts.every((ms, i) => i === 0 || unit.floor(ms) === ms)
  const none = { whole: [], rest: [range] }
  const byMonth = isInDays && isBy(MONTH) ? cut([range], MONTH, DAY.floor(throughMs)) : none
  const byDay = isInDays && isBy(DAY) ? cut(byMonth.rest, DAY, throughMs) : byMonth
  const byQuarter = isInQuarters && isBy(QUARTER) ? cut(byDay.rest, QUARTER, throughMs) : byDay
  return {
    months: byMonth.whole,
    days: byDay === byMonth ? [] : byDay.whole,
    quarters: byQuarter === byDay ? [] : byQuarter.whole,
    rows: byQuarter.rest,
  }
}

type Unit = { floor: (ms: number) => number; ceil: (ms: number) => number }
const unitOf = (lengthMs: number): Unit => ({
  floor: (ms) => Math.floor(ms / lengthMs) * lengthMs,
  ceil: (ms) => Math.ceil(ms / lengthMs) * lengthMs,
})
const QUARTER = unitOf(QUARTER_MS)
const DAY = unitOf(DAY_MS)
const MONTH: Unit = {
  floor: (ms) => monthStart(ms, 0),
  ceil: (ms) => (monthStart(ms, 0) === ms ? ms : monthStart(ms, 1)),
}

function monthStart(ms: number, after: number): number {
  const time = new Date(ms)
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + after, 1)
}

/**
 * What of these ranges is whole pieces of this length before `throughMs`, and what is left. The last piece is whole as far
 * as `throughMs`: nothing behind that is rolled up yet.
 */
function cut(ranges: readonly Range[], unit: Unit, throughMs: number): { whole: Range[]; rest: Range[] } {
  const whole: Range[] = []
  const rest: Range[] = []
  for (const { fromMs, toMs } of ranges) {
    const startMs = unit.ceil(fromMs)
    const endMs = toMs >= throughMs ? throughMs : unit.floor(toMs)
    if (startMs < endMs) {
      whole.push({ fromMs: startMs, toMs: endMs })
      rest.push({ fromMs, toMs: startMs }, { fromMs: endMs, toMs })
    } else rest.push({ fromMs, toMs })
  }
  return { whole, rest: rest.filter((range) => range.fromMs < range.toMs) }
}
