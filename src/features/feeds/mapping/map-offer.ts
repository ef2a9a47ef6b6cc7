// An upstream's offer as an import would take it, or why it is left out.
import { createHash } from 'node:crypto'
import { COUNTRIES, countryMeant, countryPlace } from '../../../lib/countries.ts'
import { MAX_GOALS } from '../../offers/import-record.ts'
import { readLinkedProduct } from '../../offers/products/product.ts'
import { readMoney } from './amounts.ts'
import { readDate } from './dates.ts'
import { writeLink } from './link.ts'
import type { Cap, Goals, ListSource, Mapping } from './mapping.ts'
import { eachOf, isSaid, readAll, sameText, scalarText, withList } from './paths.ts'
import { cutText, holds, lookUp, readList, readText } from './texts.ts'

/** Amounts in micros of `currency`: what the upstream pays. */
export type MappedGoal = {
  external_id: string
  name: string
  description: string
  micros: number
  is_optional: boolean
}
export type MappedOffer = {
  external_id: string
  currency: string
  goals: MappedGoal[]
  /** The fields of an import but for what depends on money. */
  record: Record<string, unknown>
}
export type Mapped = { id: string; name: string } & ({ offer: MappedOffer } | { skipped: string })

const EVERYWHERE = new Set(['ALL', '*', 'WW', 'GLOBAL', 'WORLDWIDE', 'INT', 'ANY'])
const CAP_FIELDS = {
  day: { clicks: 'daily_click_cap', conversions: 'daily_conversion_cap', payout: 'daily_payout_cap' },
  total: { clicks: 'total_click_cap', conversions: 'total_conversion_cap', payout: 'total_payout_cap' },
}

/** One or, where the upstream pays by country, several. */
export function mapOffer(mapping: Mapping, item: unknown): Mapped[] {
  const groups = groupByCountry(mapping, item)
  if (groups === null) return [{ ...nameOf(mapping, item), skipped: `it has more than ${COUNTRIES.length} payouts by country` }] // prettier-ignore
  return groups.map(({ item: part, countries }) =>
    mapOne(mapping, part, countries, groups.length > 1 ? `:${countries?.join('+')}` : ''),
  )
}

type Group = { item: unknown; countries: string[] | null }

/** Rows for the same countries belong together, and rows for none to all of them. Null: there are too many kinds. */
function groupByCountry({ by_country: by }: Mapping, item: unknown): Group[] | null {
  if (by === undefined) return [{ item, countries: null }]
  const rows = readAll(`${by.list}[]`, item).map((row) => ({ row, key: readCodes(by.countries, row).toSorted().join('+') })) // prettier-ignore
  const named = [...new Set(rows.map(({ key }) => key))].filter((key) => key !== '')
  if (named.length === 0) return [{ item, countries: null }]
  if (named.length > COUNTRIES.length) return null
  return named.map((key) => ({
    item: withList(item, by.list, rows.filter((one) => one.key === key || one.key === '').map(({ row }) => row)),
    countries: key.split('+'),
  })) // prettier-ignore
}

const nameOf = (mapping: Mapping, item: unknown, suffix = '') => ({ id: `${readText(mapping.id, item)}${suffix}`, name: cutText(readText(mapping.name, item), 300) }) // prettier-ignore

function mapOne(mapping: Mapping, item: unknown, countries: string[] | null, suffix: string): Mapped {
  const known = nameOf(mapping, item, suffix)
  const skip = (skipped: string): Mapped => ({ ...known, skipped })
  if (known.id === suffix) return skip('it has no ID')
  if (known.name === '') return skip('it has no name')
  const rule = mapping.skip?.find((condition) => holds(condition, item))
  if (rule !== undefined) return skip(rule.reason)
  if (mapping.not_fixed?.some((condition) => holds(condition, item))) return skip('its payout is not a fixed amount')
  const link = writeLink(mapping.link, item)
  if (link === null) return skip('it has no link: the upstream has not approved it for you')
  if (!link.includes('{click_id}')) return skip('its link has no place for the click ID')
  const said = new Set([readText(mapping.currency, item).toUpperCase()])
  const goals = readGoals(mapping, item, said)
  if (!Array.isArray(goals)) return skip(goals.problem)
  const [currency = '', ...others] = [...said].filter((one) => one !== '')
  if (others.length > 0) return skip(`its payouts are in several currencies: ${[currency, ...others].join(', ')}`)
  const where = readCountries(mapping, item, countries)
  if ('problem' in where) return skip(where.problem)
  const [startsAt, endsAt] = [readDate(readText(mapping.starts_at, item)), readDate(readText(mapping.ends_at, item))]
  const [category = 'app'] = lookUp(mapping.category, item)
  const platforms = lookUp(mapping.platforms, item)
  const record = {
    name: known.name,
    description: cutText(readText(mapping.description, item), 10_000),
    requirements: cutText(readText(mapping.requirements, item), 10_000),
    image_url: imageOf(readText(mapping.image, item)),
    time_estimate: cutText(readText(mapping.time_estimate, item) || timeOf(readText(mapping.time_seconds, item)), 300), // prettier-ignore
    category,
    countries: where.countries,
    ...(platforms.length === 0 ? {} : { platforms }),
    ...firstOf('difficulty', lookUp(mapping.difficulty, item)),
    ...firstOf('conversion_type', lookUp(mapping.conversion_type, item)),
    ...firstOf('language', [readText(mapping.language, item).slice(0, 2).toLowerCase()]),
    ...firstOf('product', [cutText(readLinkedProduct(readText(mapping.product, item)), 300)]),
    destination_url: link,
    starts_at: startsAt?.toISOString() ?? null,
    ends_at: endsAt?.toISOString() ?? null,
    ...readCaps(mapping.caps ?? [], item),
  }
  return { ...known, offer: { external_id: known.id, currency, goals, record } }
}

const firstOf = (name: string, [value = '']: string[]) => (value === '' ? {} : { [name]: value })

/** A picture that browsers would refuse on our pages is none. */
const imageOf = (url: string) => (/^https:\/\/[^\s]+$/.test(url) ? url : null)

function timeOf(seconds: string): string {
  const number = Number(seconds)
  if (seconds === '' || !Number.isFinite(number) || number <= 0) return ''
  const [size, unit] = number >= 86_400 ? [86_400, 'day'] : number >= 3_600 ? [3_600, 'hour'] : [60, 'minute']
  const count = Math.max(1, Math.round(number / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** Upstreams write UK, us, and Germany. */
function toCountry(text: string): string {
  const code = text.trim().toUpperCase()
  return countryPlace(code) !== undefined || EVERYWHERE.has(code) ? code : (countryMeant(code) ?? code)
}

/** What cannot be read counts as an unknown country: an offer for some countries must not run in all. */
function readCodes(source: ListSource | undefined, item: unknown): string[] {
  const codes = readList(source, item)
  if (codes.length > 0 || source === undefined) return codes.map(toCountry)
  const paths = typeof source === 'string' ? source : source.path
  return [paths].flat().flatMap((path) => readUnlisted(path, item))
}

/** Where a list should be: one country as a text, or a list of something else. */
function readUnlisted(path: string, item: unknown): string[] {
  const place = path.replace(/\[[^\]]*\][^\]]*$|~$/, '')
  const isCondition = /^\[[^\]]/.test(path.slice(place.length)) // then nothing may fit
  const isAny = (list: object) => eachOf(list).some((one) => (typeof one === 'object' ? one !== null : isSaid(one)))
  return readAll(place, item).flatMap((value) => {
    if (typeof value === 'object' && value !== null) return !isCondition && isAny(value) ? '?' : []
    return isSaid(value) ? toCountry(scalarText(value)) : []
  })
}

function readCountries({ countries, by_country }: Mapping, item: unknown, own: string[] | null) {
  const read = (source: ListSource | undefined) => readCodes(source, item)
  const isEverywhere = (codes: string[]) => codes.some((code) => EVERYWHERE.has(code))
  const given = own ?? read(countries?.include)
  const include = isEverywhere(given) ? [] : given
  const exclude = [...read(countries?.exclude), ...readAll(`${by_country?.list ?? '$none'}[]`, item).flatMap((row) => readCodes(by_country?.exclude, row))] // prettier-ignore
  const unknown = [...include, ...exclude].filter((code) => countryPlace(code) === undefined)
  if (unknown.length > 0) return { problem: `it has the country ${unknown.slice(0, 3).join(', ')}, which ISO 3166-1 does not know` } // prettier-ignore
  if (exclude.length === 0) return { countries: include }
  const all = include.length === 0 ? [...COUNTRIES] : include
  const left = all.filter((code) => !exclude.includes(code))
  return left.length === 0 ? { problem: 'it runs in no country' } : { countries: left }
}

/** Adds the currencies that amounts say themselves to `said`. */
function readGoals(mapping: Mapping, item: unknown, said: Set<string>): MappedGoal[] | { problem: string } {
  const { goals } = mapping
  const found = goals === undefined ? [] : goalsOf(goals, item, said)
  if (!Array.isArray(found)) return found
  if (found.length === 0) {
    const amount = readMoney(mapping.payout ?? goals?.base?.payout, item)
    if (amount === null) return { problem: 'it has no payout' }
    if ('problem' in amount) return amount
    said.add(amount.currency)
    if (amount.micros === 0) return { problem: 'its payout is 0' }
    return [{ external_id: '', name: 'Complete', description: '', micros: amount.micros, is_optional: false }]
  }
  if (found.every(({ micros }) => micros === 0)) return { problem: 'its payout is 0' }
  // One at least must be required: without any that is, all are.
  return found.every((goal) => goal.is_optional) ? found.map((goal) => ({ ...goal, is_optional: false })) : found
}

function goalsOf(goals: Goals, item: unknown, said: Set<string>): MappedGoal[] | { problem: string } {
  const entries = readAll(`${goals.list}[]`, item)
  const made: MappedGoal[] = []
  if (entries.length === 0) return []
  if (entries.length > MAX_GOALS) return { problem: `it has more than ${MAX_GOALS} goals` }
  if (goals.base !== undefined) {
    const amount = readMoney(goals.base.payout, item)
    if (amount !== null && 'problem' in amount) return amount
    said.add(amount?.currency ?? '')
    if (amount !== null && amount.micros > 0)
      made.push({ external_id: '', name: goals.base.name, description: '', micros: amount.micros, is_optional: false })
  }
  for (const entry of entries) {
    const amount = readMoney(goals.payout, joined(goals, item, entry))
    if (amount !== null && 'problem' in amount) return amount
    said.add(amount?.currency ?? '')
    const name = cutText(readText(goals.name, entry) || `Goal ${made.length + 1}`, 300)
    made.push({
      external_id: readText(goals.id, entry) || `#${hashOf(name)}`,
      name: nameOnce(name, made),
      description: cutText(readText(goals.description, entry), 10_000),
      micros: amount?.micros ?? 0,
      is_optional: goals.optional !== undefined && holds(goals.optional, entry),
    })
  }
  if (goals.only_one === true && made.length > 1)
    return { problem: 'it has several goals, and callbacks of this network do not say which one was reached' }
  return made
}

/** What has the amount of a goal: itself, or the entry of another list that names it. */
function joined({ join }: Goals, item: unknown, entry: unknown): unknown {
  if (join === undefined) return entry
  const name = scalarText(readAll(join.goal, entry)[0])
  return readAll(`${join.list}[]`, item).find((one) => readAll(join.is, one).some((value) => sameText(value, name)))
}

/** Goals of one offer have different names: some upstreams call several alike. */
function nameOnce(name: string, before: readonly MappedGoal[]): string {
  let unique = name
  for (let n = 2; before.some((goal) => goal.name === unique); n++) unique = `${cutText(name, 290)} (${n})`
  return unique
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** Of several for the same, the lowest counts. */
function readCaps(caps: readonly Cap[], item: unknown): Record<string, number> {
  const read: Record<string, number> = {}
  for (const { value, where = [], period, of } of caps) {
    if (!where.every((condition) => holds(condition, item))) continue
    const numbers = readAll(value, item).map((one) => Number(scalarText(one)))
    const [lowest] = numbers.filter((number) => Number.isFinite(number) && number > 0).toSorted((a, b) => a - b)
    const field = CAP_FIELDS[period][of]
    const count = lowest === undefined ? undefined : of === 'payout' ? Math.floor(lowest * 10_000) / 10_000 : Math.floor(lowest) // prettier-ignore
    if (count !== undefined && count > 0) read[field] = Math.min(count, read[field] ?? Infinity)
  }
  return read
}
