let lastMs = Number.NaN
let lastText = ''

/** The same as `new Date(ms).toISOString()`; many ask for one millisecond in a row, and it is written once. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastText
}

/** RFC 3339 in UTC with whole seconds: how every time in the API looks. */
export function rfc3339(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/** A date or time as people type it, read as UTC when it names no zone; null when it is not one. */
export function parseTime(text: string): Date | null {
  const trimmed = text.trim()
  if (!RFC3339.test(trimmed)) return null
  const zoned = /([Zz]|[+-]\d{2}:?\d{2})$/.test(trimmed.slice(10)) || trimmed.length === 10 ? trimmed : `${trimmed}Z`
  const time = new Date(zoned.replace(' ', 'T'))
  // JavaScript takes February 30 for March 2; a date that moves when it is printed is none.
  const date = new Date(`${trimmed.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(time.getTime()) || Number.isNaN(date.getTime())) return null
  const year = time.getUTCFullYear()
  if (year < 1 || year > 9999) return null // PostgreSQL has no year 0, and a zone can lead into the year before or after
  return date.toISOString().startsWith(trimmed.slice(0, 10)) ? time : null
}

/** The same for a span that may be open on either side, as part of a filter. */
export function parseSpan(query: { from?: string; to?: string }): { from?: Date; to?: Date } {
  const from = query.from === undefined ? null : parseTime(query.from)
  const to = query.to === undefined ? null : parseTime(query.to)
  return { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) }
}
