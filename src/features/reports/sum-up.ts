// Sums up figures by groups, of an app or of the network, in one statement: what is rolled up, the differences to it, and
// the rows of the rest. One statement, because whatever is rolled up or dropped meanwhile must be seen on one side only.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { addTo, FIGURE_NAMES, FIGURES, NOTHING, readFigures, type Sums } from './figures.ts'
import { type Metric, orderOf } from './metrics.ts'
import { type Cut, findRollups, type Period, readSources } from './read-sources.ts'
import { readThrough } from './rollup.ts'
import { chooseSources, type Range } from './sources.ts'

/** A period's key is its place among them, from 1 on. */
export type Group = { key: string | number | null; sums: Sums }
export type Summed = { groups: Group[]; totals: Sums }
/** And how far the rollups went when it was read. */
type Seen = Summed & { seen: Date }

export type Best = {
  limit: number
  sort?: Metric
  isAscending?: boolean
  /** Conditions on `key`: which groups there are at all, and which of them are returned. */
  isAsked?: RawBuilder<unknown>
  isShown?: RawBuilder<unknown>
}

/**
 * The groups and their total: all periods that have anything, in any order, or the best of the others and one beyond the
 * limit. The total is always that of all groups, or of those that are asked for.
 */
export async function sumUp(db: Db, cut: Cut, range: Range, best: Best): Promise<Summed> {
  const starts = cut.periods.map(({ startsMs }) => startsMs)
  for (let through = await readThrough(db); ;) {
    const sources = chooseSources(range, through.getTime(), { starts, ...findRollups(cut) })
    const facts = readSources(cut, sources)
    const { seen, ...summed } =
      cut.periods.length > 0 ? await readPeriods(db, facts, cut.periods) : await readBest(db, facts, best)
    if (seen.getTime() === through.getTime()) return summed
    through = seen // rolled up between the two: the rest would be counted twice
  }
}

async function readBest(
  db: Db,
  facts: RawBuilder<unknown>,
  { limit, isAsked, isShown, ...order }: Best,
): Promise<Seen> {
  // Each with its figures as one text, because each column has its price.
  const { rows } = await sql<{ key: Group['key']; /** Of the total alone. */ through: Date | null; figures: string }>`
    WITH facts (key, ${FIGURE_NAMES}) AS (${facts})
    SELECT key, CASE grouping(key) WHEN 1 THEN (SELECT through FROM stats_rollup) END AS through,
      concat_ws(',', ${sql.raw(FIGURES.map((name) => `coalesce(sum(${name}), 0)`).join(', '))}) AS figures
    FROM facts WHERE ${isAsked ?? sql`true`} GROUP BY GROUPING SETS ((key), ())
    HAVING grouping(key) = 1 OR (sum(clicks) <> 0 OR sum(pending) + sum(approved) + sum(rejected) + sum(reversed) <> 0)
      AND ${isShown ?? sql`true`}
    ORDER BY grouping(key) DESC, ${orderOf(order)} LIMIT ${limit + 2}`.execute(db)
  const [total, ...groups] = rows.map(({ key, through, figures }) => ({ key, through, sums: readFigures(figures.split(',')) })) // prettier-ignore
  return { groups, totals: total?.sums ?? NOTHING, seen: total?.through as Date }
}

export function isAmong(keys: readonly Group['key'][]): RawBuilder<unknown> {
  const known = keys.filter((key) => key !== null).map(String)
  return sql`(key::text = ANY (${known}::text[]) ${keys.includes(null) ? sql`OR key IS NULL` : sql``})`
}

/** All of these periods. A year has 365 rows, and each row has its price: they come as one text, and are added up here. */
async function readPeriods(db: Db, facts: RawBuilder<unknown>, periods: readonly Period[]): Promise<Seen> {
  const starts = periods.map(({ startsMs }) => new Date(startsMs))
  const { rows } = await sql<{ through: Date; facts: string | null }>`
    WITH periods (starts) AS (SELECT ${starts}::timestamptz[]),
      facts (key, ${FIGURE_NAMES}) AS (${facts})
    SELECT (SELECT through FROM stats_rollup) AS through, string_agg(concat_ws(',', key, ${FIGURE_NAMES}), ' ') AS facts
    FROM facts`.execute(db)
  const [read] = rows as [(typeof rows)[number]]
  const byPeriod = new Map<number, Sums>()
  const totals = { ...NOTHING }
  for (const fact of read.facts?.split(' ') ?? []) {
    const [key, ...figures] = fact.split(',')
    const sums = readFigures(figures)
    const ofPeriod = byPeriod.get(Number(key))
    if (ofPeriod === undefined) byPeriod.set(Number(key), sums)
    else addTo(ofPeriod, sums)
    addTo(totals, sums)
  }
  return { groups: [...byPeriod].map(([key, sums]) => ({ key, sums })), totals, seen: read.through }
}
