// Searching conversions: which index a filter uses, and what is filtered while walking it.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { allOf, type Found, search } from '../../db/search.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { ConversionRow, Reason, Status } from './conversions.ts'
import type { Mark } from './fraud.ts'

/** Filters are combined with AND; an absent one is ignored. */
export type ConversionFilter = {
  appId?: number
  isTest?: boolean
  userId?: string
  /** The publisher's own. */
  transactionId?: string
  offerId?: number
  status?: Status
  /** Matches any of the four sub-IDs. Only with an app. */
  subId?: string
  publisherId?: number
  advertiserId?: number
  /** The advertiser's own. Only with an advertiser. */
  advertiserTransactionId?: string
  reason?: Reason
  /** Any: conversions with at least one signal. */
  signal?: Mark | 'any'
  from?: Date
  to?: Date
  /** Only those created before this one. */
  before?: string
  /** Only those created after this one. */
  after?: string
}

type Order = 'newest' | 'oldest'
type Condition = RawBuilder<boolean>

const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'] as const

/** Newest first by default. */
export function searchConversions(
  db: Db,
  filter: ConversionFilter,
  limit: number,
  order: Order = 'newest',
): Promise<Found<ConversionRow>> {
  const range = rangeOf(filter)
  const { apps, branches, filters } = pathOf(filter)
  const walk = (byId: RawBuilder<unknown>, most: number) => {
    const rows = branches.map(
      (conditions) =>
        sql`(SELECT * FROM conversions c WHERE ${allOf([...conditions, ...range])} ${byId} LIMIT ${most}::integer)`,
    )
    const all = sql`${sql.join(rows, sql` UNION ALL `)}`
    return apps === null
      ? sql`SELECT * FROM (${all}) AS c`
      : sql`SELECT c.* FROM apps CROSS JOIN LATERAL (${all}) AS c WHERE ${apps}`
  }
  return search(db, { walk, id: 'conversion_id', filters, order }, limit)
}

/** Some of those that any advertiser confirmed under this transaction ID. */
export async function findConfirmed(db: Db, transactionId: string, limit: number): Promise<ConversionRow[]> {
  // The two indexes know a transaction within its advertiser; a scan of them skips advertisers without conversions.
  const branches = [sql`status <> 'rejected'`, sql`status = 'rejected'`].map(
    (isSo) => sql`(SELECT * FROM conversions WHERE advertiser_id = ANY (ARRAY(SELECT advertiser_id FROM advertisers))
      AND advertiser_transaction_id = ${transactionId} AND ${isSo} LIMIT ${limit}::integer)`,
  )
  const { rows } = await sql<ConversionRow>`${sql.join(branches, sql` UNION ALL `)} LIMIT ${limit}::integer`.execute(db)
  return rows
}

/** One page of it, without a cursor. */
export const listConversions = async (...given: Parameters<typeof searchConversions>): Promise<ConversionRow[]> =>
  (await searchConversions(...given)).rows

/** A conversion's ID begins with the time it was created, and is what the indexes are ordered by. */
function rangeOf({ from, to, before, after }: ConversionFilter): Condition[] {
  const range: Condition[] = []
  if (from !== undefined) range.push(sql`conversion_id >= ${uuid7Floor(from.getTime())}::uuid`)
  if (to !== undefined) range.push(sql`conversion_id < ${uuid7Floor(to.getTime())}::uuid`)
  if (before !== undefined) range.push(sql`conversion_id < ${before}::uuid`)
  if (after !== undefined) range.push(sql`conversion_id > ${after}::uuid`)
  return range
}

/** `apps`: each branch is walked for each of these; null: for all together. */
type Path = { apps: Condition | null; branches: Condition[][]; filters: Condition[] }

function pathOf(filter: ConversionFilter): Path {
  const { appId, publisherId, advertiserId, userId, transactionId, subId, isTest, status, signal } = filter
  const filters = filtersOf(filter)
  const isOf = (name: keyof typeof filters) => filters[name] as Condition
  const rest = (...known: string[]) =>
    Object.entries(filters).flatMap(([name, condition]) => {
      const isKnown = known.includes(name) || (name === 'publisherId' && appId === undefined)
      return condition === null || isKnown ? [] : [condition]
    })
  // One app needs no join, so that its rows come in order and the walk ends with the page.
  const isOfApp = appId === undefined ? sql<boolean>`c.app_id = apps.app_id` : sql<boolean>`c.app_id = ${appId}::bigint`
  const ofPublisher = publisherId === undefined ? null : sql<boolean>`apps.publisher_id = ${publisherId}::bigint`
  const apps = appId === undefined ? ofPublisher : null
  const isOfSome = appId !== undefined || publisherId !== undefined
  // Indexes know both within an app only.
  const wanted = userId !== undefined ? 'userId' : transactionId !== undefined ? 'transactionId' : null
  if (wanted !== null)
    return {
      apps: appId === undefined ? (ofPublisher ?? sql`true`) : null,
      branches: [[isOfApp, isOf(wanted)]],
      filters: rest(wanted),
    }
  if (subId !== undefined && isOfSome) return { apps, branches: subIdBranches(isOfApp, subId), filters: rest('subId') }
  if (isOfSome && (status === 'rejected' || status === 'reversed'))
    return { apps, branches: [[isOfApp, isOf('status')]], filters: rest('status') }
  if (isOfSome) {
    const modes = isTest === undefined ? [false, true] : [isTest]
    const branches = modes.map((mode) => [isOfApp, sql<boolean>`c.is_test = ${sql.lit(mode)}`])
    return { apps, branches, filters: rest('isTest') }
  }
  if (filters.advertiserTransactionId !== null && advertiserId !== undefined) {
    // Two partial indexes have it.
    const known = [isOf('advertiserId'), isOf('advertiserTransactionId')]
    const branches = [sql<boolean>`c.status <> 'rejected'`, sql<boolean>`c.status = 'rejected'`]
    return { apps, branches: branches.map((one) => [...known, one]), filters: rest('advertiserId', 'advertiserTransactionId') } // prettier-ignore
  }
  if (advertiserId !== undefined) {
    const modes = isTest === undefined ? [false, true] : [isTest]
    const branches = modes.map((mode) => [isOf('advertiserId'), sql<boolean>`c.is_test = ${sql.lit(mode)}`])
    return { apps, branches, filters: rest('advertiserId', 'isTest') }
  }
  if (status === 'pending' && isTest === false)
    return { apps, branches: [[isOf('status'), isOf('isTest')]], filters: rest('status', 'isTest') }
  if (signal !== undefined) return { apps, branches: [[sql`c.signals <> '{}'`]], filters: rest() }
  return { apps, branches: [[]], filters: rest() }
}

/** A branch for each position; rows that also match an earlier position are left to that branch. */
const subIdBranches = (isOfApp: Condition, subId: string): Condition[][] =>
  SUB_IDS.map((name, i) => [
    isOfApp,
    sql<boolean>`c.${sql.ref(name)} = ${subId}`,
    ...SUB_IDS.slice(0, i).map((earlier) => sql<boolean>`c.${sql.ref(earlier)} IS DISTINCT FROM ${subId}`),
  ])

/** Written out where partial indexes depend on it. */
function filtersOf(filter: ConversionFilter) {
  const { userId, transactionId, subId, isTest, status, offerId, publisherId, reason, signal } = filter
  const { advertiserId, advertiserTransactionId } = filter
  const when = <T>(value: T | undefined, condition: (given: T) => Condition) =>
    value === undefined ? null : condition(value)
  return {
    userId: when(userId, (id) => sql`user_id = ${id}`),
    transactionId: when(transactionId, (id) => sql`publisher_transaction_id = ${id}`),
    subId: when(subId, (id) => sql`${id} IN (aff_sub, aff_sub2, aff_sub3, aff_sub4)`),
    isTest: when(isTest, (mode) => (mode ? sql`is_test` : sql`NOT is_test`)),
    status: when(status, (one) => sql`status = ${sql.lit(one)}`),
    offerId: when(offerId, (id) => sql`offer_id = ${id}::bigint`),
    publisherId: when(publisherId, (id) => sql`publisher_id = ${id}::bigint`),
    advertiserId: when(advertiserId, (id) => sql`advertiser_id = ${id}::bigint`),
    advertiserTransactionId: when(advertiserTransactionId, (id) => sql`advertiser_transaction_id = ${id}`),
    reason: when(reason, (one) => sql`status_reason = ${one}`),
    signal: when(signal, (one) => (one === 'any' ? sql`signals <> '{}'` : sql`signals @> ${[one]}::text[]`)),
  }
}
