// How numbers, money and times are shown.
const usd = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
const count = new Intl.NumberFormat('en-US')
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 2 })

// Cut, not rounded: nothing is shown as owed that is not, and what is payable agrees with what a payment run pays.
const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', roundingMode: 'trunc', signDisplay: 'negative' }) // prettier-ignore

/** A price, exactly. */
export const formatUsd = (amount: number) => usd.format(amount)
/** A balance or a sum, in whole cents. */
export const formatCents = (amount: number) => cents.format(amount)
export const formatCount = (number: number) => count.format(number)
/** Of what the server counts up to a limit. */
export const formatUpTo = (number: number, most = 10_000) => `${count.format(number)}${number >= most ? '+' : ''}`
export const formatShare = (share: number) => percent.format(share)

// All with the same digits, so that those below each other can be compared.
const rate = new Intl.NumberFormat('en-US', { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 })
const small = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', minimumFractionDigits: 4 })
export const formatRate = (share: number) => rate.format(share)
/** What a click earns, which is often less than a cent. */
export const formatPerClick = (amount: number) => small.format(amount)

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const utc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })

export const formatTime = (time: string) => local.format(new Date(time))
export const formatUtc = (time: string) => `${utc.format(new Date(time))} UTC`

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

export const timeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone
