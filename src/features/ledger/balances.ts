// Balances of all publishers and advertisers side by side, and the payments recorded.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { sumLines } from './rollup.ts'

const MICROS_PER_CENT = 10_000

type Page = { search: string | undefined; limit: number; offset: number }

export type PublisherBalance = {
  publisher_id: number
  name: string
  email: string | null
  pending_micros: number
  payable_micros: number
  paid_micros: number
  last_paid_at: Date | null
  /** What a payment run would pay now. */
  due_micros: number
  is_suspended: boolean
  /** The open payment run that already includes this publisher. */
  run_id: number | null
}

const isOwedOrOwing = sql<boolean>`account IN ('publisher_pending', 'publisher_payable', 'advertiser_receivable', 'advertiser_unconfirmed')`
const SUMS = sql`
  SELECT account, party_id, sum(amount_micros) AS micros FROM (${sumLines(isOwedOrOwing)}) AS line
  GROUP BY account, party_id`

/** What each publisher is owed now. */
export const PAYABLES = sql`
  SELECT party_id, (-sum(amount_micros))::bigint AS micros
  FROM (${sumLines(sql<boolean>`account = 'publisher_payable'`)}) AS line GROUP BY party_id`

const moved = (kind: 'payout' | 'receipt', account: string) => sql`
  SELECT party_id, abs(sum(amount_micros))::bigint AS micros, max(created_at) FILTER (WHERE voids IS NULL AND posting_id NOT IN (SELECT voids FROM ledger_entries WHERE voids IS NOT NULL)) AS last_at
  FROM ledger_entries
  WHERE kind = ${sql.lit(kind)} AND account = ${sql.lit(account)} GROUP BY party_id`

const matches = (name: string, search: string | undefined) =>
  search === undefined ? sql`true` : sql`position(lower(${search}) IN lower(${sql.ref(name)})) > 0`

/** Publishers who are owed at least the minimum; with a minimum of zero all of them. Largest balance first. */
export async function listPublisherBalances(db: Db, minimumMicros: number, { search, limit, offset }: Page) {
  const { rows } = await sql<PublisherBalance & { total: number; total_due_micros: number }>`
    WITH sums AS (${SUMS}), paid AS (${moved('payout', 'publisher_payable')}), owed AS (
      SELECT p.publisher_id, p.name, p.email, coalesce(-pending.micros, 0)::bigint AS pending_micros,
        coalesce(-payable.micros, 0)::bigint AS payable_micros, coalesce(paid.micros, 0)::bigint AS paid_micros,
        paid.last_at AS last_paid_at, p.status = 'suspended' AS is_suspended, line.run_id
      FROM publishers p
      LEFT JOIN payment_run_lines line ON line.publisher_id = p.publisher_id AND line.status = 'due'
      LEFT JOIN sums pending ON pending.account = 'publisher_pending' AND pending.party_id = p.publisher_id
      LEFT JOIN sums payable ON payable.account = 'publisher_payable' AND payable.party_id = p.publisher_id
      LEFT JOIN paid ON paid.party_id = p.publisher_id
      WHERE ${matches('p.name', search)}
    ), due AS (
      SELECT *, CASE WHEN run_id IS NULL THEN greatest(payable_micros - payable_micros % ${MICROS_PER_CENT}, 0) ELSE 0 END::bigint AS due_micros
      FROM owed
      WHERE ${minimumMicros}::bigint = 0 OR payable_micros >= ${minimumMicros}::bigint
    )
    SELECT *, count(*) OVER () AS total,
      coalesce(sum(due_micros) FILTER (WHERE NOT is_suspended) OVER (), 0)::bigint AS total_due_micros
    FROM due
    ORDER BY payable_micros DESC, publisher_id LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return rows
}

export type AdvertiserBalance = {
  advertiser_id: number
  name: string
  receivable_micros: number
  unconfirmed_micros: number
  received_micros: number
  last_received_at: Date | null
}

/** Advertisers, largest debt first. */
export async function listAdvertiserBalances(db: Db, { search, limit, offset }: Page) {
  const { rows } = await sql<AdvertiserBalance & { total: number }>`
    WITH sums AS (${SUMS}), received AS (${moved('receipt', 'advertiser_receivable')})
    SELECT a.advertiser_id, a.name, coalesce(owes.micros, 0)::bigint AS receivable_micros,
      coalesce(unconfirmed.micros, 0)::bigint AS unconfirmed_micros, coalesce(received.micros, 0)::bigint AS received_micros, received.last_at AS last_received_at,
      count(*) OVER () AS total
    FROM advertisers a
    LEFT JOIN sums owes ON owes.account = 'advertiser_receivable' AND owes.party_id = a.advertiser_id
    LEFT JOIN sums unconfirmed ON unconfirmed.account = 'advertiser_unconfirmed' AND unconfirmed.party_id = a.advertiser_id
    LEFT JOIN received ON received.party_id = a.advertiser_id
    WHERE ${matches('a.name', search)}
    ORDER BY receivable_micros DESC, a.advertiser_id LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return rows
}

export const MOVEMENT_KINDS = ['payout', 'receipt', 'adjustment'] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]

/**
 * `amount_micros` has the sign the party sees: positive for a payout, a receipt or a credit, negative for a debit, and
 * reversed for a void.
 */
export type Movement = {
  entry_id: number
  posting_id: string
  kind: MovementKind
  party: 'publisher' | 'advertiser'
  party_id: number
  name: string
  amount_micros: number
  reference: string
  reason: string | null
  voids: string | null
  voided_at: Date | null
  created_at: Date
}

/** Payments, adjustments and voids, newest first. */
export async function listMovements(
  db: Db,
  { kind, before }: { kind?: MovementKind | undefined; before?: number | undefined },
  limit: number,
): Promise<Movement[]> {
  const { rows } = await sql<Movement>`
    SELECT e.entry_id, e.posting_id, e.kind, CASE e.account WHEN 'publisher_payable' THEN 'publisher' ELSE 'advertiser' END AS party,
      e.party_id, coalesce(p.name, a.name, '') AS name,
      CASE e.kind WHEN 'payout' THEN e.amount_micros ELSE -e.amount_micros END AS amount_micros,
      coalesce(e.reference, '') AS reference, e.reason, e.voids, v.created_at AS voided_at, e.created_at
    FROM ledger_entries e
    LEFT JOIN publishers p ON e.account = 'publisher_payable' AND p.publisher_id = e.party_id
    LEFT JOIN advertisers a ON e.account = 'advertiser_receivable' AND a.advertiser_id = e.party_id
    LEFT JOIN ledger_entries v ON v.voids = e.posting_id AND v.account = e.account AND v.party_id = e.party_id
    WHERE e.kind <> 'conversion' AND e.party_id <> 0
      AND (${kind ?? null}::text IS NULL OR e.kind = ${kind ?? null})
      AND (${before ?? null}::bigint IS NULL OR e.entry_id < ${before ?? null})
    ORDER BY e.entry_id DESC LIMIT ${limit}`.execute(db)
  return rows
}
