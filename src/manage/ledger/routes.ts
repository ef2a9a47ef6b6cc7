// The operator's side of the ledger: who is owed, who owes, payment runs, receipts, and the proof that it is right.
import { AppError, OperatorError } from '../../errors.ts'
import { type Doer, recordDeed } from '../../features/accounts/audit.ts'
import { findAdvertiserName } from '../../features/accounts/advertisers.ts'
import { checkLedger, countLedger } from '../../features/ledger/check.ts'
import { readBalances } from '../../features/ledger/ledger.ts'
import { listDebtors, listMovements, listOwed } from '../../features/ledger/parties.ts'
import { recordPayout, recordReceipt } from '../../features/ledger/payments.ts'
import { exactUsd } from '../../features/ledger/statement.ts'
import { cutPage, readIdCursor } from '../../http/paging.ts'
import { csvLine } from '../../lib/csv-line.ts'
import { microsToUsd, parseUsd } from '../../lib/money.ts'
import type { ManageContext } from '../context.ts'
import { CsvFile, sendCsv } from '../csv.ts'
import { notThere } from '../gate.ts'
import type { ManageRoutes } from '../route.ts'
import {
  CheckReply,
  DebtorList,
  DebtorQuery,
  MovementList,
  MovementQuery,
  NetworkBalance,
  NewReceipt,
  OwedList,
  OwedQuery,
  PaymentRun,
  PaymentRunReply,
  ReceiptReply,
  RunQuery,
} from './schema.ts'

const TAG = 'Ledger'
const CSV_PAGE = 500

export function ledgerRoutes(routes: ManageRoutes, { db, pool }: ManageContext): void {
  routes.get('/ledger', {
    id: 'getNetworkBalance',
    summary: 'The balances of the network',
    tag: TAG,
    access: 'operator',
    reply: NetworkBalance,
    async run() {
      const all = await readBalances(db, 'network')
      return {
        receivable: microsToUsd(all.receivableMicros),
        cash: microsToUsd(all.cashMicros),
        pending: microsToUsd(all.pendingMicros),
        payable: microsToUsd(all.payableMicros),
        margin: microsToUsd(all.marginMicros),
      }
    },
  })

  routes.get('/ledger/publishers', {
    id: 'listOwed',
    summary: 'What each publisher is owed, most first',
    tag: TAG,
    access: 'operator',
    query: OwedQuery,
    reply: OwedList,
    async run({ query: { minimum = '0', search, limit = 50, offset = 0 } }) {
      const rows = await listOwed(db, readMicros(minimum, 'minimum'), { search, limit, offset })
      return {
        publishers: rows.map((row) => ({
          publisher_id: row.publisher_id,
          name: row.name,
          email: row.email,
          pending: microsToUsd(row.pending_micros),
          payable: microsToUsd(row.payable_micros),
          paid: microsToUsd(row.paid_micros),
          last_paid_at: row.last_paid_at,
          due: microsToUsd(row.due_micros),
        })),
        total: rows[0]?.total ?? 0,
        total_due: microsToUsd(rows[0]?.total_due_micros ?? 0),
      }
    },
  })

  routes.get('/ledger/payment-run.csv', {
    id: 'downloadPaymentRun',
    summary: 'Who is to be paid, as a CSV file',
    tag: TAG,
    access: 'operator',
    query: RunQuery,
    reply: CsvFile,
    async run({ query: { minimum = '0', search }, ...call }) {
      const minimumMicros = readMicros(minimum, 'minimum')
      const day = new Date().toISOString().slice(0, 10)
      await sendCsv(call, `payment-run-${day}.csv`, writeRun(minimumMicros, search))
      return ''
    },
  })

  async function* writeRun(minimumMicros: number, search: string | undefined): AsyncGenerator<string> {
    yield csvLine(['publisher_id', 'publisher', 'email', 'amount', 'currency'])
    for (let offset = 0; ; offset += CSV_PAGE) {
      const rows = await listOwed(db, minimumMicros, { search, limit: CSV_PAGE, offset })
      for (const { publisher_id, name, email, due_micros } of rows)
        if (due_micros > 0) yield csvLine([publisher_id, name, email, { exact: exactUsd(due_micros) }, 'USD'])
      if (rows.length < CSV_PAGE) return
    }
  }

  type Payment = { publisher_id: number; amount: number }

  /** One that cannot be recorded does not keep the others from being. */
  async function pay(by: Doer, { publisher_id, amount }: Payment, reference: string) {
    const amountMicros = readMicros(amount, 'amount')
    try {
      const payment = { publisherId: publisher_id, amountMicros, reference, at: new Date() }
      const { isNew, payableMicros } = await db.transaction().execute(async (trx) => {
        const recorded = await recordPayout(trx, payment)
        if (recorded.isNew)
          await recordDeed(trx, by, {
            action: 'payout.record',
            subject: recorded.postingId,
            publisherId: publisher_id,
            details: { amount, reference },
          })
        return recorded
      })
      const payable = microsToUsd(payableMicros)
      if (isNew) return { publisher_id, outcome: 'paid' as const, message: null, payable }
      return { publisher_id, outcome: 'already' as const, message: `"${reference}" was recorded before.`, payable }
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      return { publisher_id, outcome: 'refused' as const, message: error.message, payable: null }
    }
  }

  routes.post('/ledger/payment-runs', {
    id: 'recordPayments',
    summary: 'Record what publishers were paid; given twice under one reference, it counts once',
    tag: TAG,
    access: 'operator',
    body: PaymentRun,
    reply: PaymentRunReply,
    async run({ body: { reference, payments }, by }) {
      for (const { amount } of payments) readMicros(amount, 'amount')
      const results = []
      for (const payment of payments) results.push(await pay(by, payment, reference))
      return { results }
    },
  })

  routes.get('/ledger/advertisers', {
    id: 'listDebtors',
    summary: 'What each advertiser owes, most first',
    tag: TAG,
    access: 'operator',
    query: DebtorQuery,
    reply: DebtorList,
    async run({ query: { search, limit = 50, offset = 0 } }) {
      const rows = await listDebtors(db, { search, limit, offset })
      return {
        advertisers: rows.map((row) => ({
          advertiser_id: row.advertiser_id,
          name: row.name,
          receivable: microsToUsd(row.receivable_micros),
          received: microsToUsd(row.received_micros),
          last_received_at: row.last_received_at,
        })),
        total: rows[0]?.total ?? 0,
      }
    },
  })

  routes.post('/ledger/receipts', {
    id: 'recordReceipt',
    summary: 'Record what an advertiser paid',
    tag: TAG,
    access: 'operator',
    body: NewReceipt,
    reply: ReceiptReply,
    async run({ body: { advertiser_id, amount, reference }, by }) {
      const amountMicros = readMicros(amount, 'amount')
      const advertiser = await findAdvertiserName(db, advertiser_id)
      if (advertiser === null) throw notThere('There is no such advertiser.')
      const receipt = { advertiserId: advertiser_id, amountMicros, reference, at: new Date() }
      return db.transaction().execute(async (trx) => {
        const { postingId, isNew, receivableMicros } = await recordReceipt(trx, receipt)
        if (isNew)
          await recordDeed(trx, by, {
            action: 'receipt.record',
            subject: postingId,
            details: { advertiser_id, advertiser, amount, reference },
          })
        return { is_new: isNew, receivable: microsToUsd(receivableMicros) }
      })
    },
  })

  routes.get('/ledger/payments', {
    id: 'listNetworkPayments',
    summary: 'Payments recorded, newest first',
    tag: TAG,
    access: 'operator',
    query: MovementQuery,
    reply: MovementList,
    async run({ query: { kind, limit = 20, cursor } }) {
      const before = cursor === undefined ? undefined : readIdCursor(cursor)
      const found = await listMovements(db, { kind, before }, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ entry_id }) => String(entry_id))
      return {
        payments: page.map(({ posting_id, kind: is, party_id, name, amount_micros, reference, created_at }) => ({
          posting_id,
          kind: is,
          party_id,
          name,
          amount: microsToUsd(amount_micros),
          reference,
          created_at,
        })),
        next_cursor: nextCursor,
      }
    },
  })

  let isChecking = false
  routes.get('/ledger/check', {
    id: 'checkLedger',
    summary: 'Prove that the ledger is right, from its entries and the conversions; may take long',
    tag: TAG,
    access: 'operator',
    reply: CheckReply,
    async run() {
      if (isChecking) throw new AppError('CONFLICT', 'The ledger is being checked already. Wait for that to end.')
      isChecking = true
      const startedMs = Date.now()
      try {
        const counts = await countLedger({ pool })
        const problems = await checkLedger({ pool })
        const took_ms = Date.now() - startedMs
        return { is_right: problems.length === 0, ...counts, problems, checked_at: new Date(), took_ms }
      } finally {
        isChecking = false
      }
    },
  })
}

function readMicros(amount: number | string, name: string): number {
  const micros = parseUsd(amount)
  if (micros === null) throw new AppError('INVALID_REQUEST', 'Amounts have at most 4 decimals.', { [name]: 'Dollars with at most 4 decimals, such as 125.50.' }) // prettier-ignore
  return micros
}
