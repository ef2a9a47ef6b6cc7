// The days of a time zone, worked out here and not by PostgreSQL: where clocks are set back over midnight (the Azores,
// Havana) it takes the second midnight for the beginning of the day, and it reads "CET" as a zone without summer time.

const QUARTER_MS = 900_000
const HOUR_MS = 3_600_000
const LONGEST_DAY_MS = 50 * HOUR_MS // a zone that crosses the date line has one twice
const FURTHEST_MS = 16 * HOUR_MS // no zone is further from UTC

export type Day = { day: string; startsMs: number }

/** When this date (2026-01-31) begins in the zone. */
export function startOfDay(timezone: string, date: string): number {
  const dateAt = dateFormat(timezone)
  const midnightMs = Date.parse(`${date}T00:00:00Z`)
  return firstQuarter(midnightMs - FURTHEST_MS, midnightMs + FURTHEST_MS, (ms) => dateAt(ms) >= date)
}

/** The days that a range touches; the first begins with the range. A date that the zone left out is not among them. */
export function listDays(timezone: string, fromMs: number, toMs: number): Day[] {
  const dateAt = dateFormat(timezone)
  const days: Day[] = []
  for (let startsMs = fromMs; startsMs < toMs;) {
    const day = dateAt(startsMs)
    days.push({ day, startsMs })
    startsMs = nextDay(timezone, dateAt, { day, startsMs })
  }
  return days
}

function nextDay(timezone: string, dateAt: (ms: number) => string, { day, startsMs }: Day): number {
  if (timezone === 'UTC') return (Math.floor(startsMs / (24 * HOUR_MS)) + 1) * 24 * HOUR_MS
  const isOver = (ms: number) => dateAt(ms) > day
  const likelyMs = startsMs + 24 * HOUR_MS
  if (likelyMs % QUARTER_MS === 0 && isOver(likelyMs) && !isOver(likelyMs - QUARTER_MS)) return likelyMs
  return firstQuarter(startsMs, startsMs + LONGEST_DAY_MS, isOver)
}

/** The first quarter of an hour that passes, by halving: the last one must. Days begin on a quarter in every zone. */
function firstQuarter(lowMs: number, highMs: number, passes: (ms: number) => boolean): number {
  let low = Math.floor(lowMs / QUARTER_MS)
  let high = Math.ceil(highMs / QUARTER_MS)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (passes(middle * QUARTER_MS)) high = middle
    else low = middle + 1
  }
  return high * QUARTER_MS
}

/** Swedish dates are those of ISO 8601, which also sort as text. Those of UTC need no calendar, which is slow. */
function dateFormat(timeZone: string): (ms: number) => string {
  if (timeZone === 'UTC') return (ms) => new Date(ms).toISOString().slice(0, 10)
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (ms) => format.format(ms)
}
