// The stored lines of payment runs, with each publisher's current balance.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { csvLine } from '../../lib/csv-line.ts'
import { exactUsd } from '../../lib/money.ts'
import { readOwed } from './ledger.ts'

const PAGE = 500

export const LINE_STATUSES = ['due', 'paid', 'cancelled'] as const
export type LineStatus = (typeof LINE_STATUSES)[number]

export type RunLine = {
  publisher_id: number
  name: string
  email: string | null
  payable_micros: number
  amount_micros: number
  status: LineStatus
  reason: string | null
  posting_id: string | null
  settled_at: Date | null
  /** When its payout was voided. */
  voided_at: Date | null
  /** The balance now; null once nothing is due. */
  payable_now_micros: number | null
  is_short: boolean
  /** Due, and suspended since the run was created. */
  is_suspended: boolean
}

export type LineFilter = { status?: LineStatus; after?: number; publisherIds?: readonly number[] | null }

/** Ordered by publisher ID. */
export async function readLines(db: Db, runId: number, filter: LineFilter, limit: number): Promise<RunLine[]> {
  const { status = null, after = 0, publisherIds = null } = filter
  const ids = publisherIds === null ? null : [...publisherIds]
  const { rows } = await sql<Omit<RunLine, 'payable_now_micros' | 'is_short'>>`
    SELECT l.publisher_id, l.name, l.email, l.payable_micros, l.amount_micros, l.status, l.reason, l.posting_id, l.settled_at,
      v.created_at AS voided_at, l.status = 'due' AND p.status = 'suspended' AND NOT l.was_suspended AS is_suspended
    FROM payment_run_lines l JOIN publishers p USING (publisher_id)
    LEFT JOIN ledger_entries v ON v.voids = l.posting_id AND v.account = 'publisher_payable' AND v.party_id = l.publisher_id
    WHERE l.run_id = ${runId} AND l.publisher_id > ${after} AND (${status}::text IS NULL OR l.status = ${status})
      AND (${ids}::bigint[] IS NULL OR l.publisher_id = ANY (${ids}::bigint[]))
    ORDER BY l.publisher_id LIMIT ${limit}`.execute(db)
  const due = rows.filter((line) => line.status === 'due').map((line) => line.publisher_id)
  const owed = due.length === 0 ? null : await readOwed(db, due)
  return rows.map((line) => {
    const payable_now_micros = owed?.get(line.publisher_id)?.payableMicros ?? null
    return { ...line, payable_now_micros, is_short: (payable_now_micros ?? Infinity) < line.amount_micros }
  })
}

/**
 * Page by page. Lines may be paid or cancelled meanwhile, so a page begins after the last publisher of the previous
 * one.
 */
export async function* readPages(db: Db, runId: number, filter: LineFilter): AsyncGenerator<RunLine[]> {
  for (let { after = 0 } = filter; ;) {
    const lines = await readLines(db, runId, { ...filter, after }, PAGE)
    if (lines.length > 0) yield lines
    if (lines.length < PAGE) return
    after = lines.at(-1)?.publisher_id ?? after
  }
}

/** What is still due, for the person who sends the money: paid lines are left out. */
export async function* writeRunCsv(db: Db, runId: number): AsyncGenerator<string> {
  yield csvLine(['publisher_id', 'publisher', 'email', 'amount', 'currency', 'reference'])
  for await (const lines of readPages(db, runId, { status: 'due' }))
    yield lines
      .map(({ publisher_id, name, email, amount_micros }) =>
        csvLine([publisher_id, name, email, { exact: exactUsd(amount_micros) }, 'USD', `run-${runId}`]),
      )
      .join('')
}
