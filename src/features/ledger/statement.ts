// A publisher's month (UTC) as CSV (RFC 4180): what became payable, was reversed, adjusted and paid out.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { csvLine } from '../../lib/csv-line.ts'
import { exactUsd } from '../../lib/money.ts'
import { rfc3339 } from '../../lib/time.ts'
import { readPayableBefore } from './ledger.ts'

const PAGE = 1_000
const COLUMNS = [
  'date',
  'kind',
  'conversion_id',
  'app',
  'offer_id',
  'offer',
  'reference',
  'amount',
  'balance',
  'reason',
]

type Row = {
  date: Date
  kind: string
  conversionId?: string | null
  app?: string | null
  offerId?: number | null
  offer?: string | null
  reference?: string | null
  amountMicros?: number
  balanceMicros: number
  reason?: string | null
}

/** Yields the text piece by piece. Amounts are the publisher's: positive when it earns, negative when it is paid. */
export async function* writeStatement(db: Db, publisherId: number, month: string): AsyncGenerator<string> {
  const { start, end } = readMonth(month)
  const snapshot = await readSnapshot(db, publisherId, { month, start, end })
  let balanceMicros = snapshot.openingMicros
  yield `${csvLine(COLUMNS)}${writeRow({ date: start, kind: 'opening_balance', balanceMicros })}`
  for await (const page of readPages(db, snapshot.entryIds)) {
    const lines = page.map((entry) => {
      balanceMicros += entry.amountMicros
      return writeRow({ ...entry, kind: kindOf(entry), balanceMicros })
    })
    yield lines.join('')
  }
  yield writeRow({ date: new Date(end.getTime() - 1), kind: 'closing_balance', balanceMicros })
}

/** conversion, reversal, payout, payout_void, adjustment, adjustment_void */
function kindOf({ kind, isVoid, amountMicros }: Entry): string {
  if (kind === 'conversion') return amountMicros < 0 ? 'reversal' : kind
  return isVoid ? `${kind}_void` : kind
}

function readMonth(month: string): { start: Date; end: Date } {
  const match = /^([12]\d{3})-(0[1-9]|1[0-2])$/.exec(month)
  if (match === null) throw new OperatorError(`"${month}" is not a month: write it as 2026-11.`)
  const [year, number] = [Number(match[1]), Number(match[2])]
  return { start: new Date(Date.UTC(year, number - 1)), end: new Date(Date.UTC(year, number)) }
}

type Entry = {
  entryId: number
  date: Date
  kind: 'conversion' | 'payout' | 'adjustment'
  isVoid: boolean
  conversionId: string | null
  app: string | null
  offerId: number | null
  offer: string | null
  reference: string | null
  amountMicros: number
  reason: string | null
}

/**
 * The entries of the statement, from one snapshot: postings commit in a different order than their times, so pages read
 * one after the other could miss one and show a later one. Entries never change, so their IDs are enough, and no
 * transaction stays open during a download.
 */
async function readSnapshot(
  db: Db,
  publisherId: number,
  { month, start, end }: { month: string; start: Date; end: Date },
) {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const openingMicros = await readPayableBefore(trx, publisherId, `${month}-01`)
      const { rows } = await sql<{ ids: number[] | null }>`
        SELECT array_agg(entry_id ORDER BY created_at, entry_id) AS ids FROM ledger_entries
        WHERE account = 'publisher_payable' AND party_id = ${publisherId} AND created_at >= ${start} AND created_at < ${end}`.execute(
        trx,
      )
      return { openingMicros, entryIds: Float64Array.from(rows[0]?.ids ?? []) }
    })
}

async function* readPages(db: Db, entryIds: Float64Array): AsyncGenerator<Entry[]> {
  for (let place = 0; place < entryIds.length; place += PAGE) {
    const { rows } = await sql<Entry>`
      SELECT e.entry_id AS "entryId", e.created_at AS date, e.kind,
        e.conversion_id AS "conversionId", apps.name AS app, c.offer_id AS "offerId", offers.name AS offer,
        e.reference, -e.amount_micros AS "amountMicros", e.voids IS NOT NULL AS "isVoid", e.reason
      FROM ledger_entries e
      LEFT JOIN conversions c ON c.conversion_id = e.conversion_id
      LEFT JOIN apps ON apps.app_id = c.app_id
      LEFT JOIN offers ON offers.offer_id = c.offer_id
      WHERE e.entry_id = ANY (${[...entryIds.subarray(place, place + PAGE)]}::bigint[])
      ORDER BY e.created_at, e.entry_id`.execute(db)
    yield rows
  }
}

const writeRow = ({ date, kind, conversionId = null, app = null, offerId = null, offer = null, ...row }: Row) =>
  csvLine([
    rfc3339(date),
    kind,
    conversionId,
    app,
    offerId,
    offer,
    row.reference ?? null,
    row.amountMicros === undefined ? null : { exact: exactUsd(row.amountMicros) },
    { exact: exactUsd(row.balanceMicros) },
    row.reason ?? null,
  ])
