// The list as it should be, worked out the slow and obvious way from the rows of the database.
import type { Db } from '../src/db/open.ts'
import type { Category, Platform, Sort } from '../src/features/offers/choices.ts'

export type NaiveRow = {
  offer_id: number
  name: string
  description: string
  category: string
  payout_micros: number
  countries: string[]
  platforms: string[]
  payment_required: boolean
  status: string
  starts_at: Date | null
  ends_at: Date | null
  popularity: number
  created_at: Date
}

export type NaiveQuery = {
  country?: string | undefined
  platform?: Platform | undefined
  category?: Category | undefined
  sort?: Sort | undefined
  limit?: number | undefined
  offset?: number | undefined
}

export const readNaiveRows = (db: Db): Promise<NaiveRow[]> => db.selectFrom('offers').selectAll().execute()

export function naiveList(
  rows: NaiveRow[],
  { country, platform, category, sort = 'popular', limit = 20, offset = 0 }: NaiveQuery,
  now: Date,
) {
  const time = (row: NaiveRow) => row.created_at.getTime()
  const orders: Record<Sort, (a: NaiveRow, b: NaiveRow) => number> = {
    payout_desc: (a, b) => b.payout_micros - a.payout_micros,
    payout_asc: (a, b) => a.payout_micros - b.payout_micros,
    newest: (a, b) => time(b) - time(a),
    popular: (a, b) => b.popularity - a.popularity || time(b) - time(a),
  }
  const matching = rows
    .filter(
      (row) => row.status === 'active' && (row.starts_at ?? now) <= now && (row.ends_at === null || row.ends_at > now),
    )
    .filter((row) => country === undefined || row.countries.length === 0 || row.countries.includes(country))
    .filter((row) => platform === undefined || row.platforms.includes(platform))
    .filter((row) => category === undefined || row.category === category)
    .toSorted((a, b) => orders[sort](a, b) || a.offer_id - b.offer_id)
  const page = matching.slice(offset, offset + limit)
  return {
    ids: page.map((row) => row.offer_id),
    names: page.map((row) => row.name),
    total: matching.length,
    has_more: offset + limit < matching.length,
  }
}

export function searchOf(query: NaiveQuery): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined)
  return new URLSearchParams({
    userId: 'u',
    ...Object.fromEntries(parameters.map(([name, value]) => [name, String(value)])),
  }).toString()
}
