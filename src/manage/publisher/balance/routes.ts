// A publisher's balance: what it is owed and was paid, by the ledger.
import { readBalances } from '../../../features/ledger/ledger.ts'
import { writeStatement } from '../../../features/ledger/statement.ts'
import { listMonths, listPayouts, type PeriodTotals, readPeriodTotals } from '../../../features/ledger/periods.ts'
import { readRange } from '../../../features/reports/stats.ts'
import { cutPage } from '../../../http/paging.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv } from '../../csv.ts'
import { publisherName } from '../../publisher-name.ts'
import { PeriodQuery } from '../reports/schema.ts'
import type { ManageRoutes } from '../../route.ts'
import { PublisherParams } from '../../shapes.ts'
import { Balance, PaymentList, PaymentListQuery, StatementList, StatementListQuery, StatementParams } from './schema.ts'

const TAG = 'Balance'

export function balanceRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/publishers/:publisher_id/balance', {
    id: 'getBalance',
    summary: 'Get the balance of a publisher',
    about: 'Pending, payable and paid amounts, and what changed in a period.',
    tag: TAG,
    access: 'finance',
    params: PublisherParams,
    query: PeriodQuery,
    reply: Balance,
    async run({ publisherId, query }) {
      const range = readRange({ ...query, timezone: query.timezone ?? 'UTC' }, new Date())
      const [from, to] = [new Date(range.fromMs), new Date(range.toMs)]
      const name = await publisherName(db, publisherId)
      const { pendingMicros, payableMicros, paidMicros } = await readBalances(db, { publisherId })
      return {
        publisher: { publisher_id: publisherId, name },
        pending: microsToUsd(pendingMicros),
        payable: microsToUsd(payableMicros),
        paid: microsToUsd(paidMicros),
        period: { from, to, ...presentTotals(await readPeriodTotals(db, publisherId, from, to)) },
      }
    },
  })

  routes.get('/publishers/:publisher_id/statements', {
    id: 'listStatements',
    summary: 'List monthly statements',
    about: 'Each month with its totals, newest first.',
    tag: TAG,
    access: 'finance',
    params: PublisherParams,
    query: StatementListQuery,
    reply: StatementList,
    async run({ publisherId, query: { cursor, limit = 12 } }) {
      await publisherName(db, publisherId)
      const now = new Date()
      const { months, hasMore } = await listMonths(db, publisherId, { before: cursor, limit, now })
      return {
        statements: months.map(({ month, closingMicros, ...totals }) => ({
          month,
          is_open: month === now.toISOString().slice(0, 7),
          ...presentTotals(totals),
          closing_balance: microsToUsd(closingMicros),
        })),
        next_cursor: hasMore ? (months.at(-1)?.month ?? null) : null,
      }
    },
  })

  routes.get('/publishers/:publisher_id/statements/:month', {
    id: 'downloadStatement',
    summary: 'Download a monthly statement as CSV',
    about: 'Every ledger entry of the month with the balance after it.',
    tag: TAG,
    access: 'finance',
    params: StatementParams,
    reply: CsvFile,
    async run({ publisherId, params: { month }, ...call }) {
      await publisherName(db, publisherId)
      await sendCsv(call, `statement-${publisherId}-${month}.csv`, writeStatement(db, publisherId, month))
      return ''
    },
  })

  routes.get('/publishers/:publisher_id/payments', {
    id: 'listPayments',
    summary: 'List the payments to a publisher',
    about: 'Newest first. Voided payments are included and marked.',
    tag: TAG,
    access: 'finance',
    params: PublisherParams,
    query: PaymentListQuery,
    reply: PaymentList,
    async run({ publisherId, query: { cursor, limit = 20 } }) {
      await publisherName(db, publisherId)
      const found = await listPayouts(db, publisherId, cursor, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ entry_id }) => String(entry_id))
      return {
        payments: page.map(({ entry_id, created_at, amount_micros, reference, voided_at }) => ({
          payment_id: entry_id,
          paid_at: created_at,
          amount: microsToUsd(amount_micros),
          reference: reference ?? '',
          voided_at,
        })),
        next_cursor: nextCursor,
      }
    },
  })
}

const presentTotals = ({ earnedMicros, reversedMicros, adjustedMicros, paidMicros }: PeriodTotals) => ({
  earned: microsToUsd(earnedMicros),
  reversed: microsToUsd(reversedMicros),
  adjusted: microsToUsd(adjustedMicros),
  paid: microsToUsd(paidMicros),
})
