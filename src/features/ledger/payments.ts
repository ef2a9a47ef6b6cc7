// Money that really moved: paid out to publishers, received from advertisers. A payment is known by its reference, so
// that a command given twice does not pay twice.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { isUniqueViolation } from '../../db/faults.ts'
import type { Db, Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { type Line, NETWORK, post, type Posting, readBalances } from './ledger.ts'
import { exactUsd } from './statement.ts'

const MAX_REFERENCE = 200
const PAYOUT_LOCK = 0x0ff3_0008

type Payment = { amountMicros: number; reference: string; at: Date }

/** Records what was paid to a publisher, never more than is payable; returns what is payable still. */
export async function recordPayout(db: Db, input: Payment & { publisherId: number }) {
  const { publisherId, amountMicros } = input
  const posting = paymentPosting('payout', publisherId, input, [
    { account: 'publisher_payable', partyId: publisherId, amountMicros },
    { account: 'cash', partyId: NETWORK, amountMicros: -amountMicros },
  ])
  return db.transaction().execute(async (trx) => {
    // One payout of a publisher at a time. Post first, then look: what does not fit is rolled back.
    await sql`SELECT pg_advisory_xact_lock(${PAYOUT_LOCK}, hashint8(${publisherId}))`.execute(trx)
    await postOnce(trx, posting, 'This publisher was paid')
    const { payableMicros } = await readBalances(trx, { publisherId })
    if (payableMicros < 0) {
      const payable = exactUsd(payableMicros + amountMicros)
      throw new OperatorError(`${exactUsd(amountMicros)} USD is more than is payable, which is ${payable} USD.`)
    }
    return { postingId: posting.postingId, payableMicros }
  })
}

/** Records what an advertiser paid, also ahead of what it owes; returns what it owes still. */
export async function recordReceipt(db: Db, input: Payment & { advertiserId: number }) {
  const { advertiserId, amountMicros } = input
  const posting = paymentPosting('receipt', advertiserId, input, [
    { account: 'cash', partyId: NETWORK, amountMicros },
    { account: 'advertiser_receivable', partyId: advertiserId, amountMicros: -amountMicros },
  ])
  return db.transaction().execute(async (trx) => {
    await postOnce(trx, posting, 'A receipt from this advertiser was recorded')
    const { receivableMicros } = await readBalances(trx, { advertiserId })
    return { postingId: posting.postingId, receivableMicros }
  })
}

function paymentPosting(kind: 'payout' | 'receipt', partyId: number, payment: Payment, lines: Line[]): Posting {
  const reference = payment.reference.trim()
  if (reference === '' || reference.length > MAX_REFERENCE || /\p{Cc}/u.test(reference))
    throw new OperatorError(`The reference must have 1 to ${MAX_REFERENCE} characters, all of them printable.`)
  if (!Number.isSafeInteger(payment.amountMicros) || payment.amountMicros <= 0)
    throw new OperatorError('The amount must be above 0.')
  const postingId = paymentId(kind, partyId, reference)
  return { postingId, kind, conversionId: null, reference, createdAt: payment.at, lines }
}

/** The same for the same reference (UUIDv8, of a hash), so that the database itself refuses a second payment. */
function paymentId(kind: string, partyId: number, reference: string): string {
  const hex = hash('sha256', `${kind} ${partyId} ${reference}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

async function postOnce(trx: Trx, posting: Posting, what: string): Promise<void> {
  try {
    await post(trx, [posting])
  } catch (error) {
    if (isUniqueViolation(error))
      throw new OperatorError(`${what} under the reference "${posting.reference}" already: nothing was recorded now.`)
    throw error
  }
}
