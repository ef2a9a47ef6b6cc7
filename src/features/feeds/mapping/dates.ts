const SECONDS_FROM = 100_000_000 // 1973: before that, offers have no dates
const MS_FROM = 100_000_000_000

/** Unix seconds or milliseconds, ISO 8601, or `2031-01-31 00:00:00`, which is taken as UTC. Null: blank, or none. */
export function readDate(text: string): Date | null {
  const plain = text.trim()
  if (/^\d{9,13}$/.test(plain)) {
    const number = Number(plain)
    return number < SECONDS_FROM ? null : new Date(number >= MS_FROM ? number : number * 1_000)
  }
  const [, day, time = '00:00:00', zone = 'Z'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s?(Z|[+-]\d\d:?\d\d)?$/.exec(plain) ?? [] // prettier-ignore
  if (day === undefined || day.startsWith('0000')) return null
  const date = new Date(`${day}T${time}${zone}`)
  return Number.isNaN(date.getTime()) ? null : date
}
