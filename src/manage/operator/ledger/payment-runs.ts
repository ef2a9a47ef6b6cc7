// Payment runs: created as a snapshot, exported, paid and cancelled as that.
import { AppError } from '../../../errors.ts'
import {
  cancelRun,
  createRun,
  exportRun,
  type LineResult,
  listRuns,
  payRun,
  type Run as StoredRun,
} from '../../../features/ledger/payment-runs.ts'
import { readLines, type RunLine, writeRunCsv } from '../../../features/ledger/run-lines.ts'
import type { Db } from '../../../db/open.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import { CsvFile, sendCsv } from '../../csv.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { readMicros } from './amounts.ts'
import {
  Cancelled,
  Cancelling,
  Exported,
  LineList,
  LineQuery,
  NewRun,
  Paid,
  Paying,
  Run,
  RunList,
  RunListQuery,
  RunParams,
} from './payment-run-schema.ts'

const TAG = 'Ledger'

async function readRun(db: Db, runId: number) {
  const [run] = await listRuns(db, { runId }, 1)
  if (run === undefined) throw notThere('There is no such payment run.')
  return presentRun(run)
}

export function paymentRunRoutes(routes: ManageRoutes, context: ManageContext): void {
  readRoutes(routes, context)
  changeRoutes(routes, context)
}

function readRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/ledger/payment-runs', {
    id: 'listPaymentRuns',
    summary: 'List payment runs',
    about: 'Newest first.',
    tag: TAG,
    access: 'operator',
    query: RunListQuery,
    reply: RunList,
    async run({ query: { limit = 20, cursor } }) {
      const { page, nextCursor } = cutPage(await listRuns(db, beforeId(cursor), limit + 1), limit, (one) =>
        String(one.run_id),
      )
      return { runs: page.map(presentRun), next_cursor: nextCursor }
    },
  })

  routes.get('/ledger/payment-runs/:run_id', {
    id: 'getPaymentRun',
    summary: 'Get a payment run',
    about: 'Its status and totals.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    reply: Run,
    run: ({ params }) => readRun(db, params.run_id),
  })

  routes.get('/ledger/payment-runs/:run_id/lines', {
    id: 'listPaymentRunLines',
    summary: 'List the lines of a payment run',
    about: 'One line per publisher, with its current balance.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    query: LineQuery,
    reply: LineList,
    async run({ params: { run_id }, query: { status, limit = 50, cursor } }) {
      await readRun(db, run_id)
      const filter = {
        ...(status === undefined ? {} : { status }),
        ...(cursor === undefined ? {} : { after: Number(cursor) }),
      }
      const found = await readLines(db, run_id, filter, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, (line) => String(line.publisher_id))
      return { lines: page.map(presentLine), next_cursor: nextCursor }
    },
  })

  routes.get('/ledger/payment-runs/:run_id/lines.csv', {
    id: 'downloadPaymentRun',
    summary: 'Download a payment run as CSV',
    about: 'The lines of an exported run that are still due.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    reply: CsvFile,
    async run({ params: { run_id }, ...call }) {
      const { status } = await readRun(db, run_id)
      if (status !== 'exported')
        throw new AppError(
          'CONFLICT',
          status === 'open' ? 'Export this payment run first.' : `This payment run is ${status}: nothing is due.`,
        )
      await sendCsv(call, `payment-run-${run_id}.csv`, writeRunCsv(db, run_id))
      return ''
    },
  })
}

function changeRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.post('/ledger/payment-runs', {
    id: 'createPaymentRun',
    summary: 'Create a payment run',
    about: 'Proposes a payment for every publisher whose payable balance reaches the minimum. No money is moved.',
    tag: TAG,
    access: 'operator',
    body: NewRun,
    reply: Run,
    async run({ body: { minimum = 0, publisher_ids = null }, by }) {
      const minimumMicros = readMicros(minimum, 'minimum')
      const wanted = { minimumMicros, publisherIds: publisher_ids, now: new Date() }
      return db.transaction().execute(async (trx) => {
        const { runId } = await createRun(trx, by, wanted)
        return readRun(trx, runId)
      })
    },
  })

  routes.post('/ledger/payment-runs/:run_id/export', {
    id: 'exportPaymentRun',
    summary: 'Export a payment run',
    about:
      'Fixes the amounts: lines that the balance no longer covers, and those of suspended publishers, are cancelled. Download the file afterwards.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    reply: Exported,
    async run({ params: { run_id }, by }) {
      return db.transaction().execute(async (trx) => {
        await readRun(trx, run_id)
        const { cancelled } = await exportRun(trx, by, run_id, new Date())
        return { run: await readRun(trx, run_id), cancelled: cancelled.length }
      })
    },
  })

  routes.post('/ledger/payment-runs/:run_id/pay', {
    id: 'payPaymentRun',
    summary: 'Mark a payment run as paid',
    about: 'All of it or some publishers. Each line is recorded once, however often you send this.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    body: Paying,
    reply: Paid,
    async run({ params: { run_id }, body: { publisher_ids = null, is_sent = false }, by }) {
      return db.transaction().execute(async (trx) => {
        await readRun(trx, run_id)
        const paying = { publisherIds: publisher_ids, isSent: is_sent, now: new Date() }
        const results = await payRun(trx, by, run_id, paying)
        return { run: await readRun(trx, run_id), results: results.map(presentResult) }
      })
    },
  })

  routes.post('/ledger/payment-runs/:run_id/cancel', {
    id: 'cancelPaymentRun',
    summary: 'Cancel a payment run',
    about: 'All that is due, or some publishers. The amounts stay on their balances.',
    tag: TAG,
    access: 'operator',
    params: RunParams,
    body: Cancelling,
    reply: Cancelled,
    async run({ params: { run_id }, body: { publisher_ids = null, reason }, by }) {
      return db.transaction().execute(async (trx) => {
        await readRun(trx, run_id)
        const cancelling = { publisherIds: publisher_ids, reason, now: new Date() }
        const cancelled = await cancelRun(trx, by, run_id, cancelling)
        return { run: await readRun(trx, run_id), cancelled }
      })
    },
  })
}

const presentRun = ({ minimum_micros, total_micros, due_micros, paid_micros, ...run }: StoredRun) => ({
  ...run,
  minimum: microsToUsd(minimum_micros),
  total: microsToUsd(total_micros),
  due_total: microsToUsd(due_micros),
  paid_total: microsToUsd(paid_micros),
})

const presentLine = ({ payable_micros, amount_micros, payable_now_micros, ...line }: RunLine) => ({
  ...line,
  payable: microsToUsd(payable_micros),
  amount: microsToUsd(amount_micros),
  payable_now: payable_now_micros === null ? null : microsToUsd(payable_now_micros),
})

const presentResult = ({ publisher_id, name, outcome, amount_micros, payable_micros }: LineResult) => ({
  publisher_id,
  name,
  outcome,
  amount: microsToUsd(amount_micros),
  payable: payable_micros === null ? null : microsToUsd(payable_micros),
})
