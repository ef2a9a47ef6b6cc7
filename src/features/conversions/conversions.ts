// Conversions as they are recorded: their shape, reading them, showing them.
import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Conversions } from '../../db/tables.ts'
import { isUuid, uuid7Floor } from '../../lib/uuid7.ts'
import { microsToUsd, toLocal } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'

export const STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const
export type Status = (typeof STATUSES)[number]

export const REASONS = [
  'cap_exceeded',
  'click_expired',
  'not_eligible',
  'geo_mismatch',
  'fraud',
  'advertiser_rejected',
  'advertiser_reversed',
  'operator',
] as const
export type Reason = (typeof REASONS)[number]

export type Actor = 'publisher' | 'advertiser' | 'operator' | 'system'

/** A row of the table. */
export type Conversion = Omit<Selectable<Conversions>, 'status' | 'status_reason' | 'actor'> & {
  status: Status
  status_reason: Reason | null
  actor: Actor
}

/** What is told of a conversion. */
export type ToldConversion = Omit<
  Conversion,
  'publisher_id' | 'advertiser_id' | 'advertiser_transaction_id' | 'is_repeatable' | 'confirmed_at' | 'signals'
>

const TIMES = [
  'click_at',
  'confirmed_at',
  'hold_until',
  'created_at',
  'approved_at',
  'rejected_at',
  'reversed_at',
] as const

/** A row that came as JSON, in which times are text. */
export function conversionOfJson(row: Record<string, unknown>): Conversion {
  const conversion = { ...row }
  for (const name of TIMES) if (typeof row[name] === 'string') conversion[name] = new Date(row[name])
  return conversion as Conversion
}

/** As publishers see it. Why exactly something looked like fraud stays with the operator. */
export function presentConversion(conversion: ToldConversion) {
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
    payout_local: toLocal(conversion.payout_micros, conversion.rate_micros),
    currency: conversion.currency,
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

/** Every part narrows; what is absent does not. */
export type ConversionFilter = {
  appId?: number
  isTest?: boolean
  userId?: string
  offerId?: number
  status?: Status
  from?: Date
  to?: Date
  /** Only those made before this one. */
  before?: string
}

/** Newest first. */
export async function listConversions(db: Db, filter: ConversionFilter, limit: number): Promise<Conversion[]> {
  let query = db.selectFrom('conversions').selectAll()
  if (filter.appId !== undefined) query = query.where('app_id', '=', filter.appId)
  if (filter.isTest !== undefined) query = query.where('is_test', '=', filter.isTest)
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId)
  if (filter.offerId !== undefined) query = query.where('offer_id', '=', filter.offerId)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  // The id of a conversion begins with the time it was made, and is what the indexes are in the order of.
  if (filter.from !== undefined) query = query.where('conversion_id', '>=', uuid7Floor(filter.from.getTime()))
  if (filter.to !== undefined) query = query.where('conversion_id', '<', uuid7Floor(filter.to.getTime()))
  if (filter.before !== undefined) query = query.where('conversion_id', '<', filter.before)
  return (await query.orderBy('conversion_id', 'desc').limit(limit).execute()) as Conversion[]
}

/** Null when there is none, or it is somebody else's. */
export async function findConversion(
  db: Db,
  conversionId: string,
  owner: { appId: number; isTest: boolean } | null,
): Promise<Conversion | null> {
  if (!isUuid(conversionId)) return null
  let query = db.selectFrom('conversions').selectAll().where('conversion_id', '=', conversionId)
  if (owner !== null) query = query.where('app_id', '=', owner.appId).where('is_test', '=', owner.isTest)
  return ((await query.executeTakeFirst()) as Conversion | undefined) ?? null
}

/** Every move of a conversion, first to last. */
export async function readHistory(db: Db, conversionId: string) {
  return db
    .selectFrom('conversion_events')
    .select(['sequence', 'status', 'status_reason', 'actor', 'created_at', 'event_id'])
    .where('conversion_id', '=', conversionId)
    .orderBy('sequence')
    .execute()
}

/** Those whose hold is over. */
export async function findHeldUntil(db: Db, now: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('conversions')
    .select('conversion_id')
    .where('status', '=', 'pending')
    .where('hold_until', '<=', now)
    .orderBy('hold_until')
    .limit(limit)
    .execute()
  return rows.map((row) => row.conversion_id)
}

const KEPT_KEYS = sql<Date>`now() - interval '24 hours'`

/** Idempotency keys are honoured for 24 hours. */
export async function forgetOldKeys(db: Db): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('created_at', '<', KEPT_KEYS).execute()
}
