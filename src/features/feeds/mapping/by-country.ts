// An upstream that pays by country, or by country and platform, has a row for each payout. What is paid alike in some
// countries on some platforms becomes one offer: a group.
//
// Of the rows for the same, the one that names the country counts before those for all countries, and then the one that
// names the platform before those for all.
import { createHash } from 'node:crypto'
import { COUNTRIES, countryPlace } from '../../../lib/countries.ts'
import { PLATFORMS } from '../../offers/choices.ts'
import { EVERYWHERE, readCodes } from './countries.ts'
import type { Mapping } from './mapping.ts'
import { readRows, withList } from './paths.ts'
import { holds, lookUp, readList, readText } from './texts.ts'

/** Null: what the offer says itself. `suffix`: of its ID; empty where there is only one. */
export type Group = { item: unknown; countries: string[] | null; platforms: string[] | null; suffix: string }

type ByCountry = NonNullable<Mapping['by_country']>
type Row = {
  /** Which list it stands in: an offer has one, or one for each of its goals. */
  place: string
  /** Rows with the same are for the same, and exclude each other. */
  of: string
  /** Null: all. */
  countries: string[] | null
  isNegated: boolean
  platforms: string[] | null
  row: unknown
}
type Cell = { country: string | null; platform: string | null; isOther: boolean }

const MOST_ROWS = 10_000
const OTHERS = '*'

export function groupByCountry(mapping: Mapping, item: unknown): Group[] | { problem: string } {
  const { by_country: by } = mapping
  const whole = [{ item, countries: null, platforms: null, suffix: '' }]
  if (by === undefined) return whole
  const count = [by.list].flat().flatMap((list) => placesOf(list, item).flat()).length
  const rows = count > MOST_ROWS ? [] : [by.list].flat().flatMap((list) => rowsOf(by, list, item))
  const named = new Set(rows.flatMap(({ countries }) => countries ?? []))
  const isByPlatform = rows.some(({ platforms }) => platforms !== null)
  if (named.size > COUNTRIES.length || count > MOST_ROWS) return { problem: `it has more than ${COUNTRIES.length} payouts by country` } // prettier-ignore
  if (named.size === 0 && !isByPlatform) return whole
  const own = readCodes(mapping.countries?.include, item).filter((code) => countryPlace(code) !== undefined)
  const found = isByPlatform ? [...merge(rows, named, own, PLATFORMS)] : [...merge(rows, named, own, [null])]
  if (found.length === 0) return { problem: 'it has no payout for any of its countries and platforms' }
  const isSplit = new Set(found.map(({ platforms }) => platforms?.join())).size > 1
  return found.map(({ chosen, countries, platforms, isOthers }) => ({
    item: [by.list].flat().reduce((part, list) => withRows(part, list, chosen), item),
    countries: named.size === 0 ? null : countries,
    platforms,
    suffix: found.length === 1 ? '' : `:${[...(named.size === 0 ? [] : [isOthers ? OTHERS : nameOf(countries)]), ...(isSplit ? [platforms?.join('+')] : [])].join('/')}`, // prettier-ignore
  }))
}

/** Short where there are many. */
function nameOf(countries: string[]): string {
  const name = countries.toSorted().join('+')
  return name.length <= 60
    ? name
    : `${name.slice(0, 12)}${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
}

function rowsOf(by: ByCountry, list: string, item: unknown): Row[] {
  return placesOf(list, item).flatMap((rows, place) =>
    rows.map((row): Row => {
      const codes = readCodes(by.countries, row)
      const isAll = codes.length === 0 || codes.some((code) => EVERYWHERE.has(code))
      const found = lookUp(by.platforms, row)
      const isAnyPlatform = by.platforms === undefined || readList(by.platforms, row).length === 0
      return {
        place: `${list} ${place}`,
        of: readText(by.of, row),
        countries: isAll ? null : codes,
        isNegated: by.negated !== undefined && holds(by.negated, row),
        platforms: isAnyPlatform || found.length === PLATFORMS.length ? null : found,
        row,
      }
    }),
  )
}

/** `payouts` is one list; `goals[].payouts` is one in each goal. */
function placesOf(list: string, item: unknown): unknown[][] {
  const [outer = '', inner] = list.split('[].')
  return inner === undefined ? [readRows(list, item)] : readRows(outer, item).map((one) => readRows(inner, one))
}

function withRows(item: unknown, list: string, chosen: readonly Row[]): unknown {
  const [outer = '', inner] = list.split('[].')
  const at = (place: number) => chosen.filter((one) => one.place === `${list} ${place}`).map(({ row }) => row)
  if (inner === undefined) return withList(item, list, at(0))
  return withList(item, outer, readRows(outer, item).map((one, place) => withList(one, inner, at(place)))) // prettier-ignore
}

type Merged = { chosen: Row[]; countries: string[]; platforms: string[] | null; isOthers: boolean }

/** Countries in which the same rows count on the same platforms. */
function merge(
  rows: Row[],
  named: Set<string>,
  own: string[],
  platforms: readonly (string | null)[],
): Iterable<Merged> {
  const numbers = new Map(rows.map((row, i) => [row, i]))
  const alike = Map.groupBy(rows, ({ place, of }) => `${place} ${of}`)
  const others = (own.length === 0 ? COUNTRIES : own).filter((code) => !named.has(code))
  const isOwn = (code: string) => own.length === 0 || countryPlace(code) === undefined || own.includes(code)
  const merged = new Map<string, Merged>()
  for (const platform of platforms) {
    const isOtherPlatform = platform !== null && !rows.some((row) => row.platforms?.includes(platform))
    const ofPlatform = new Map<string, Merged>()
    const add = (country: string | null, codes: readonly string[]) => {
      const isOther = (country === null && named.size > 0) || isOtherPlatform
      const chosen = choose(alike, { country, platform, isOther })
      if (chosen.length === 0) return
      const key = `${country === null} ${chosen.map((row) => numbers.get(row)).join()}`
      const known = ofPlatform.get(key)
      if (known === undefined)
        ofPlatform.set(key, { chosen, countries: [...codes], platforms: platform === null ? null : [platform], isOthers: country === null }) // prettier-ignore
      else known.countries.push(...codes)
    }
    for (const code of named) if (isOwn(code)) add(code, [code])
    if (others.length > 0) add(null, others)
    for (const [key, one] of ofPlatform) {
      const same = merged.get(`${key} ${one.countries.join()}`)
      if (same === undefined) merged.set(`${key} ${one.countries.join()}`, one)
      else same.platforms?.push(...(one.platforms ?? []))
    }
  }
  return merged.values()
}

/**
 * What counts there. In countries and on platforms that no row names, only an offer that pays for everything there: one
 * that would lack a goal is not offered.
 */
function choose(alike: Map<string, Row[]>, { country, platform, isOther }: Cell): Row[] {
  const chosen = [...alike.values()].map((rows) => {
    const there = rows.filter((row) => isFor(row, country) && (platform === null || (row.platforms?.includes(platform) ?? true))) // prettier-ignore
    const weigh = (row: Row) => (row.countries !== null && !row.isNegated ? 2 : 0) + (row.platforms === null ? 0 : 1)
    const most = Math.max(...there.map(weigh))
    return there.filter((row) => weigh(row) === most)
  })
  return isOther && chosen.some((rows) => rows.length === 0) ? [] : chosen.flat()
}

function isFor({ countries, isNegated }: Row, country: string | null): boolean {
  if (countries === null) return true
  return (country !== null && countries.includes(country)) !== isNegated
}
