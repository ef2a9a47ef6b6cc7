// The history of one conversion: its status changes and its ledger entries.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Account } from '../ledger/ledger.ts'
import type { ActorKind, ConversionRow, Reason, Status } from './conversions.ts'

/** First to last. */
export async function readMoves(db: Db, conversionId: string) {
  const rows = await db
    .selectFrom('conversion_events')
    .select(['sequence', 'status', 'status_reason', 'actor', 'created_at', 'event_id', 'payout_micros', 'request_id'])
    .where('conversion_id', '=', conversionId)
    .orderBy('sequence')
    .execute()
  return rows.map((row) => ({
    ...row,
    status: row.status as Status,
    status_reason: row.status_reason as Reason | null,
    actor: row.actor as ActorKind,
  }))
}

export type ConversionEntry = {
  entry_id: number
  posting_id: string
  account: Account
  amount_micros: number
  created_at: Date
}

/** The ledger entries of a conversion, in order. */
export async function readEntries(db: Db, conversion: ConversionRow): Promise<ConversionEntry[]> {
  // Only corrections are indexed by conversion. The other entries are posted at one of the conversion's own times,
  // which are indexed.
  const { created_at, told_at, confirmed_at, approved_at, rejected_at, reversed_at } = conversion
  const times = [created_at, told_at, confirmed_at, approved_at, rejected_at, reversed_at].filter((at) => at !== null)
  const { rows } = await sql<ConversionEntry>`
    SELECT entry_id, posting_id, account, amount_micros, created_at FROM ledger_entries
    WHERE conversion_id = ${conversion.conversion_id} AND (${sql.join(
      times.map(
        (at) => sql`created_at BETWEEN ${at}::timestamptz - interval '1 s' AND ${at}::timestamptz + interval '1 s'`,
      ),
      sql` OR `,
    )})
    UNION
    SELECT entry_id, posting_id, account, amount_micros, created_at FROM ledger_entries
    WHERE conversion_id = ${conversion.conversion_id} AND kind = 'conversion' AND reference IS NOT NULL
    ORDER BY entry_id`.execute(db)
  return rows
}

export type PublisherEntry = { createdAt: Date; balance: 'pending' | 'payable'; amountMicros: number }

/** What the conversion did to its publisher's balances, first to last: positive when they grew. */
export async function readPublisherEntries(db: Db, conversion: ConversionRow): Promise<PublisherEntry[]> {
  const entries = await readEntries(db, conversion)
  return entries.flatMap(({ account, amount_micros, created_at }) =>
    account === 'publisher_pending' || account === 'publisher_payable'
      ? [
          {
            createdAt: created_at,
            balance: account === 'publisher_pending' ? 'pending' : 'payable',
            amountMicros: -amount_micros,
          },
        ]
      : [],
  )
}
