// The operator's side of the ledger: who is owed, who owes, and the proof that it is right.
import { AppError } from '../../../errors.ts'
import { checkLedger, countLedger } from '../../../features/ledger/check.ts'
import { readBalances } from '../../../features/ledger/ledger.ts'
import { listAdvertiserBalances, listPublisherBalances } from '../../../features/ledger/balances.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { readMicros } from './amounts.ts'
import { paymentRoutes } from './payments.ts'
import { paymentRunRoutes } from './payment-runs.ts'
import { CheckReply, DebtorList, DebtorQuery, NetworkBalance, OwedList, OwedQuery } from './schema.ts'

const TAG = 'Ledger'

export function ledgerRoutes(routes: ManageRoutes, context: ManageContext): void {
  balanceLists(routes, context)
  paymentRunRoutes(routes, context)
  paymentRoutes(routes, context)
  checkRoute(routes, context)
}

function balanceLists(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/ledger', {
    id: 'getNetworkBalance',
    summary: 'Get the balances of the network',
    about: 'Totals over all publishers and advertisers, and the margin.',
    tag: TAG,
    access: 'operator',
    reply: NetworkBalance,
    async run() {
      const all = await readBalances(db, 'network')
      return {
        receivable: microsToUsd(all.receivableMicros),
        unconfirmed: microsToUsd(all.unconfirmedMicros),
        cash: microsToUsd(all.cashMicros),
        pending: microsToUsd(all.pendingMicros),
        payable: microsToUsd(all.payableMicros),
        margin: microsToUsd(all.marginMicros),
      }
    },
  })

  routes.get('/ledger/publishers', {
    id: 'listOwed',
    summary: 'List what publishers are owed',
    about: 'Highest balance first.',
    tag: TAG,
    access: 'operator',
    query: OwedQuery,
    reply: OwedList,
    async run({ query: { minimum = '0', search, limit = 50, offset = 0 } }) {
      const rows = await listPublisherBalances(db, readMicros(minimum, 'minimum'), { search, limit, offset })
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
          is_suspended: row.is_suspended,
          run_id: row.run_id,
        })),
        total: rows[0]?.total ?? 0,
        total_due: microsToUsd(rows[0]?.total_due_micros ?? 0),
      }
    },
  })

  routes.get('/ledger/advertisers', {
    id: 'listDebtors',
    summary: 'List what advertisers owe',
    about: 'Highest balance first.',
    tag: TAG,
    access: 'operator',
    query: DebtorQuery,
    reply: DebtorList,
    async run({ query: { search, limit = 50, offset = 0 } }) {
      const rows = await listAdvertiserBalances(db, { search, limit, offset })
      return {
        advertisers: rows.map((row) => ({
          advertiser_id: row.advertiser_id,
          name: row.name,
          receivable: microsToUsd(row.receivable_micros),
          unconfirmed: microsToUsd(row.unconfirmed_micros),
          received: microsToUsd(row.received_micros),
          last_received_at: row.last_received_at,
        })),
        total: rows[0]?.total ?? 0,
      }
    },
  })
}

function checkRoute(routes: ManageRoutes, { pool }: ManageContext): void {
  let isChecking = false
  routes.get('/ledger/check', {
    id: 'checkLedger',
    summary: 'Check the ledger',
    about: 'Recalculates every balance from entries and conversions, and lists differences. May take a while.',
    tag: TAG,
    access: 'operator',
    reply: CheckReply,
    async run() {
      if (isChecking) throw new AppError('CONFLICT', 'A ledger check is already running. Wait until it is done.')
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
