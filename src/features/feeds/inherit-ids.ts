// Where an upstream pays by country, an offer of its is several of ours, and which countries are paid alike changes from
// day to day. Each group keeps the offer that was for most of it, so that what users completed, what the operator has
// edited and paused, and the ranking stay with it.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { PLATFORMS } from '../offers/choices.ts'
import type { GroupOf, Mapped } from './mapping/map-offer.ts'
import { type Paid, type SplitFrom, withDollars } from './paid.ts'
import { isFree } from './take-over.ts'

/** `shown`: where users see it, which the operator may have edited. */
type Known = GroupOf & {
  shown?: Targets
  external_id: string
  runs: boolean
  isPausedByOperator: boolean
  offer_id: number
  from?: SplitFrom
}
type Grouped = Mapped & { group: GroupOf }
type Targets = Pick<GroupOf, 'countries' | 'platforms'>
type Pair = { known: Known; one: Grouped; seen: number; shared: number; alike: number }

/** Of one that does not run yet and was part of one that does: it starts with the operator's pause, and with what was paid. */
type Split = { isPaused: boolean; from: SplitFrom | null }

/** `splits`: by ID. */
export async function inheritIds(
  db: Db,
  runId: number,
  came: Mapped[],
  isOffered: (one: Mapped) => boolean,
): Promise<{ named: Mapped[]; splits: Map<string, Split> }> {
  // prettier-ignore
  const grouped = came.filter((one): one is Grouped => one.group !== undefined)
  const splits = new Map<string, Split>()
  if (grouped.length === 0) return { named: came, splits }
  const known = Map.groupBy(await findKnown(db, runId, [...new Set(grouped.map(({ group }) => group.upstreamId))]), ({ upstreamId }) => upstreamId) // prettier-ignore
  const ids = new Map<Mapped, string>()
  for (const [upstreamId, groups] of Map.groupBy(grouped, ({ group }) => group.upstreamId)) {
    const before = known.get(upstreamId) ?? []
    const offered = new Set(groups.filter(isOffered))
    for (const [one, id] of assign(before, groups, offered)) ids.set(one, id)
    for (const one of groups) {
      const id = ids.get(one) ?? ''
      const split = splitOf(before, one, id)
      if (split !== null) splits.set(id, split)
    }
  }
  return { named: came.map((one) => withId(one, ids.get(one))), splits }
}

/** Null: it was part of none. One that is gone was, too, where one that runs has had its countries since. */
function splitOf(known: readonly Known[], { group }: Grouped, id: string): Split | null {
  const own = known.find(({ external_id }) => external_id === id)
  if (own?.runs) return null
  const parts = known.filter((each) => each !== own && (each.runs || own === undefined) && sharedBy(each, group) > 0)
  const [most] = parts.toSorted((a, b) => Number(b.runs) - Number(a.runs) || sharedBy(b, group) - sharedBy(a, group))
  return most === undefined ? null : { isPaused: parts.some(({ isPausedByOperator }) => isPausedByOperator), from: most.from ?? null } // prettier-ignore
}

/**
 * The group that has most of a known offer gets its ID: first of what users see of it, since it sets what they are paid
 * there. Offers that run come before those that are gone, and groups that are offered before those that are left out.
 */
export function assign(
  known: readonly Known[],
  groups: readonly Grouped[],
  offered: ReadonlySet<Grouped> = new Set(groups),
): Map<Grouped, string> {
  const ids = new Map<Grouped, string>()
  const taken = new Set<string>()
  const take = (one: Grouped, id: string) => {
    if (ids.has(one) || taken.has(id)) return
    ids.set(one, id)
    taken.add(id)
  }
  const pairs = known.flatMap((each) => groups.map((one): Pair => {
    const shared = sharedBy(each, one.group)
    const seen = sharedBy(each, one.group, each.shown)
    return { known: each, one, seen, shared, alike: shared / (sizeOf(each) + sizeOf(one.group) - shared) }
  })) // prettier-ignore
  const order = (a: Pair, b: Pair) =>
    Number(offered.has(b.one)) - Number(offered.has(a.one)) || Number(b.known.runs) - Number(a.known.runs) || b.seen - a.seen || b.shared - a.shared || b.alike - a.alike || a.known.offer_id - b.known.offer_id // prettier-ignore
  for (const pair of pairs.filter(({ shared }) => shared > 0).toSorted(order)) take(pair.one, pair.known.external_id)
  // An offer that has moved as a whole is still the same.
  const [only] = known
  const [moved] = groups
  if (only !== undefined && moved !== undefined && known.length === 1 && groups.length === 1) take(moved, only.external_id) // prettier-ignore
  const isFree = (id: string) => !taken.has(id) && known.every(({ external_id }) => external_id !== id)
  for (const one of groups) {
    let id = one.id
    for (let n = 2; !ids.has(one) && !isFree(id); n++) id = `${one.id === one.group.upstreamId ? `${one.id}:` : one.id}~${n}` // prettier-ignore
    take(one, id)
  }
  return ids
}

const countriesOf = ({ countries }: Targets) => (countries.length === 0 ? COUNTRIES : countries)
const platformsOf = ({ platforms }: Targets) => (platforms.length === 0 ? PLATFORMS : platforms)
const sizeOf = (group: GroupOf) => countriesOf(group).length * platformsOf(group).length

function sharedBy(...all: [Targets, Targets, Targets?]): number {
  const [a, ...others] = all.filter((one) => one !== undefined)
  if (a === undefined) return 0
  const countries = others.map((one) => new Set(countriesOf(one)))
  const platforms = others.map((one) => new Set<string>(platformsOf(one)))
  return countriesOf(a).filter((one) => countries.every((some) => some.has(one))).length * platformsOf(a).filter((one) => platforms.every((some) => some.has(one))).length // prettier-ignore
}

const withId = (one: Mapped, id = one.id): Mapped => ('offer' in one ? { ...one, id, offer: { ...one.offer, external_id: id } } : { ...one, id }) // prettier-ignore

/** Those of these upstream offers: `18`, or `18:FR+LU`. */
async function findKnown(db: Db, runId: number, upstreamIds: string[]): Promise<Known[]> {
  const firstParts = [...new Set(upstreamIds.map((id) => id.split(':')[0] ?? ''))]
  const { rows } = await sql<
    Omit<Known, 'upstreamId' | 'from'> & { paid: Paid | null; applied: Record<string, unknown> }
  >`
    SELECT f.external_id, f.offer_id, f.paid, f.applied, jsonb_build_object('countries', o.countries, 'platforms', o.platforms) AS shown,
      coalesce(f.unapplied -> 'countries', f.applied -> 'countries') AS countries, coalesce(f.unapplied -> 'platforms', f.applied -> 'platforms') AS platforms,
      f.applied ->> 'status' = 'active' AS runs, f.applied ->> 'status' = 'active' AND o.status = 'paused' AS "isPausedByOperator"
    FROM feed_runs r JOIN feeds own USING (feed_id) JOIN feeds owner ON owner.advertiser_id = own.advertiser_id
      JOIN feed_offers f ON f.feed_id = owner.feed_id AND (f.feed_id = own.feed_id OR ${isFree}) JOIN offers o USING (offer_id)
    WHERE r.run_id = ${runId} AND split_part(f.external_id, ':', 1) = ANY (${firstParts}::text[])`.execute(db)
  const wanted = new Set(upstreamIds)
  return rows.flatMap(({ paid, applied, ...row }) => {
    const upstreamId = [row.external_id, row.external_id.replace(/:[^:]*$/, '')].find((id) => wanted.has(id))
    const from = { paid: withDollars(paid, applied), payout: applied['payout'] }
    return upstreamId === undefined ? [] : { ...row, upstreamId, from }
  })
}
