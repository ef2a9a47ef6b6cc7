// How numbers, money and times are shown: in the language and time zone of the person's profile, or else the browser's.
// Words stay English, as the pages are.

const formatsOf = (locale: string | undefined, zone: string | undefined) => {
  const number = (options: Intl.NumberFormatOptions = {}) => new Intl.NumberFormat(locale, options)
  const usd = (options: Intl.NumberFormatOptions) => number({ style: 'currency', currency: 'USD', ...options })
  const time = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options)
  const period = (options: Intl.DateTimeFormatOptions) => time({ timeZone: 'UTC', ...options })
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  return {
    locale,
    zone,
    count: number(),
    upToFour: number({ maximumFractionDigits: 4 }),
    upToTwo: number({ maximumFractionDigits: 2 }),
    upToOne: number({ maximumFractionDigits: 1 }),
    percent: number({ style: 'percent', maximumFractionDigits: 2 }),
    usd: usd({ maximumFractionDigits: 4 }),
    // Cut, not rounded: nothing is shown as owed that is not, and what is payable agrees with what a payment run pays.
    cents: usd({ roundingMode: 'trunc', signDisplay: 'negative' }),
    // All with the same digits, so that those below each other can be compared.
    rate: number({ style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    change: number({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'always' }),
    points: number({ maximumFractionDigits: 2, signDisplay: 'always' }),
    local: time({ dateStyle: 'medium', timeStyle: 'medium', ...(zone === undefined ? {} : { timeZone: zone }) }),
    utc: period({ dateStyle: 'medium', timeStyle: 'medium' }),
    month: [period({ month: 'short', year: 'numeric' }), period({ month: 'long', year: 'numeric' })] as const,
    day: [period({ month: 'short', day: 'numeric' }), period({ dateStyle: 'medium' })] as const,
    hour: [period(clock), period({ month: 'short', day: 'numeric', ...clock })] as const,
  }
}

let formats = formatsOf(undefined, undefined)

/** To be called before pages are shown. A browser may not know every zone or language that the server knows. */
export function setFormats({ locale, time_zone }: { locale: string | null; time_zone: string | null }): void {
  const wanted = locale !== null && Intl.NumberFormat.supportedLocalesOf(locale).length > 0 ? locale : undefined
  const zone = time_zone !== null && isZone(time_zone) ? time_zone : undefined
  if (wanted !== formats.locale || zone !== formats.zone) formats = formatsOf(wanted, zone)
}

/** What these would make of an amount and the present time. */
export function exampleOf(locale: string | undefined, zone: string | undefined): string {
  const { usd, local } = formatsOf(locale, zone !== undefined && isZone(zone) ? zone : undefined)
  return `${usd.format(1234.56)} · ${local.format(new Date())}`
}

/** A price, exactly. */
export const formatUsd = (amount: number) => formats.usd.format(amount)
/** A balance or a sum, in whole cents. */
export const formatCents = (amount: number) => formats.cents.format(amount)
/** A price, or what a click earns, in whole cents. Where a cent is a large part of it, with all its digits. */
export const formatPrice = (amount: number) => (Math.abs(amount) < 0.1 ? formatUsd : formatCents)(amount)
export const formatCount = (number: number) => formats.count.format(number)
/** `1 offer`, `2 offers`. */
export const formatNoun = (count: number, noun: string) => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
/** Of what the server counts up to a limit. */
export const formatUpTo = (number: number, most = 10_000) =>
  number < most ? formatCount(number) : `${formatCount(most)}+`
export const formatShare = (share: number) => formats.percent.format(share)
export const formatRate = (share: number) => formats.rate.format(share)
export const formatReward = (value: number, currency: string) => `${formats.upToFour.format(value)} ${currency}`
/** How much more or less, as a share and in percentage points. */
export const formatChange = (share: number) => formats.change.format(share)
export const formatPoints = (points: number) => formats.points.format(points)
export const formatDuration = (ms: number) => `${ms < 10 ? formats.upToTwo.format(ms) : formatCount(Math.round(ms))} ms`

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1)
  const number = bytes / 1000 ** power
  return `${number < 10 ? formats.upToOne.format(number) : formatCount(Math.round(number))} ${UNITS[power]}`
}

export const formatTime = (time: string) => formats.local.format(new Date(time))
export const formatUtc = (time: string) => `${formats.utc.format(new Date(time))} UTC`

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function formatAgo(time: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const)
  return relative.format(Math.round(seconds / size), unit)
}

/** How long ago, for `overdue by 3 min`. */
export function formatSince(time: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1000)
  const [unit, size] = STEPS.find(([, length]) => seconds >= length) ?? (['second', 1] as const)
  return `${formatCount(Math.floor(seconds / size))} ${SHORT_UNITS[unit] ?? unit}`
}

const SHORT_UNITS: Partial<Record<Intl.RelativeTimeFormatUnit, string>> = { day: 'd', hour: 'h', minute: 'min', second: 's' } // prettier-ignore

const periodFormats = (period: string) => formats[period.length === 7 ? 'month' : period.length === 10 ? 'day' : 'hour']

/** A month (2026-03), a day or week by its first day (2026-03-10) or an hour (2026-03-10T23:00Z). */
export const formatPeriod = (period: string) => periodFormats(period)[0].format(new Date(period))
export const formatFullPeriod = (period: string) => periodFormats(period)[1].format(new Date(period))

const languages = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' })
/** A tag that a browser gives may be one that it cannot name. */
export function formatLanguage(tag: string): string {
  try {
    return languages.of(tag) ?? tag
  } catch {
    return tag
  }
}

export const timeZone = () => formats.local.resolvedOptions().timeZone
/** Whether 1,5 is how one and a half is written, and 1.500 is one thousand five hundred. */
export const hasDecimalComma = () => formats.usd.formatToParts(0.5).some(({ type, value }) => type === 'decimal' && value === ',') // prettier-ignore

export function isZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}
