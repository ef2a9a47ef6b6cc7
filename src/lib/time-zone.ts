/** Whether this is the name of a zone. Offsets such as +02:00 are none: a day of a place may begin with another one. */
export function isTimeZone(name: string): boolean {
  if (name === 'UTC') return true
  if (/^[+-]/.test(name)) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}
