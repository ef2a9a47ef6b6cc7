// When to retry, when to leave a URL alone, when to give up. Rules only: time and randomness are arguments.

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Delays between attempts: twelve attempts in a little over three days. */
export const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const

const JITTER = 0.2
const LONGEST_RETRY_AFTER_MS = DAY_MS

/**
 * The delay after so many attempts, or null to stop. `jitter` is in [0, 1). A Retry-After can lengthen the delay, up to
 * a day, but never shorten it.
 */
export function waitBeforeAttempt(tries: number, jitter: number, askedMs: number | null = null): number | null {
  const wait = WAITS_MS[tries - 1]
  if (wait === undefined) return null
  const spread = wait * (1 + JITTER * (2 * jitter - 1))
  return Math.max(spread, Math.min(askedMs ?? 0, LONGEST_RETRY_AFTER_MS))
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
// The three date formats of HTTP (RFC 9110).
const DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2}) (?<year>\d{4})$/,
]

/** Seconds, or an HTTP date, as milliseconds from now; null for anything else, and for the past. */
export function readRetryAfter(text: string | null, now: Date): number | null {
  const value = text?.trim() ?? ''
  if (/^\d+$/.test(value)) return Math.min(Number(value), LONGEST_RETRY_AFTER_MS) * SECOND_MS
  const at = readHttpDate(value, now)
  return at === null || at <= now.getTime() ? null : at - now.getTime()
}

function readHttpDate(text: string, now: Date): number | null {
  const parts = DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return null
  const { day, month, year = '', hour, minute, second } = parts
  const place = MONTHS.indexOf(month ?? '')
  if (place === -1) return null
  const fullYear = year.length === 2 ? nearestYear(Number(year), now) : Number(year)
  return Date.UTC(fullYear, place, Number(day), Number(hour), Number(minute), Number(second))
}

/** In this century, unless that is more than 50 years ahead. */
function nearestYear(twoDigits: number, now: Date): number {
  const thisYear = now.getUTCFullYear()
  const year = thisYear - (thisYear % 100) + twoDigits
  return year > thisYear + 50 ? year - 100 : year
}

/** A lane: how much is sent to one URL at once, and whether anything is. */
export type Lane = {
  width: number
  /** In a row. */
  failures: number
  failingSince: Date | null
  lastFailureAt: Date | null
  /** From then on, closed to all but one probe. */
  openUntil: Date | null
}

export const FIRST_WIDTH = 4
const MAX_WIDTH = 64
const FAILURES_TO_OPEN = 5
const FIRST_OPEN_MS = 10 * SECOND_MS
const LONGEST_OPEN_MS = 10 * MINUTE_MS
const FAILING_TO_PAUSE_MS = 5 * DAY_MS
const QUIET_MS = 2 * DAY_MS // longer than any delay between two attempts: nothing was sent meanwhile, so nothing is known

const NOT_NOW = [408, 425, 429]

/** What an attempt says about the server: it works, it fails, or it only refused this one message. */
export function signOf({ ok, status }: { ok: boolean; status: number | null }): 'works' | 'fails' | 'refuses' {
  if (ok) return 'works'
  return status !== null && status >= 400 && status < 500 && !NOT_NOW.includes(status) ? 'refuses' : 'fails'
}

/** A lane widens while everything is delivered, and sends one at a time after a failure. */
export function afterResults(
  lane: Lane,
  results: { delivered: number; failed: number },
  now: Date,
  jitter: number,
): Lane {
  if (results.delivered > 0)
    return {
      width: results.failed > 0 ? FIRST_WIDTH : Math.min(lane.width + results.delivered, MAX_WIDTH),
      failures: 0,
      failingSince: null,
      lastFailureAt: null,
      openUntil: null,
    }
  // Attempts that were under way when the circuit opened say nothing new.
  if (results.failed === 0 || (lane.openUntil !== null && lane.openUntil > now)) return lane
  const isQuiet = lane.lastFailureAt !== null && now.getTime() - lane.lastFailureAt.getTime() > QUIET_MS
  const before = isQuiet ? { failures: 0, failingSince: null, openUntil: null } : lane
  // However many fail at once, the circuit opens for the first delay; then every probe counts.
  const failures =
    before.openUntil === null ? Math.min(before.failures + results.failed, FAILURES_TO_OPEN) : before.failures + 1
  return {
    width: 1,
    failures,
    failingSince: before.failingSince ?? now,
    lastFailureAt: now,
    openUntil: failures < FAILURES_TO_OPEN ? null : new Date(now.getTime() + openMs(failures, jitter)),
  }
}

/** The delay doubles after every failed probe. */
function openMs(failures: number, jitter: number): number {
  const probes = failures - FAILURES_TO_OPEN
  return Math.min(FIRST_OPEN_MS * 2 ** Math.min(probes, 10), LONGEST_OPEN_MS) * (1 + JITTER * (2 * jitter - 1))
}

/** After five days of nothing but failures, a URL is left alone until a person looks at it. */
export const isHopeless = ({ failingSince }: Lane, now: Date): boolean =>
  failingSince !== null && now.getTime() - failingSince.getTime() >= FAILING_TO_PAUSE_MS
