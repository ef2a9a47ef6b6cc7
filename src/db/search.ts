// Lists with filters, one page at a time, at a cost that does not grow with the table.
//
// A page walks through rows that an index finds in the order of their ids; what no index knows is filtered on the way. Where
// a filter fits few rows, the walk ends after MOST_WALKED of them: the page is then short, or empty, and its cursor leads
// on from where the walk ended.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from './open.ts'

export const MOST_WALKED = 10_000

export type Search = {
  /** The rows that indexes find, in the given order of the id and at most so many; one of them is enough. */
  walk: (order: RawBuilder<unknown>, most: number) => RawBuilder<unknown>
  id: string
  /** What no index knows. */
  filters: readonly RawBuilder<boolean>[]
  order?: 'newest' | 'oldest'
}

/** `next`: where the next page begins, or null on the last one. */
export type Found<Row> = { rows: Row[]; next: string | null }

export async function search<Row>(
  db: Db,
  { walk, id, filters, order = 'newest' }: Search,
  limit: number,
): Promise<Found<Row>> {
  const byId = sql`ORDER BY ${sql.ref(id)} ${sql.raw(order === 'newest' ? 'DESC' : 'ASC')}`
  const isFiltered = filters.length > 0
  const conditions = isFiltered ? sql.join(filters, sql` AND `) : sql`true`
  const most = isFiltered ? MOST_WALKED : limit + 1
  const { rows: found } = await sql<Row>`
    SELECT * FROM (${walk(byId, most)} ${byId} LIMIT ${most}::integer) AS walked WHERE ${conditions} ${byId} LIMIT ${limit + 1}::integer`.execute(
    db,
  )
  const rows = found.slice(0, limit)
  const idOf = (row: Row | undefined) =>
    row === undefined ? null : String((row as Record<string, string | number>)[id])
  if (found.length > limit) return { rows, next: idOf(rows.at(-1)) }
  if (!isFiltered) return { rows, next: null }
  const { rows: last } = await sql<Row>`
    SELECT ${sql.ref(id)} FROM (${walk(byId, most)}) AS walked ${byId} OFFSET ${most - 1}::integer LIMIT 1`.execute(db)
  return { rows, next: idOf(last[0]) }
}

/** Of what was found otherwise, one row more than a page has. */
export function cutFound<Row extends { postback_id: string }>(found: readonly Row[], limit: number): Found<Row> {
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? (rows.at(-1)?.postback_id ?? null) : null }
}

export const allOf = (conditions: readonly RawBuilder<boolean>[]): RawBuilder<unknown> =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `)

/** For ILIKE: has this text in it. */
export const containing = (text: string) => `%${text.replaceAll(/[%_\\]/g, '\\$&')}%`

/** The ID that a person typed; 0, which nothing has, where it is none. */
export const idOf = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : 0)
