// The history of one conversion: the click it came from, its moves, the money they moved.
import type { Db } from '../../db/open.ts'
import type { Actor, Conversion, Reason, Status } from './conversions.ts'

const CLICK_COLUMNS = [
  'click_id',
  'clicked_at',
  'request_id',
  'country',
  'device',
  'os',
  'ip',
  'signals',
  'aff_sub',
  'aff_sub2',
  'aff_sub3',
  'aff_sub4',
] as const

/** Null without a click, or when it is too old to be kept: what matters of it is in the conversion. */
export async function readClickOf(db: Db, { click_id, app_id }: Conversion) {
  if (click_id === null) return null
  const click = await db
    .selectFrom('clicks')
    .select(CLICK_COLUMNS)
    .where('click_id', '=', click_id)
    .where('app_id', '=', app_id)
    .executeTakeFirst()
  return click ?? null
}

/** First to last. */
export async function readMoves(db: Db, conversionId: string) {
  const rows = await db
    .selectFrom('conversion_events')
    .select(['sequence', 'status', 'status_reason', 'actor', 'created_at', 'event_id', 'payout_micros'])
    .where('conversion_id', '=', conversionId)
    .orderBy('sequence')
    .execute()
  return rows.map((row) => ({
    ...row,
    status: row.status as Status,
    status_reason: row.status_reason as Reason | null,
    actor: row.actor as Actor,
  }))
}

export type PublisherEntry = { createdAt: Date; balance: 'pending' | 'payable'; amountMicros: number }

/**
 * What the conversion did to its publisher's balances, first to last: positive when they grew. Its postings were made at
 * the very times that it has, which is how they are found: by the index of the publisher's entries.
 */
export async function readPublisherEntries(db: Db, conversion: Conversion): Promise<PublisherEntry[]> {
  const { created_at, confirmed_at, approved_at, rejected_at, reversed_at } = conversion
  const times = [created_at, confirmed_at, approved_at, rejected_at, reversed_at].filter((time) => time !== null)
  const rows = await db
    .selectFrom('ledger_entries')
    .select(['account', 'amount_micros', 'created_at'])
    .where('account', 'in', ['publisher_pending', 'publisher_payable'])
    .where('party_id', '=', conversion.publisher_id)
    .where((is) => is('created_at', '=', is.fn.any(is.val(times))))
    .where('conversion_id', '=', conversion.conversion_id)
    .orderBy('created_at')
    .orderBy('entry_id')
    .execute()
  return rows.map((row) => ({
    createdAt: row.created_at,
    balance: row.account === 'publisher_pending' ? 'pending' : 'payable',
    amountMicros: -row.amount_micros,
  }))
}
