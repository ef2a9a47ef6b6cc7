// When to try again, when to leave an address alone, when to give up. Rules only: time and chance are arguments.

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Between one try and the next: twelve tries in a little over three days. */
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

/** When to try again after so many tries, or null to stop. `jitter` is in [0, 1). */
export function nextTryAt(tries: number, now: Date, jitter: number, retryAfter: string | null = null): Date | null {
  const wait = WAITS_MS[tries - 1]
  if (wait === undefined) return null
  const asked = readRetryAfter(retryAfter, now)
  const spread = wait * (1 + JITTER * (2 * jitter - 1))
  // Asked to wait longer we wait longer, within a day; asked to hurry we do not.
  return new Date(now.getTime() + Math.max(spread, Math.min(asked ?? 0, LONGEST_RETRY_AFTER_MS)))
}

/** Seconds, or a date as HTTP has it; null for anything else, and for what has passed. */
export function readRetryAfter(text: string | null, now: Date): number | null {
  const value = text?.trim() ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND_MS
  const at = /^[A-Za-z]{3,9},? /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) || at <= now.getTime() ? null : at - now.getTime()
}

/** A lane: how much is sent to one address at once, and whether anything is. */
export type Lane = {
  width: number
  /** In a row. */
  failures: number
  failingSince: Date | null
  /** Closed to all but one probe from then on. */
  openUntil: Date | null
}

export const FIRST_WIDTH = 4
const MAX_WIDTH = 64
const FAILURES_TO_OPEN = 5
const FIRST_OPEN_MS = 10 * SECOND_MS
const LONGEST_OPEN_MS = 10 * MINUTE_MS
const FAILING_TO_PAUSE_MS = 5 * DAY_MS

/** A lane widens while everything arrives, and is a single file after a failure. */
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
      openUntil: null,
    }
  if (results.failed === 0) return lane
  const failures = lane.failures + results.failed
  return {
    width: 1,
    failures,
    failingSince: lane.failingSince ?? now,
    openUntil: failures < FAILURES_TO_OPEN ? null : new Date(now.getTime() + openMs(lane, jitter)),
  }
}

/** Twice as long after every probe that failed. */
function openMs({ failures }: Lane, jitter: number): number {
  const probes = Math.max(0, failures - FAILURES_TO_OPEN + 1)
  return Math.min(FIRST_OPEN_MS * 2 ** Math.min(probes, 10), LONGEST_OPEN_MS) * (1 + JITTER * (2 * jitter - 1))
}

/** After five days of nothing but failures an address is left alone until somebody looks at it. */
export const isHopeless = ({ failingSince }: Lane, now: Date): boolean =>
  failingSince !== null && now.getTime() - failingSince.getTime() >= FAILING_TO_PAUSE_MS
