// The clicks that commands are about, as decisions see them: from the table that clicks/clicks.ts writes, or rebuilt from
// a conversion, which keeps everything its click knew. Both give one shape, and nothing else reads it.
//
// Clicks are partitioned by ID, one partition a day. A named click is read by a statement planned for its partition
// alone. The latest click of a user may be in any partition of a month: planning for all of these took longer than
// everything else, so that plan is cached, and prunes partitions at run time.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { camelCase, type CamelCased, camelColumns, type Selected } from '../../db/camel-case.ts'
import type { Db } from '../../db/open.ts'
import type { Clicks, Conversions, Goals } from '../../db/tables.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { Confirmation } from './commands.ts'

const DAY_MS = 86_400_000
/** Of one click or transaction. */
const MAX_CONVERSIONS = 100

/** The same in a click and in its conversions. */
const SHARED_COLUMNS = [
  'click_id', 'app_id', 'is_test', 'user_id', 'offer_id', 'currency', 'rate_micros', 'rounding', 'multiplier_ppm', 'locker_id', 'share_ppm',
  'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'country', 'device', 'terms_id',
] as const satisfies (keyof Clicks & keyof Conversions)[] // prettier-ignore

/**
 * A click; where it was dropped, or a confirmation names none, rebuilt from its conversion. `clickId` is null where the
 * conversion never had one, `sharePpm` where the publisher gets all of the payout.
 */
export type ClickSnapshot = Selected<Conversions, typeof SHARED_COLUMNS> & {
  clickedAt: Date
  ip: string | null
  signals: string[] | null
  attributionS: number
  /** What was promised, by goal. */
  terms: Record<string, PromisedGoal>
}

const AMOUNTS = ['payout_micros', 'revenue_micros', 'payout_ppm', 'revenue_ppm'] as const
const LATER = ['place', 'name', 'external_id', 'is_repeatable'] as const

/** A goal as terms hold it. Those from before 0.2 have only its amounts. */
type TermsGoal = Pick<Selectable<Goals>, (typeof AMOUNTS)[number]> &
  Partial<Pick<Selectable<Goals>, (typeof LATER)[number]>>
export type PromisedGoal = CamelCased<TermsGoal>

/** A click as it is selected: its time may be JSON, and the goals of its terms are. */
export type ClickRow = Omit<ClickSnapshot, 'clickedAt' | 'terms'> & {
  clickedAt: Date | string
  terms: Record<string, TermsGoal>
}

const CLICK = sql.raw(`${camelColumns('clicks', SHARED_COLUMNS)}, clicked_at AS "clickedAt", host(ip) AS ip, signals,
  attribution_s AS "attributionS", goals AS terms`)
// Conversions recorded before terms were kept have none; the offer's own attribution window is used.
const REBUILT =
  sql.raw(`${camelColumns('c', SHARED_COLUMNS)}, coalesce(c.click_at, c.created_at) AS "clickedAt", host(c.ip) AS ip,
  NULL::text[] AS signals, coalesce(t.attribution_s, o.attribution_s) AS "attributionS", coalesce(t.goals, '{}') AS terms`)
const REBUILT_FROM = sql.raw('JOIN offers o ON o.offer_id = c.offer_id LEFT JOIN terms t ON t.terms_id = c.terms_id')

export const clickOfRow = <Row extends ClickRow>(row: Row) => ({
  ...row,
  clickedAt: new Date(row.clickedAt),
  terms: Object.fromEntries(Object.entries(row.terms).map(([goalId, goal]) => [goalId, promisedGoal(goal)])),
})

const TERMS_NAMES = [...AMOUNTS, ...LATER].map((column) => [camelCase(column), column] as const)

function promisedGoal(goal: TermsGoal): PromisedGoal {
  const promised: Partial<Record<keyof PromisedGoal, unknown>> = {}
  for (const [name, column] of TERMS_NAMES) if (goal[column] !== undefined) promised[name] = goal[column]
  return promised as PromisedGoal
}

export async function readClicks(db: Db, clickIds: string[]): Promise<Map<string, ClickSnapshot>> {
  if (clickIds.length === 0) return new Map()
  const { rows } = await sql<ClickRow>`SELECT ${CLICK} FROM clicks JOIN terms USING (terms_id)
    WHERE click_id = ANY (${clickIds}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.clickId ?? '', clickOfRow(row)]))
}

/**
 * Selects the latest click of each of these users (app_id, is_test, user_id, offer_id) within its attribution window, for
 * `clickOfRow`. Looks back one day more than the window: terms that came while the batch waited for its locks may have a
 * longer one, but only for clicks of that moment.
 */
export function latestClicks(users: string, { now, windowS }: { now: Date; windowS: number }): RawBuilder<unknown> {
  const oldest = uuid7Floor(now.getTime() - 1_000 * windowS - DAY_MS)
  const newest = uuid7Floor(now.getTime() + DAY_MS)
  return sql`SELECT c.* FROM ${sql.ref(users)} k CROSS JOIN LATERAL (
      SELECT ${CLICK} FROM clicks JOIN terms USING (terms_id)
      WHERE clicks.app_id = k.app_id AND clicks.user_id = k.user_id AND clicks.offer_id = k.offer_id AND clicks.is_test = k.is_test
        AND click_id >= ${oldest}::uuid AND click_id < ${newest}::uuid
        AND clicked_at + attribution_s * interval '1 second' >= ${now}::timestamptz
      ORDER BY clicks.app_id DESC, clicks.user_id DESC, click_id DESC LIMIT 1) c`
}

/** A click rebuilt from its conversion. `place`: of the confirmation that named its transaction, from 1. */
export type RebuiltClick = ClickSnapshot & Rebuilt
type Rebuilt = { conversionId: string; place: number }

/** From the conversions that refer to these clicks. */
export async function rebuildClicks(db: Db, clickIds: readonly string[]): Promise<RebuiltClick[]> {
  if (clickIds.length === 0) return []
  const { rows } = await sql<ClickRow & Rebuilt>`/* commands-dropped-clicks */
    SELECT 0 AS place, c.conversion_id AS "conversionId", ${REBUILT} FROM unnest(${clickIds}::uuid[]) AS k (click_id)
    CROSS JOIN LATERAL (SELECT * FROM conversions WHERE conversions.click_id = k.click_id LIMIT ${MAX_CONVERSIONS}::integer) c ${REBUILT_FROM}
    ORDER BY c.terms_id NULLS FIRST`.execute(db)
  return rows.map(clickOfRow)
}

/** From the conversions that have these transactions. Rejected ones count only where no other one has the transaction. */
export async function rebuildClicksOfTransactions(
  db: Db,
  confirmations: readonly Confirmation[],
): Promise<RebuiltClick[]> {
  if (confirmations.length === 0) return []
  const { rows } = await sql<ClickRow & Rebuilt & { status: string }>`/* commands-dropped-transactions */
    SELECT k.place, c.status, c.conversion_id AS "conversionId", ${REBUILT} FROM unnest(${confirmations.map((one) => one.advertiserId)}::bigint[],
      ${confirmations.map((one) => one.transactionId)}::text[]) WITH ORDINALITY AS k (advertiser_id, txn, place)
    CROSS JOIN LATERAL (
      (SELECT * FROM conversions WHERE advertiser_id = k.advertiser_id AND advertiser_transaction_id = k.txn
        AND status <> 'rejected' LIMIT ${MAX_CONVERSIONS}::integer)
      UNION ALL
      (SELECT * FROM conversions WHERE advertiser_id = k.advertiser_id AND advertiser_transaction_id = k.txn
        AND status = 'rejected' LIMIT ${MAX_CONVERSIONS}::integer)
    ) c ${REBUILT_FROM}
    ORDER BY c.conversion_id`.execute(db)
  const hasStanding = new Set(rows.filter((row) => row.status !== 'rejected').map((row) => row.place))
  return rows.filter((row) => row.status !== 'rejected' || !hasStanding.has(row.place)).map(clickOfRow)
}
