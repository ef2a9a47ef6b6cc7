// Conversions: their types, queries and presentation. Decisions see them in camelCase; what is searched, presented and
// sent is rows of the table.
import { type Selectable, sql } from 'kysely'
import { camelCase, type CamelCased, camelColumns } from '../../db/camel-case.ts'
import type { Db } from '../../db/open.ts'
import type { Conversions } from '../../db/tables.ts'
import { isUuid } from '../../lib/uuid7.ts'
import { microsToUsd, multiplierOf, toLocal } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'

export const STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const
export type Status = (typeof STATUSES)[number]

export const REASONS = [
  'cap_exceeded',
  'click_expired',
  'not_eligible',
  'geo_mismatch',
  'fraud',
  'unconfirmed',
  'advertiser_rejected',
  'advertiser_reversed',
  'operator',
] as const
export type Reason = (typeof REASONS)[number]

export type ActorKind = 'publisher' | 'advertiser' | 'operator' | 'system'

/** A row of the table. */
export type ConversionRow = Omit<Selectable<Conversions>, 'status' | 'status_reason' | 'actor'> & {
  status: Status
  status_reason: Reason | null
  actor: ActorKind
}

/** What never changes of a conversion. */
const FIXED_COLUMNS = [
  'conversion_id', 'app_id', 'publisher_id', 'advertiser_id', 'offer_id', 'goal_id', 'user_id', 'is_test', 'is_repeatable', 'is_first_goal',
  'source', 'created_at',
] as const satisfies (keyof ConversionRow)[] // prettier-ignore
export const CHANGING_COLUMNS = [
  'status', 'status_reason', 'publisher_transaction_id', 'advertiser_transaction_id', 'payout_micros', 'revenue_micros', 'currency',
  'rate_micros', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'click_id', 'click_at', 'ip', 'country', 'device', 'confirmed_at',
  'hold_until', 'approved_at', 'rejected_at', 'reversed_at', 'sequence', 'event_id', 'actor', 'terms_id', 'share_ppm', 'told_at',
  'confirm_by', 'bars_redo', 'is_unconfirmed', 'signals', 'nth_of_click', 'rounding', 'multiplier_ppm', 'locker_id',
] as const satisfies (keyof ConversionRow)[] // prettier-ignore
/** The attributes of `locker_conversion_row`. By name, so that a column added by a later version gets its default. */
export const COLUMNS = [...FIXED_COLUMNS, ...CHANGING_COLUMNS]
/** The same columns as a conversion has them. */
export const PROPERTIES = COLUMNS.map(camelCase)

/** A conversion as decisions see it. */
export type Conversion = Pick<CamelCased<ConversionRow>, (typeof PROPERTIES)[number]>

/** The columns that publishers may see. */
export type PublicConversion = Omit<
  ConversionRow,
  | 'publisher_id'
  | 'advertiser_id'
  | 'advertiser_transaction_id'
  | 'is_repeatable'
  | 'confirmed_at'
  | 'signals'
  | 'terms_id'
  | 'share_ppm'
  | 'told_at'
  | 'confirm_by'
  | 'bars_redo'
  | 'is_unconfirmed'
  | 'is_first_goal'
  | 'nth_of_click'
>

const TIMES = [
  'clickAt',
  'toldAt',
  'confirmBy',
  'confirmedAt',
  'holdUntil',
  'createdAt',
  'approvedAt',
  'rejectedAt',
  'reversedAt',
] as const satisfies (keyof Conversion)[]

/** To select conversions as decisions see them. */
export const conversionColumns = (table: string) => sql.raw(camelColumns(table, COLUMNS))

/** One selected by `conversionColumns` as JSON, in which times are strings. */
export function conversionOfJson(row: Record<string, unknown>): Conversion {
  const conversion = { ...row }
  for (const name of TIMES) if (typeof row[name] === 'string') conversion[name] = new Date(row[name])
  return conversion as Conversion
}

const SHOWN_COLUMNS = [
  'conversion_id', 'publisher_transaction_id', 'offer_id', 'goal_id', 'user_id', 'status', 'status_reason', 'payout_micros', 'rate_micros',
  'rounding', 'multiplier_ppm', 'locker_id', 'currency', 'aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4', 'source', 'country', 'device', 'click_at', 'created_at', 'approved_at',
  'rejected_at', 'reversed_at', 'hold_until', 'is_test',
] as const satisfies (keyof PublicConversion)[] // prettier-ignore
const SHOWN_NAMES = SHOWN_COLUMNS.map((column) => [column, camelCase(column)] as const)
type ShownRow = Pick<PublicConversion, (typeof SHOWN_COLUMNS)[number]>

/** What `presentConversion` shows of a conversion that was decided. */
export function shownRow(conversion: Conversion): ShownRow {
  const row: Partial<Record<keyof ShownRow, unknown>> = {}
  for (const [column, name] of SHOWN_NAMES) row[column] = conversion[name]
  return row as ShownRow
}

/** As publishers see it. Why exactly something looked like fraud is for the operator only. */
export function presentConversion(conversion: ShownRow) {
  const time = (at: Date | null) => (at === null ? null : rfc3339(at))
  return {
    conversion_id: conversion.conversion_id,
    publisher_transaction_id: conversion.publisher_transaction_id,
    offer_id: conversion.offer_id,
    goal_id: conversion.goal_id,
    user_id: conversion.user_id,
    status: conversion.status,
    status_reason: conversion.status_reason,
    payout: microsToUsd(conversion.payout_micros),
    payout_local: toLocal(conversion.payout_micros, conversion.rate_micros, conversion.rounding),
    currency: conversion.currency,
    multiplier: multiplierOf(conversion.multiplier_ppm),
    locker_id: conversion.locker_id,
    aff_sub: conversion.aff_sub,
    aff_sub2: conversion.aff_sub2,
    aff_sub3: conversion.aff_sub3,
    aff_sub4: conversion.aff_sub4,
    source: conversion.source as 'publisher' | 'advertiser',
    country: conversion.country,
    device: conversion.device,
    click_at: time(conversion.click_at),
    created_at: rfc3339(conversion.created_at),
    approved_at: time(conversion.approved_at),
    rejected_at: time(conversion.rejected_at),
    reversed_at: time(conversion.reversed_at),
    hold_until: time(conversion.hold_until),
    is_test: conversion.is_test,
  }
}

export type ConversionNames = { app: string; publisher: string; offer: string; advertiser: string; goal: string }

/** What the IDs of conversions stand for, by conversion_id. */
export async function readNames(db: Db, conversions: readonly ConversionRow[]): Promise<Map<string, ConversionNames>> {
  const ids = conversions.map(({ conversion_id }) => conversion_id)
  const { rows } = await sql<ConversionNames & { conversion_id: string }>`
    SELECT c.conversion_id, apps.name AS app, publishers.name AS publisher, offers.name AS offer,
      advertisers.name AS advertiser, goals.name AS goal
    FROM conversions c
    JOIN apps ON apps.app_id = c.app_id
    JOIN publishers ON publishers.publisher_id = c.publisher_id
    JOIN offers ON offers.offer_id = c.offer_id
    JOIN advertisers ON advertisers.advertiser_id = c.advertiser_id
    JOIN goals ON goals.goal_id = c.goal_id
    WHERE c.conversion_id = ANY (${ids}::uuid[])`.execute(db)
  return new Map(rows.map(({ conversion_id, ...names }) => [conversion_id, names]))
}

/** Null when there is none, or it belongs to another publisher. An owner without a mode sees live and test ones. */
export async function findConversion(
  db: Db,
  conversionId: string,
  owner: { appId: number; isTest?: boolean } | null,
): Promise<ConversionRow | null> {
  if (!isUuid(conversionId)) return null
  let query = db.selectFrom('conversions').selectAll().where('conversion_id', '=', conversionId)
  if (owner !== null) query = query.where('app_id', '=', owner.appId)
  if (owner?.isTest !== undefined) query = query.where('is_test', '=', owner.isTest)
  return ((await query.executeTakeFirst()) as ConversionRow | undefined) ?? null
}

/** Every status change of a conversion, first to last. */
export async function readHistory(db: Db, conversionId: string) {
  return db
    .selectFrom('conversion_events')
    .select(['sequence', 'status', 'status_reason', 'actor', 'created_at', 'event_id', 'request_id'])
    .where('conversion_id', '=', conversionId)
    .orderBy('sequence')
    .execute()
}

/**
 * The latest live conversion of each of these publishers. Those without one are missing. In the order of the whole index:
 * by the ID alone, the planner may walk through all conversions for an app that has none.
 */
export async function readLastTimes(db: Db, publisherIds: readonly number[]): Promise<Map<number, Date>> {
  const { rows } = await sql<{ publisher_id: number; last_at: Date }>`
    SELECT apps.publisher_id, max(last.created_at) AS last_at
    FROM apps CROSS JOIN LATERAL (
      SELECT created_at FROM conversions c WHERE c.app_id = apps.app_id AND NOT c.is_test
      ORDER BY c.app_id DESC, c.is_test DESC, c.conversion_id DESC LIMIT 1
    ) last
    WHERE apps.publisher_id = ANY (${[...publisherIds]}::bigint[])
    GROUP BY apps.publisher_id`.execute(db)
  return new Map(rows.map(({ publisher_id, last_at }) => [publisher_id, last_at]))
}

/** Pending conversions for which this time has come, the earliest first. */
const findDue = (time: 'hold_until' | 'confirm_by') => async (db: Db, now: Date, limit: number) => {
  const rows = await db
    .selectFrom('conversions')
    .select('conversion_id')
    .where('status', '=', 'pending')
    .where(time, '<=', now)
    .orderBy(time)
    .limit(limit)
    .execute()
  return rows.map((row) => row.conversion_id)
}

/** Conversions whose hold has ended. */
export const findHeldUntil = findDue('hold_until')

/** Conversions that no advertiser confirmed in time. */
export const findUnconfirmed = findDue('confirm_by')

const KEPT_KEYS = sql<Date>`now() - interval '24 hours'`

/** Idempotency keys are honoured for 24 hours. */
export async function forgetOldKeys(db: Db): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<', KEPT_KEYS).execute()
}
