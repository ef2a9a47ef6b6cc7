// Days and clock times in the viewer's time zone, which need not be that of the browser.
import { timeZone } from './format.ts'

const DAY_MS = 86_400_000

const clockOf = (zone: string) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }) // prettier-ignore

/** The date in this zone at this moment. */
export const todayIn = (zone: string, now = new Date()) => clockOf(zone).format(now).slice(0, 10)

/** The time of a clock in the viewer's zone, as the fields of browsers have it; empty: it is no time. */
export function toClockTime(time: string | null): string {
  const at = Date.parse(time ?? '')
  if (Number.isNaN(at)) return ''
  const text = clockOf(timeZone()).format(at).replace(' ', 'T')
  return text.endsWith(':00') ? text.slice(0, 16) : text
}

/**
 * The moment when a clock there shows this time; null: it is no time. The first one where clocks are set back; what they
 * skip is the moment of the skip.
 */
export function fromClockTime(text: string): string | null {
  const wanted = Date.parse(`${text}Z`)
  if (Number.isNaN(wanted)) return null
  const clock = clockOf(timeZone())
  const shownAt = (ms: number) => Date.parse(`${clock.format(ms).replace(' ', 'T')}Z`)
  const candidates = [wanted - DAY_MS, wanted + DAY_MS]
    .map((ms) => wanted - (shownAt(ms) - ms))
    .filter((ms) => !Number.isNaN(ms)) // a day earlier or later may have a year that cannot be read: 0, or 10000
    .toSorted((a, b) => a - b)
  const at = candidates.find((ms) => shownAt(ms) === wanted) ?? candidates.at(-1) ?? wanted
  return new Date(at).toISOString()
}

/** When a day (2026-01-31) begins, or one that many days later. */
export function startOfDay(day: string | undefined, daysLater = 0): string | undefined {
  const midnight = Date.parse(`${day}T00:00Z`)
  if (Number.isNaN(midnight)) return undefined
  return fromClockTime(new Date(midnight + daysLater * DAY_MS).toISOString().slice(0, 16)) ?? undefined
}
