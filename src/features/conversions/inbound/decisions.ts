// Decisions of an advertiser about many conversions at once: a CSV file of its transaction IDs. Each is applied as a callback
// is, so holds and fraud rules apply, a file that is sent twice changes nothing, and the log of callbacks has each of them.
import type { Db } from '../../../db/open.ts'
import { OperatorError } from '../../../errors.ts'
import { readCsvText } from '../../../lib/csv-rows.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import { dialectOf, getAdvertiser } from '../../accounts/advertisers.ts'
import { type Actor, recordAuditAlone } from '../../accounts/audit.ts'
import { BATCH_ROWS } from '../command-queue.ts'
import type { Status } from '../conversions.ts'
import { type ApplyCommand, confirmCall } from './confirm.ts'
import { DECISION_METHOD, dialectFor } from './decision-calls.ts'
import { USUAL_STATUSES } from './status-words.ts'

export const WANTED = ['approved', 'rejected', 'reversed'] as const
export const MAX_DECISIONS = 5_000
const MAX_ID = 256

/** What a row comes to. `changes`: it is applied. */
export const DECISION_RESULTS = ['changes', 'already', 'unknown', 'ambiguous', 'final', 'repeated', 'invalid'] as const
export type DecisionResult = (typeof DECISION_RESULTS)[number]

export type Decision = {
  line: number
  transactionId: string
  wanted: (typeof WANTED)[number] | null
  result: DecisionResult
  conversionId: string | null
  /** Of the conversion, now. */
  status: Status | null
  message: string
}

type Row = { line: number; transactionId: string; word: string }
type Known = { conversion_id: string; advertiser_transaction_id: string | null; click_id: string | null; goal_id: number; status: string; status_reason: string | null; confirmed_at: Date | null } // prettier-ignore

/** What a file would do, row by row. */
export async function planDecisions(db: Db, advertiserId: number, csv: string): Promise<Decision[]> {
  return (await plan(db, advertiserId, csv)).map(({ decision }) => decision)
}

/** Applies what changes something. In the order of the file; the answer says what became of each. */
export async function applyDecisions(
  db: Db,
  by: Actor,
  applyCommand: ApplyCommand,
  advertiserId: number,
  csv: string,
): Promise<Decision[]> {
  const planned = await plan(db, advertiserId, csv)
  const dialect = dialectOf(await getAdvertiser(db, advertiserId))
  const rows = planned.filter(({ decision }) => decision.result === 'changes').length
  await recordAuditAlone(db, by, { action: 'conversion.decide', subject: advertiserId, details: { rows } })
  const apply = async ({ decision, known }: Planned): Promise<Decision> => {
    if (decision.result !== 'changes' || known === null) return decision
    const receivedAt = new Date()
    const query = new URLSearchParams({
      ...(known.click_id === null ? {} : { click_id: known.click_id }),
      goal: String(known.goal_id),
      txn_id: decision.transactionId,
      status: decision.wanted ?? '',
    }).toString()
    const call = { inboundId: uuid7(receivedAt.getTime()), receivedAt, advertiserId, method: DECISION_METHOD, query, body: '', isCut: false, ip: by.ip, clickId: null, attempts: 1, before: null } // prettier-ignore
    const { outcome, message } = await confirmCall(db, call, dialectFor(call, dialect), {
      applyCommand,
      countryOf: () => null,
    })
    const isStatus = outcome === 'approved' || outcome === 'pending' || outcome === 'rejected' || outcome === 'reversed'
    return { ...decision, result: isStatus ? 'changes' : outcome === 'duplicate' ? 'already' : 'final', status: isStatus ? outcome : decision.status, message } // prettier-ignore
  }
  const done: Decision[] = []
  for (let i = 0; i < planned.length; i += BATCH_ROWS)
    done.push(...(await Promise.all(planned.slice(i, i + BATCH_ROWS).map(apply))))
  return done
}

type Planned = { decision: Decision; known: Known | null }

async function plan(db: Db, advertiserId: number, csv: string): Promise<Planned[]> {
  const rows = await readRows(csv)
  const known = Map.groupBy(await findKnown(db, advertiserId, rows), (one) => one.advertiser_transaction_id ?? '')
  const seen = new Map<string, number>()
  return rows.map((row) => {
    const found = known.get(row.transactionId) ?? []
    const first = seen.get(row.transactionId)
    seen.set(row.transactionId, first ?? row.line)
    return decide(row, found, first)
  })
}

async function readRows(csv: string): Promise<Row[]> {
  let names: string[] | null = null
  const rows: Row[] = []
  for await (const row of readCsvText(csv)) {
    if ('problem' in row) throw new OperatorError(`Line ${row.line}: ${row.problem}.`, 'csv')
    const cells = row.cells.map((cell) => cell.trim())
    if (names === null) {
      names = cells.map((cell) => cell.toLowerCase())
      const missing = ['transaction_id', 'status'].filter((name) => !names?.includes(name))
      if (missing.length > 0) throw new OperatorError(`The first line must name the columns: ${missing.join(' and ')} is missing.`, 'csv') // prettier-ignore
    } else {
      const [transactionId = '', word = ''] = ['transaction_id', 'status'].map((name) => cells[names?.indexOf(name) ?? -1]) // prettier-ignore
      rows.push({ line: row.line, transactionId, word })
    }
    if (rows.length > MAX_DECISIONS) throw new OperatorError(`The file has more than ${MAX_DECISIONS.toLocaleString('en')} rows. Split it.`, 'csv') // prettier-ignore
  }
  if (rows.length === 0) throw new OperatorError('The file has no rows. It needs the columns transaction_id and status.', 'csv') // prettier-ignore
  return rows
}

const findKnown = (db: Db, advertiserId: number, rows: readonly Row[]): Promise<Known[]> =>
  db
    .selectFrom('conversions')
    .select([
      'conversion_id',
      'advertiser_transaction_id',
      'click_id',
      'goal_id',
      'status',
      'status_reason',
      'confirmed_at',
    ])
    .where('advertiser_id', '=', advertiserId)
    .where('advertiser_transaction_id', 'in', [...new Set(rows.map(({ transactionId }) => transactionId))])
    .where('is_test', '=', false)
    .orderBy('conversion_id')
    .execute()

function decide({ line, transactionId, word }: Row, found: Known[], first: number | undefined): Planned {
  const counting = found.filter(({ status }) => status !== 'rejected')
  const [one, ...others] = counting.length > 0 ? counting : found.slice(-1)
  const lower = word.toLowerCase()
  const wanted = WANTED.find((status) => status === (lower === '' ? '' : (USUAL_STATUSES.get(lower) ?? lower))) ?? null
  const known = one !== undefined && others.length === 0 ? one : null
  const as = (result: DecisionResult, message: string): Planned => ({
    decision: { line, transactionId, wanted, result, conversionId: known?.conversion_id ?? null, status: (known?.status as Status | undefined) ?? null, message }, // prettier-ignore
    known,
  })
  if (transactionId === '' || transactionId.length > MAX_ID) return as('invalid', `The transaction ID must have 1 to ${MAX_ID} characters.`) // prettier-ignore
  if (wanted === null) return as('invalid', `The status must be one of ${WANTED.join(', ')}.`)
  if (first !== undefined) return as('repeated', `Line ${first} has the same transaction ID and is used instead.`)
  if (one === undefined) return as('unknown', 'No conversion has this transaction ID.')
  if (known === null) return as('ambiguous', 'Several conversions have this transaction ID. Send a callback with the click ID and the goal.') // prettier-ignore
  if (known.status === 'pending') {
    if (wanted === 'approved' && known.confirmed_at !== null) return as('already', known.status_reason === null ? 'Already confirmed: it will be approved when the hold period ends.' : 'Already confirmed: it is held for review, and the operator decides.') // prettier-ignore
    return as('changes', wanted === 'approved' ? 'Confirmed.' : 'Rejected.')
  }
  if (known.status === 'approved' && wanted === 'approved' && known.confirmed_at === null) return as('changes', 'Confirmed.') // prettier-ignore
  if (known.status === 'approved') return wanted === 'approved' ? as('already', 'Already approved.') : as('changes', 'Reversed, since it was already approved.') // prettier-ignore
  return wanted === 'approved' ? as('final', `Already ${known.status}, which a file cannot undo. Ask the operator.`) : as('already', `Already ${known.status}.`) // prettier-ignore
}
