// How an offer's words are shown, and what can be chosen of them.
import { countryName } from './countries.ts'

export const PLATFORMS = [
  { value: 'web', label: 'Web' },
  { value: 'android', label: 'Android' },
  { value: 'ios', label: 'iOS' },
]
export const CATEGORIES = [
  { value: 'survey', label: 'Survey' },
  { value: 'app', label: 'App' },
  { value: 'game', label: 'Game' },
  { value: 'video', label: 'Video' },
]
export const SORTS = [
  { value: 'popular', label: 'Popular' },
  { value: 'payout_desc', label: 'Highest payout' },
  { value: 'payout_asc', label: 'Lowest payout' },
  { value: 'newest', label: 'Newest' },
]
export const MODES = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
]

type Choice = { value: string; label: string }
export const labelOf = (choices: Choice[], value: string) =>
  choices.find((choice) => choice.value === value)?.label ?? value

const FEW = 3

/** All of them, or the first and how many more. */
export function formatCountries(codes: string[]): string {
  if (codes.length === 0) return 'Everywhere'
  const shown = codes.slice(0, FEW).join(', ')
  return codes.length > FEW ? `${shown} and ${codes.length - FEW} more` : shown
}
export const formatAllCountries = (codes: string[]) =>
  codes.length === 0 ? 'Everywhere' : codes.map(countryName).join(', ')

const amount = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })
export const formatReward = (value: number, currency: string) => `${amount.format(value)} ${currency}`
