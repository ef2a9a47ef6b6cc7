// The country of an IP address, from a file in MaxMind format (GeoLite2, GeoIP2, DB-IP).
//
// The library's own watching is not used: a broken file would end the process, and it cannot be stopped.
import { type CountryResponse, Reader } from 'maxmind'
import { Cache } from '../../lib/cache.ts'
import { countryPlace } from '../../lib/countries.ts'
import { plainAddress } from '../../lib/ip-address.ts'
import { watchFile, type Log } from './watched-file.ts'

const MAX_ADDRESSES = 50_000
const ADVICE =
  'Give GEOIP_DB a MaxMind DB file with countries, such as GeoLite2-Country.mmdb or dbip-country-lite.mmdb, not ' +
  'compressed, or leave it out to do without.'

export type CountryFinder = {
  /** An assigned ISO 3166-1 alpha-2 code, in capitals, or null when it is not known. */
  find(ip: string): string | null
  /** Checks now whether the file has changed. This also happens every minute. */
  refresh(): Promise<void>
  close(): void
}

export async function openCountryFinder({ file, log }: { file: string | null; log: Log }): Promise<CountryFinder> {
  if (file === null) return { find: () => null, refresh: async () => {}, close: () => {} }
  const kept = await watchFile({ file, setting: 'GEOIP_DB', advice: ADVICE, parse: parseCountries, log })
  return { find: (ip) => kept.value(ip), refresh: kept.refresh, close: kept.close }
}

/** The look-up in one reading of the file, with what it has found so far. */
function parseCountries(content: Buffer): (ip: string) => string | null {
  const reader = openReader(content)
  const found = new Cache<string, string | null>(MAX_ADDRESSES)
  return (ip) => {
    const known = found.get(ip)
    if (known !== undefined) return known
    const country = lookUp(reader, plainAddress(ip))
    found.set(ip, country)
    return country
  }
}

function lookUp(reader: Reader<CountryResponse>, address: string | null): string | null {
  // With an IPv4-only file, the library would take the beginning of an IPv6 address for an IPv4 one.
  if (address === null || (reader.metadata.ipVersion === 4 && address.includes(':'))) return null
  try {
    return countryOf(reader.get(address))
  } catch {
    return null // a record that is broken is no reason to turn a user away
  }
}

function openReader(content: Buffer): Reader<CountryResponse> {
  let reader: Reader<CountryResponse>
  try {
    reader = new Reader<CountryResponse>(content)
  } catch {
    throw new Error('it is not a MaxMind DB file, or not all of one') // what the library says is about its own insides
  }
  // A file of networks or of city names opens just as well, and would silently leave every country unknown.
  const samples = Array.from({ length: 223 }, (_, i) => reader.get(`${i + 1}.${i + 1}.${i + 1}.${i + 1}`))
  const records = samples.filter((record) => record !== null)
  if (records.length > 0 && records.every((record) => countryOf(record) === null)) {
    throw new Error(`it has no countries (its kind is "${reader.metadata.databaseType}")`)
  }
  return reader
}

function countryOf(record: CountryResponse | null): string | null {
  return assignedCountry(record?.country?.iso_code) ?? assignedCountry(record?.registered_country?.iso_code)
}

/** The code in capitals if it is an assigned one. */
export function assignedCountry(code: unknown): string | null {
  if (typeof code !== 'string') return null
  const capitals = code.trim().toUpperCase()
  return countryPlace(capitals) === undefined ? null : capitals
}
