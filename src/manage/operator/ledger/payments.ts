// What was paid and received, adjusted and voided.
import type { Static } from 'typebox'
import { AppError } from '../../../errors.ts'
import { findAdvertiserName } from '../../../features/accounts/advertisers.ts'
import { type Party, recordAdjustment, voidPosting } from '../../../features/ledger/corrections.ts'
import { listMovements } from '../../../features/ledger/balances.ts'
import { recordPayout, recordReceipt } from '../../../features/ledger/payments.ts'
import { beforeId, cutPage } from '../../../http/paging.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { ManageContext } from '../../context.ts'
import { notThere } from '../../gate.ts'
import type { ManageRoutes } from '../../route.ts'
import { readMicros, readSignedMicros } from './amounts.ts'
import {
  AdjustmentReply,
  MovementList,
  MovementQuery,
  NewAdjustment,
  NewPayout,
  NewReceipt,
  NewVoid,
  PayoutReply,
  ReceiptReply,
  VoidParams,
  VoidReply,
} from './schema.ts'

const TAG = 'Ledger'

export function paymentRoutes(routes: ManageRoutes, context: ManageContext): void {
  recordRoutes(routes, context)
  correctionRoutes(routes, context)
}

function recordRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/ledger/payments', {
    id: 'listNetworkPayments',
    summary: 'List payments, receipts and adjustments',
    about: 'Newest first. Voided entries are marked.',
    tag: TAG,
    access: 'operator',
    query: MovementQuery,
    reply: MovementList,
    async run({ query: { kind, limit = 20, cursor } }) {
      const found = await listMovements(db, { kind, ...beforeId(cursor) }, limit + 1)
      const { page, nextCursor } = cutPage(found, limit, ({ entry_id }) => String(entry_id))
      return {
        payments: page.map(({ entry_id: _entryId, amount_micros, ...one }) => ({
          ...one,
          amount: microsToUsd(amount_micros),
        })),
        next_cursor: nextCursor,
      }
    },
  })

  routes.post('/ledger/payouts', {
    id: 'recordPayout',
    summary: 'Record a payment to a publisher',
    about: 'For payments outside of a payment run. Sent twice with one reference, it is recorded once.',
    tag: TAG,
    access: 'operator',
    body: NewPayout,
    reply: PayoutReply,
    async run({ body: { publisher_id: publisherId, amount, reference }, by }) {
      const payout = { publisherId, amountMicros: readMicros(amount, 'amount'), reference, at: new Date() }
      const { isNew, payableMicros } = await recordPayout(db, by, payout)
      return { is_new: isNew, payable: microsToUsd(payableMicros) }
    },
  })

  routes.post('/ledger/receipts', {
    id: 'recordReceipt',
    summary: 'Record a payment by an advertiser',
    about: 'Sent twice with one reference, it is recorded once.',
    tag: TAG,
    access: 'operator',
    body: NewReceipt,
    reply: ReceiptReply,
    async run({ body: { advertiser_id, amount, reference }, by }) {
      const amountMicros = readMicros(amount, 'amount')
      if ((await findAdvertiserName(db, advertiser_id)) === null) throw notThere('There is no such advertiser.')
      const receipt = { advertiserId: advertiser_id, amountMicros, reference, at: new Date() }
      const { isNew, receivableMicros } = await recordReceipt(db, by, receipt)
      return { is_new: isNew, receivable: microsToUsd(receivableMicros) }
    },
  })
}

function correctionRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.post('/ledger/adjustments', {
    id: 'recordAdjustment',
    summary: 'Credit or debit a publisher or advertiser',
    about: 'For example a bonus or a correction, with a reason that the statement shows.',
    tag: TAG,
    access: 'operator',
    body: NewAdjustment,
    reply: AdjustmentReply,
    async run({ body: { amount, reference, reason, ...whose }, by }) {
      const party = readParty(whose)
      const adjustment = { party, amountMicros: readSignedMicros(amount, 'amount'), reference, reason, at: new Date() }
      const { postingId, isNew, balanceMicros } = await db
        .transaction()
        .execute((trx) => recordAdjustment(trx, by, adjustment))
      return { is_new: isNew, posting_id: postingId, balance: microsToUsd(balanceMicros) }
    },
  })

  routes.post('/ledger/payments/:posting_id/void', {
    id: 'voidPayment',
    summary: 'Void a payment or an adjustment',
    about: 'Adds an entry that cancels it out. Nothing is deleted.',
    tag: TAG,
    access: 'operator',
    params: VoidParams,
    body: NewVoid,
    reply: VoidReply,
    async run({ params: { posting_id }, body: { reason }, by }) {
      const { isNew, balanceMicros } = await db
        .transaction()
        .execute((trx) => voidPosting(trx, by, { postingId: posting_id, reason, at: new Date() }))
      return { is_new: isNew, balance: microsToUsd(balanceMicros) }
    },
  })
}

function readParty({ publisher_id, advertiser_id }: Partial<Static<typeof NewAdjustment>>): Party {
  if (publisher_id !== undefined && advertiser_id === undefined) return { publisherId: publisher_id }
  if (advertiser_id !== undefined && publisher_id === undefined) return { advertiserId: advertiser_id }
  throw new AppError('INVALID_REQUEST', 'Give either publisher_id or advertiser_id.', {
    publisher_id: 'Give either publisher_id or advertiser_id.',
  })
}
