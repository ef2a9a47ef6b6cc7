// Countries as upstreams write them: UK, us, Germany, in a list or as one text.
import { COUNTRIES, countryMeant, countryPlace } from '../../../lib/countries.ts'
import type { ListSource, Mapping } from './mapping.ts'
import { eachOf, isSaid, readAll, readRows, scalarText } from './paths.ts'
import { readList } from './texts.ts'

export const EVERYWHERE: ReadonlySet<string> = new Set(['ALL', '*', 'WW', 'GLOBAL', 'WORLDWIDE', 'INT', 'ANY'])

function toCountry(text: string): string {
  const code = text.trim().toUpperCase()
  return countryPlace(code) !== undefined || EVERYWHERE.has(code) ? code : (countryMeant(code) ?? code)
}

/** What cannot be read counts as an unknown country: an offer for some countries must not run in all. */
export function readCodes(source: ListSource | undefined, item: unknown): string[] {
  if (source === undefined) return []
  const given = typeof source === 'string' ? { path: source } : source
  const codes = readList({ ...given, default: [] }, item)
  if (codes.length > 0) return codes.map(toCountry)
  const unlisted = [given.path ?? []].flat().flatMap((path) => readUnlisted(path, item))
  return unlisted.length > 0 ? unlisted : (given.default ?? []).map(toCountry)
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

/** `own`: of a group of payouts. */
export function readCountries({ countries, by_country: by }: Mapping, item: unknown, own: string[] | null) {
  const read = (source: ListSource | undefined) => readCodes(source, item)
  const isEverywhere = (codes: string[]) => codes.some((code) => EVERYWHERE.has(code))
  const given = own ?? read(countries?.include)
  const include = isEverywhere(given) ? [] : given
  const rows = [by?.list ?? []].flat().flatMap((list) => (list.includes('[].') ? [] : readRows(list, item)))
  const exclude = [...read(countries?.exclude), ...rows.flatMap((row) => readCodes(by?.exclude, row))]
  const unknown = [...include, ...exclude].filter((code) => countryPlace(code) === undefined)
  if (unknown.length > 0) return { problem: `its country ${unknown.slice(0, 3).join(', ')} is not an ISO 3166-1 code` } // prettier-ignore
  if (exclude.length === 0) return { countries: include }
  const all = include.length === 0 ? [...COUNTRIES] : include
  const left = all.filter((code) => !exclude.includes(code))
  return left.length === 0 ? { problem: 'it runs in no country' } : { countries: left }
}
