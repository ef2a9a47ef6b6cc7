// An upstream's offer as an import would take it, or why it is left out.
import { PLATFORMS } from '../../offers/choices.ts'
import { readLinkedProduct } from '../../offers/products/product.ts'
import { type Group, groupByCountry } from './by-country.ts'
import { type MoneyCap, readCaps } from './caps.ts'
import { readCountries } from './countries.ts'
import { readDate } from './dates.ts'
import { type MappedGoal, readGoals } from './goals.ts'
import { writeLink } from './link.ts'
import type { Mapping } from './mapping.ts'
import { cutText, holds, lookUp, readList, readText } from './texts.ts'

export type MappedOffer = {
  external_id: string
  currency: string
  goals: MappedGoal[]
  caps: MoneyCap[]
  /** What was given as a cap and is none. */
  ignoredCaps: string[]
  /** The fields of an import but for what depends on money. */
  record: Record<string, unknown>
}
/** `group`: where the upstream pays by country, what it is of, and for. */
export type Mapped = { id: string; name: string; group?: GroupOf } & ({ offer: MappedOffer } | { skipped: string })
export type GroupOf = { upstreamId: string; countries: string[]; platforms: string[] }

/** One or, where the upstream pays by country, several. */
export function mapOffer(mapping: Mapping, item: unknown): Mapped[] {
  const groups = groupByCountry(mapping, item)
  if ('problem' in groups) return [{ ...nameOf(mapping, item), skipped: groups.problem }]
  return groups.map((group) => {
    const mapped = mapOne(mapping, group)
    if (mapping.by_country === undefined) return mapped
    const { countries = [], platforms = [] } = ('offer' in mapped ? mapped.offer.record : group) as Partial<GroupOf>
    return { ...mapped, group: { upstreamId: readText(mapping.id, item), countries: countries ?? [], platforms: platforms ?? [] } } // prettier-ignore
  })
}

const nameOf = (mapping: Mapping, item: unknown, suffix = '') => ({ id: `${readText(mapping.id, item)}${suffix}`, name: cutText(readText(mapping.name, item), 300) }) // prettier-ignore

function mapOne(mapping: Mapping, { item, countries, platforms: own, suffix }: Group): Mapped {
  const known = nameOf(mapping, item, suffix)
  const skip = (skipped: string): Mapped => ({ ...known, skipped })
  if (known.id === suffix) return skip('it has no ID')
  if (known.name === '') return skip('it has no name')
  const rule = mapping.skip?.find((condition) => holds(condition, item))
  if (rule !== undefined) return skip(rule.reason)
  if (mapping.not_fixed?.some((condition) => holds(condition, item))) return skip('its payout is not a fixed amount')
  const link = writeLink(mapping.link, item)
  if (link === null) return skip('it has no link: the upstream has not approved it for you')
  if (!link.includes('{click_id}')) return skip('the click ID cannot be put into its link')
  const priced = readGoals(mapping, item)
  if ('problem' in priced) return skip(priced.problem)
  const where = readCountries(mapping, item, countries)
  if ('problem' in where) return skip(where.problem)
  const [startsAt, endsAt] = [readDate(readText(mapping.starts_at, item)), readDate(readText(mapping.ends_at, item))]
  const [category = 'app'] = lookUp(mapping.category, item)
  const platforms = readPlatforms(mapping.platforms, item, own)
  if ('problem' in platforms) return skip(platforms.problem)
  const caps = readCaps(mapping.caps ?? [], item)
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
    ...caps.counts,
  }
  return { ...known, offer: { external_id: known.id, ...priced, caps: caps.money, ignoredCaps: caps.ignored, record } }
}

const firstOf = (name: string, [value = '']: string[]) => (value === '' ? {} : { [name]: value })

/** None: on all. One that is only for others must not run on ours. `own`: of a group of payouts. */
function readPlatforms(
  source: Mapping['platforms'],
  item: unknown,
  own: string[] | null,
): string[] | { problem: string } {
  // prettier-ignore
  if (source === undefined) return own ?? []
  const { exclude, ...include } = source
  const found = own ?? lookUp(include, item)
  const unknown = found.length === 0 ? readList(include, item) : []
  if (unknown.length > 0) return { problem: `it is for "${cutText(unknown.join(', '), 50)}", which is not one of our platforms` } // prettier-ignore
  const excluded = exclude === undefined ? [] : lookUp({ path: exclude, words: include.words }, item)
  const left = (found.length === 0 && excluded.length > 0 ? [...PLATFORMS] : found).filter((one) => !excluded.includes(one)) // prettier-ignore
  return excluded.length > 0 && left.length === 0 ? { problem: 'it runs on none of our platforms' } : left
}

/** A picture that browsers would refuse on our pages is none. */
const imageOf = (url: string) => (/^https:\/\/[^\s]+$/.test(url) ? url : null)

function timeOf(seconds: string): string {
  const number = Number(seconds)
  if (seconds === '' || !Number.isFinite(number) || number <= 0) return ''
  const [size, unit] = number >= 86_400 ? [86_400, 'day'] : number >= 3_600 ? [3_600, 'hour'] : [60, 'minute']
  const count = Math.max(1, Math.round(number / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
