// Money that really moved: paid out to publishers, received from advertisers. A payment is known by its reference, so
// that a command given twice does not pay twice.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { type Line, NETWORK, post, type Posting, readBalances } from './ledger.ts'
import { exactUsd } from './statement.ts'

const MAX_REFERENCE = 200
const PAYMENT_LOCK = 0x0ff3_0008

type Payment = { amountMicros: number; reference: string; at: Date }

/** `isNew` false: this very payment was recorded before, and nothing was recorded now. */
type Recorded = { postingId: string; isNew: boolean }

/** Records what was paid to a publisher, never more than is payable; returns what is payable still. */
export async function recordPayout(
  db: Db,
  input: Payment & { publisherId: number },
): Promise<Recorded & { payableMicros: number }> {
  const { publisherId, amountMicros } = input
  const posting = paymentPosting('payout', publisherId, input, [
    { account: 'publisher_payable', partyId: publisherId, amountMicros },
    { account: 'cash', partyId: NETWORK, amountMicros: -amountMicros },
  ])
  return inTransaction(db, async (trx) => {
    // One payout of a publisher at a time. Post first, then look: what does not fit is rolled back.
    const isNew = await postOnce(trx, posting)
    const { payableMicros } = await readBalances(trx, { publisherId })
    if (isNew && payableMicros < 0) {
      const payable = exactUsd(payableMicros + amountMicros)
      throw new OperatorError(`${exactUsd(amountMicros)} USD is more than is payable, which is ${payable} USD.`)
    }
    return { postingId: posting.postingId, isNew, payableMicros }
  })
}

/** Records what an advertiser paid, also ahead of what it owes; returns what it owes still. */
export async function recordReceipt(
  db: Db,
  input: Payment & { advertiserId: number },
): Promise<Recorded & { receivableMicros: number }> {
  const { advertiserId, amountMicros } = input
  const posting = paymentPosting('receipt', advertiserId, input, [
    { account: 'cash', partyId: NETWORK, amountMicros },
    { account: 'advertiser_receivable', partyId: advertiserId, amountMicros: -amountMicros },
  ])
  return inTransaction(db, async (trx) => {
    const isNew = await postOnce(trx, posting)
    const { receivableMicros } = await readBalances(trx, { advertiserId })
    return { postingId: posting.postingId, isNew, receivableMicros }
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

/**
 * Payments of one party come one after the other, so that a reference which was used is seen. False when it was used for
 * the same payment; for another one it is refused.
 */
async function postOnce(trx: Trx, posting: Posting): Promise<boolean> {
  const [line] = posting.lines.filter(({ partyId }) => partyId !== NETWORK)
  if (line === undefined) throw new Error('A payment has a party.')
  await sql`SELECT pg_advisory_xact_lock(${PAYMENT_LOCK}, hashtext(${`${line.account} ${line.partyId}`}))`.execute(trx)
  const before = await trx
    .selectFrom('ledger_entries')
    .select('amount_micros')
    .where('kind', '<>', 'conversion')
    .where('party_id', '=', line.partyId)
    .where('account', '=', line.account)
    .where('posting_id', '=', posting.postingId)
    .executeTakeFirst()
  if (before === undefined) {
    await post(trx, [posting])
    return true
  }
  if (before.amount_micros === line.amountMicros) return false
  const [used, asked] = [before.amount_micros, line.amountMicros].map((micros) => exactUsd(Math.abs(micros)))
  throw new OperatorError(
    `The reference "${posting.reference}" was used for a payment of ${used} USD, not of ${asked} USD. Nothing was recorded: give this payment another reference.`,
  )
}
