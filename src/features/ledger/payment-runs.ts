// A payment run: a stored list of who is to be paid how much, taken from the balances of one moment.
//
//   open ---> exported ---> paid          each line: due ---> paid
//     \----------\--------> cancelled                   \---> cancelled
//
// A run is paid or cancelled when no line of it is due any more. A publisher is due in one run at most, which a unique
// index sees to, so two runs never pay the same balance; payouts outside of runs leave what is due alone.
//
// Publishers go on moving after the snapshot. A line that the balance no longer covers is short: a chargeback came between.
// A publisher may also be suspended meanwhile. Both are held back: the export cancels them, before anything is sent; one
// that comes later is paid only if the operator says that the money was sent, and a balance below zero is carried over.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { exactUsd, microsToUsd } from '../../lib/money.ts'
import { type Actor, recordAudit, recordParts } from '../accounts/audit.ts'
import { post } from './ledger.ts'
import { PAYABLES } from './balances.ts'
import { lockPaying, payoutPosting, postingIdOf } from './payments.ts'
import { readPages, type RunLine } from './run-lines.ts'

const MICROS_PER_CENT = 10_000

export const RUN_STATUSES = ['open', 'exported', 'paid', 'cancelled'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export type NewRun = {
  /** Only publishers who are owed at least this much. */
  minimumMicros: number
  /** Null: every publisher who is owed something and is not suspended. */
  publisherIds: readonly number[] | null
  now: Date
}

/** Takes the snapshot in whole cents; fractions stay on the balance. */
export async function createRun(trx: Trx, by: Actor, { minimumMicros, publisherIds, now }: NewRun) {
  await lockPaying(trx, 'exclusive') // a payout under way is on the balance, or waits until the run is there
  const isWanted =
    publisherIds === null
      ? sql<boolean>`p.status <> 'suspended'`
      : sql<boolean>`p.publisher_id = ANY (${[...publisherIds]}::bigint[])`
  const { run_id } = await trx
    .insertInto('payment_runs')
    .values({ minimum_micros: minimumMicros, created_by: by.email, created_at: now })
    .returning('run_id')
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ amount_micros: number }>`
    INSERT INTO payment_run_lines (run_id, publisher_id, name, email, payable_micros, amount_micros, was_suspended)
    SELECT ${run_id}, p.publisher_id, p.name, p.email, owed.micros, owed.micros - owed.micros % ${MICROS_PER_CENT},
      p.status = 'suspended'
    FROM publishers p JOIN (${PAYABLES}) AS owed ON owed.party_id = p.publisher_id
    WHERE owed.micros >= greatest(${minimumMicros}::bigint, ${MICROS_PER_CENT}) AND ${isWanted}
    ON CONFLICT DO NOTHING RETURNING amount_micros`.execute(trx)
  if (rows.length === 0)
    throw new OperatorError(
      'Nothing to pay: no publisher is owed that much, or they already have a due line in another run.',
    )
  const made = { runId: run_id, lines: rows.length, totalMicros: rows.reduce((sum, row) => sum + row.amount_micros, 0) }
  const details = { minimum: microsToUsd(minimumMicros), lines: made.lines, total: microsToUsd(made.totalMicros) }
  await recordAudit(trx, by, { action: 'payment_run.create', subject: run_id, details })
  return made
}

/** The due lines of a run, page by page. */
const duePages = (trx: Trx, runId: number, publisherIds: readonly number[] | null) =>
  readPages(trx, runId, { status: 'due', publisherIds })

async function lockRun(trx: Trx, runId: number): Promise<RunStatus> {
  await lockPaying(trx, 'exclusive')
  const run = await trx
    .selectFrom('payment_runs')
    .select('status')
    .where('run_id', '=', runId)
    .forUpdate()
    .executeTakeFirst()
  if (run === undefined) throw noSuchRun(runId)
  return run.status as RunStatus
}

export const noSuchRun = (runId: number) => new NoSuch('payment run', runId)

/** Why a due line must not be paid without a second look. */
type HeldBack = 'short' | 'suspended'

const heldBack = ({ is_suspended, is_short }: RunLine): HeldBack | null =>
  is_suspended ? 'suspended' : is_short ? 'short' : null

const whyCancelled = (line: RunLine) =>
  line.is_suspended
    ? 'The publisher was suspended before the run was exported.'
    : `The balance fell to ${exactUsd(line.payable_now_micros ?? 0)} USD before the run was exported.`

export type CancelledLine = RunLine & { reason: string }

/** Run before the file goes to a bank. Cancels lines that are held back by now, and returns them. */
export async function exportRun(
  trx: Trx,
  by: Actor,
  runId: number,
  now: Date,
): Promise<{ cancelled: CancelledLine[] }> {
  const status = await lockRun(trx, runId)
  if (status === 'paid' || status === 'cancelled') throw new OperatorError(`Payment run ${runId} is already ${status}.`)
  if (status === 'exported') return { cancelled: [] }
  await trx
    .updateTable('payment_runs')
    .set({ status: 'exported', exported_at: now })
    .where('run_id', '=', runId)
    .execute()
  const cancelled: CancelledLine[] = []
  for await (const lines of duePages(trx, runId, null)) {
    for (const line of lines.filter((one) => heldBack(one) !== null)) {
      const reason = whyCancelled(line)
      await cancelLines(trx, runId, [line.publisher_id], reason, now)
      cancelled.push({ ...line, reason })
    }
  }
  await closeIfDone(trx, runId, now)
  const details = { cancelled: cancelled.map(({ publisher_id }) => publisher_id) }
  await recordAudit(trx, by, { action: 'payment_run.export', subject: runId, details })
  return { cancelled }
}

export type LineResult = {
  publisher_id: number
  name: string
  outcome: 'paid' | 'already' | HeldBack | 'cancelled' | 'unknown'
  amount_micros: number
  /** The balance afterwards. */
  payable_micros: number | null
  posting_id: string | null
}

export type Paying = {
  /** Null: all that are due. */
  publisherIds: readonly number[] | null
  /** Includes lines that are held back, because the money was sent. */
  isSent: boolean
  now: Date
}

/** Records that lines were paid, each once, however often this is called. */
export async function payRun(
  trx: Trx,
  by: Actor,
  runId: number,
  { publisherIds, isSent, now }: Paying,
): Promise<LineResult[]> {
  await lockRun(trx, runId)
  const results: LineResult[] = []
  for await (const lines of duePages(trx, runId, publisherIds)) {
    const paid = lines.filter((line) => isSent || heldBack(line) === null)
    await payLines(trx, runId, paid, now)
    results.push(...lines.map((line) => resultOf(runId, line, paid.includes(line))))
  }
  await closeIfDone(trx, runId, now)
  await recordPaid(trx, by, { runId, isSent }, results.filter(({ outcome }) => outcome === 'paid')) // prettier-ignore
  return publisherIds === null ? results : [...results, ...(await explainOthers(trx, runId, publisherIds, results))]
}

/** One entry for all of it, and a part of it for each publisher. */
async function recordPaid(
  trx: Trx,
  by: Actor,
  { runId, isSent }: { runId: number; isSent: boolean },
  paid: LineResult[],
): Promise<void> {
  if (paid.length === 0) return
  const total = microsToUsd(paid.reduce((sum, { amount_micros }) => sum + amount_micros, 0))
  const details = { lines: paid.length, total, is_sent: isSent }
  const auditId = await recordAudit(trx, by, { action: 'payment_run.pay', subject: runId, details })
  const parts = paid.map(({ publisher_id: publisherId, posting_id, amount_micros }) => ({
    action: 'payout.record',
    subject: posting_id ?? '',
    publisherId,
    details: { amount: microsToUsd(amount_micros), reference: referenceOf(runId) },
  }))
  await recordParts(trx, by, auditId, parts)
}

const referenceOf = (runId: number) => `run-${runId}`
const runPostingId = (runId: number, publisherId: number) => postingIdOf('payment-run', runId, publisherId)

async function payLines(trx: Trx, runId: number, lines: RunLine[], now: Date): Promise<void> {
  await post(
    trx,
    lines.map(({ publisher_id: publisherId, amount_micros: amountMicros }) =>
      payoutPosting({
        postingId: runPostingId(runId, publisherId),
        publisherId,
        amountMicros,
        reference: referenceOf(runId),
        at: now,
      }),
    ),
  )
  const rows = lines.map(({ publisher_id }) => ({ publisher_id, posting_id: runPostingId(runId, publisher_id) }))
  await sql`
    UPDATE payment_run_lines l SET status = 'paid', posting_id = n.posting_id, settled_at = ${now}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}) AS n (publisher_id bigint, posting_id uuid)
    WHERE l.run_id = ${runId} AND l.publisher_id = n.publisher_id`.execute(trx)
}

function resultOf(runId: number, line: RunLine, isPaid: boolean): LineResult {
  const { publisher_id, name, amount_micros, payable_now_micros: payable } = line
  return {
    publisher_id,
    name,
    outcome: isPaid ? 'paid' : (heldBack(line) ?? 'short'),
    amount_micros,
    payable_micros: isPaid ? (payable ?? 0) - amount_micros : payable,
    posting_id: isPaid ? runPostingId(runId, publisher_id) : null,
  }
}

/** Lines requested by publisher that are not due. */
async function explainOthers(trx: Trx, runId: number, asked: readonly number[], done: LineResult[]) {
  const known = new Set(done.map(({ publisher_id }) => publisher_id))
  const rest = [...new Set(asked)].filter((id) => !known.has(id))
  if (rest.length === 0) return []
  const lines = await trx
    .selectFrom('payment_run_lines')
    .select(['publisher_id', 'name', 'status', 'amount_micros', 'posting_id'])
    .where('run_id', '=', runId)
    .where('publisher_id', 'in', rest)
    .execute()
  return rest.map((publisher_id): LineResult => {
    const line = lines.find((one) => one.publisher_id === publisher_id)
    const { name = '', status, amount_micros = 0, posting_id = null } = line ?? {}
    const outcome = status === 'paid' ? 'already' : status === 'cancelled' ? 'cancelled' : 'unknown'
    return { publisher_id, name, outcome, amount_micros, payable_micros: null, posting_id }
  })
}

/** Removes lines from the run; what they would have paid stays on the balance. Returns how many. */
export async function cancelRun(
  trx: Trx,
  by: Actor,
  runId: number,
  { publisherIds, reason, now }: { publisherIds: readonly number[] | null; reason: string; now: Date },
): Promise<number> {
  await lockRun(trx, runId)
  const cancelled = await cancelLines(trx, runId, publisherIds, reason, now)
  await closeIfDone(trx, runId, now)
  const details = { publisher_ids: publisherIds, reason, lines: cancelled }
  if (cancelled > 0) await recordAudit(trx, by, { action: 'payment_run.cancel', subject: runId, details })
  return cancelled
}

async function cancelLines(trx: Trx, runId: number, ids: readonly number[] | null, reason: string, now: Date) {
  let query = trx
    .updateTable('payment_run_lines')
    .set({ status: 'cancelled', reason, settled_at: now })
    .where('run_id', '=', runId)
    .where('status', '=', 'due')
  if (ids !== null) query = query.where((is) => is('publisher_id', '=', is.fn.any(is.val([...ids]))))
  return Number((await query.executeTakeFirst()).numUpdatedRows)
}

/** Paid if at least one line was paid. */
const closeIfDone = (trx: Trx, runId: number, now: Date) =>
  sql`
    UPDATE payment_runs r SET closed_at = ${now}, status = CASE
      WHEN EXISTS (SELECT FROM payment_run_lines l WHERE l.run_id = r.run_id AND l.status = 'paid') THEN 'paid' ELSE 'cancelled' END
    WHERE run_id = ${runId} AND closed_at IS NULL
      AND NOT EXISTS (SELECT FROM payment_run_lines l WHERE l.run_id = r.run_id AND l.status = 'due')`.execute(trx)

export type Run = {
  run_id: number
  status: RunStatus
  minimum_micros: number
  created_by: string
  created_at: Date
  exported_at: Date | null
  closed_at: Date | null
  lines: number
  due: number
  due_micros: number
  paid: number
  paid_micros: number
  total_micros: number
}

/** Newest first; `runId` selects one. */
export async function listRuns(db: Db, filter: { runId?: number; before?: number }, limit: number): Promise<Run[]> {
  const { runId = null, before = null } = filter
  const { rows } = await sql<Run>`
    SELECT r.*, line.* FROM payment_runs r CROSS JOIN LATERAL (
      SELECT count(*) AS lines, sum(amount_micros)::bigint AS total_micros,
        count(*) FILTER (WHERE status = 'due') AS due, coalesce(sum(amount_micros) FILTER (WHERE status = 'due'), 0)::bigint AS due_micros,
        count(*) FILTER (WHERE status = 'paid') AS paid, coalesce(sum(amount_micros) FILTER (WHERE status = 'paid'), 0)::bigint AS paid_micros
      FROM payment_run_lines l WHERE l.run_id = r.run_id) AS line
    WHERE (${runId}::bigint IS NULL OR r.run_id = ${runId}) AND (${before}::bigint IS NULL OR r.run_id < ${before})
    ORDER BY r.run_id DESC LIMIT ${limit}`.execute(db)
  return rows
}
