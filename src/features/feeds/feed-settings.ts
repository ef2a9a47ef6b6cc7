// What an operator sets for a feed, apart from how it is fetched and read.
import type { Problem } from '../../errors.ts'
import { InvalidInput } from '../../errors.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { formatDuration, parseDuration } from '../../lib/duration.ts'
import { exactUsd, parseUsd, PPM_PER_PERCENT } from '../../lib/money.ts'
import { CATEGORIES, PLATFORMS } from '../offers/choices.ts'

export type FeedSettings = {
  /** For offers that name none. */
  currency: string
  /** Of what the upstream pays, in millionths: what publishers are paid. */
  sharePpm: number
  /** Of each goal, the operator keeps at least and at most this, whatever the share is. */
  minMarginMicros: number | null
  maxMarginMicros: number | null
  everyS: number
  filters: Filters
  /** A run that would pause more than this share of the feed's offers changes nothing. */
  maxGonePpm: number
  /** A payout that changes by more waits for the operator; null: none does. */
  maxPayoutChangePpm: number | null
  maxOffers: number
}

/** Empty lists and null let everything through. */
export type Filters = {
  minPayoutMicros: number | null
  countries: string[]
  platforms: string[]
  categories: string[]
  /** None of these in name or description. */
  blockedWords: string[]
}

export const FEED_DEFAULTS: FeedSettings = {
  currency: 'USD',
  sharePpm: 1_000_000,
  minMarginMicros: null,
  maxMarginMicros: null,
  everyS: 1_800,
  filters: { minPayoutMicros: null, countries: [], platforms: [], categories: [], blockedWords: [] },
  maxGonePpm: 300_000,
  maxPayoutChangePpm: null,
  maxOffers: 100_000,
}

/** As people and programs give them. */
export type GivenSettings = {
  currency: string
  share_percent: number
  /** Dollars, as are the other amounts. */
  min_margin: string | null
  max_margin: string | null
  /** Such as 30m. */
  every: string
  max_gone_percent: number
  hold_changes_percent: number | null
  max_offers: number
  min_payout: string | null
  countries: string[]
  platforms: string[]
  categories: string[]
  blocked_words: string[]
}

const SHORTEST = '5m'
const LONGEST = '7d'
const MOST_OFFERS = 1_000_000
const MOST_WORDS = 200

/** Those that are given, in place of what is there. All problems at once, each with its `place` before its name. */
export function readSettings(given: Partial<GivenSettings>, before: FeedSettings, place = ''): FeedSettings {
  const problems: Problem[] = []
  const report = (field: keyof GivenSettings, message: string) => problems.push({ field: `${place}${field}`, message })
  const percent = (field: 'share_percent' | 'max_gone_percent' | 'hold_changes_percent', what: string, most: number, kept: number) => {
    const value = given[field]
    if (value === undefined || value === null) return kept
    if (!(value > 0 && value <= most)) report(field, `${what} must be a percentage above 0, at most ${most.toLocaleString('en')}.`)
    return Math.round(value * PPM_PER_PERCENT)
  } // prettier-ignore
  const list = (field: 'countries' | 'platforms' | 'categories', known: readonly string[], kept: string[]) => {
    const wrong = given[field]?.filter((one) => !known.includes(one)) ?? []
    if (wrong.length > 0) report(field, `${wrong.slice(0, 3).join(', ')} is not allowed${known.length > 10 ? ': use codes such as US and DE' : `: use ${known.join(', ')}`}.`) // prettier-ignore
    return given[field] ?? kept
  }
  if (given.currency !== undefined && !/^[A-Z]{3}$/.test(given.currency)) report('currency', 'The currency must be a code such as USD or EUR.') // prettier-ignore
  const { max_offers: maxOffers = before.maxOffers } = given
  if (!Number.isInteger(maxOffers) || maxOffers < 1 || maxOffers > MOST_OFFERS) report('max_offers', `The maximum number of offers must be from 1 to ${MOST_OFFERS.toLocaleString('en')}.`) // prettier-ignore
  const amount = (field: 'min_payout' | 'min_margin' | 'max_margin', what: string, kept: number | null) => {
    const text = given[field]
    if (text === undefined || text === null) return text === null ? null : kept
    const micros = parseUsd(text)
    if (micros === null) report(field, `${what} must be an amount of dollars with at most 4 decimals.`)
    return micros
  }
  const minMarginMicros = amount('min_margin', 'The minimum margin', before.minMarginMicros)
  const maxMarginMicros = amount('max_margin', 'The maximum margin', before.maxMarginMicros)
  if (minMarginMicros !== null && maxMarginMicros !== null && minMarginMicros > maxMarginMicros) report('max_margin', 'The maximum margin must not be below the minimum margin.') // prettier-ignore
  const words = given.blocked_words ?? before.filters.blockedWords
  if (words.length > MOST_WORDS || words.some((word) => word.trim() === '' || word.length > 100 || /[\r\n]/.test(word))) report('blocked_words', `Enter at most ${MOST_WORDS} words of 1 to 100 characters, none with a line break.`) // prettier-ignore
  const settings: FeedSettings = {
    currency: given.currency ?? before.currency,
    sharePpm: percent('share_percent', 'The share', 100, before.sharePpm),
    minMarginMicros,
    maxMarginMicros,
    everyS: readEvery(given.every, before.everyS, (message) => report('every', message)),
    maxGonePpm: percent('max_gone_percent', 'The limit for gone offers', 100, before.maxGonePpm),
    maxPayoutChangePpm: given.hold_changes_percent === null ? null : given.hold_changes_percent === undefined ? before.maxPayoutChangePpm : percent('hold_changes_percent', 'The limit for payout changes', 10_000, 0), // prettier-ignore
    maxOffers,
    filters: {
      minPayoutMicros: amount('min_payout', 'The lowest payout', before.filters.minPayoutMicros),
      countries: list('countries', COUNTRIES, before.filters.countries),
      platforms: list('platforms', PLATFORMS, before.filters.platforms),
      categories: list('categories', CATEGORIES, before.filters.categories),
      blockedWords: words.map((word) => word.trim()),
    },
  }
  if (problems.length > 0) throw new InvalidInput(problems)
  return settings
}

function readEvery(text: string | undefined, kept: number, report: (message: string) => void): number {
  if (text === undefined) return kept
  const ms = parseDuration(text)
  if (ms === null || ms < (parseDuration(SHORTEST) ?? 0) || ms > (parseDuration(LONGEST) ?? 0)) report(`A feed can be fetched every ${SHORTEST} to ${LONGEST}: enter a time such as 30m.`) // prettier-ignore
  return (ms ?? 0) / 1_000
}

const shownUsd = (micros: number | null) => (micros === null ? null : exactUsd(micros))

export function showSettings({ filters, ...settings }: FeedSettings): GivenSettings {
  const { maxPayoutChangePpm: bound } = settings
  return {
    currency: settings.currency,
    share_percent: settings.sharePpm / PPM_PER_PERCENT,
    min_margin: shownUsd(settings.minMarginMicros),
    max_margin: shownUsd(settings.maxMarginMicros),
    every: formatDuration(settings.everyS * 1_000),
    max_gone_percent: settings.maxGonePpm / PPM_PER_PERCENT,
    hold_changes_percent: bound === null ? null : bound / PPM_PER_PERCENT,
    max_offers: settings.maxOffers,
    min_payout: shownUsd(filters.minPayoutMicros),
    countries: filters.countries,
    platforms: filters.platforms,
    categories: filters.categories,
    blocked_words: filters.blockedWords,
  }
}
