// Money that really moved: paid out to publishers, received from advertisers. A payment is identified by its reference,
// so that a repeated command does not pay twice.
//
// Locks: everything that pays a publisher holds the lock on payments, shared (a whole run: exclusively), so that a payment run is
// created from balances that no other command is paying out at that moment; then a lock for the party, so that its
// payments are serialized.
import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { LOCK_CLASSES, LOCKS } from '../../db/locks.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { exactUsd, microsToUsd } from '../../lib/money.ts'
import { findAdvertiserName } from '../accounts/advertisers.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { type Account, type Line, NETWORK, post, type Posting, readBalances } from './ledger.ts'

const MAX_TEXT = 200

/** A publisher with what it is owed, or an advertiser with what it owes. */
export type PartyAccount = { account: Account; partyId: number }

export const lockPaying = (trx: Trx, mode: 'shared' | 'exclusive') =>
  (mode === 'shared'
    ? sql`SELECT pg_advisory_xact_lock_shared(${LOCKS.payments}::bigint)`
    : sql`SELECT pg_advisory_xact_lock(${LOCKS.payments}::bigint)`
  ).execute(trx)

export const lockParty = (trx: Trx, { account, partyId }: PartyAccount) =>
  sql`SELECT pg_advisory_xact_lock(${LOCK_CLASSES.party}, hashtext(${`${account} ${partyId}`}))`.execute(trx)

type Payment = { amountMicros: number; reference: string; at: Date }

/** `isNew` is false when the same payment was recorded before; then nothing is recorded. */
export type Recorded = { postingId: string; isNew: boolean }

/**
 * Records a payment to a publisher, never more than is payable and not in an open payment run; returns what remains
 * payable.
 */
export async function recordPayout(
  db: Db,
  by: Actor,
  { publisherId, ...payment }: Payment & { publisherId: number },
): Promise<Recorded & { payableMicros: number }> {
  checkAmount(payment.amountMicros)
  const reference = readText(payment.reference, 'reference')
  const postingId = postingIdOf('payout', publisherId, reference)
  return inTransaction(db, async (trx) => {
    await lockPaying(trx, 'shared')
    // Post first, then check: a payment that does not fit is rolled back.
    const isNew = await postOnce(trx, payoutPosting({ ...payment, publisherId, postingId, reference }))
    const { payableMicros } = await readBalances(trx, { publisherId })
    if (isNew) {
      await checkRoom(trx, publisherId, payment.amountMicros, payableMicros)
      const details = { amount: microsToUsd(payment.amountMicros), reference }
      await recordAudit(trx, by, { action: 'payout.record', subject: postingId, publisherId, details })
    }
    return { postingId, isNew, payableMicros }
  })
}

type Payout = Payment & { publisherId: number; postingId: string }

export const payoutPosting = ({ postingId, publisherId, amountMicros, reference, at }: Payout): Posting => ({
  postingId,
  kind: 'payout',
  conversionId: null,
  reference,
  createdAt: at,
  lines: [
    { account: 'publisher_payable', partyId: publisherId, amountMicros },
    { account: 'cash', partyId: NETWORK, amountMicros: -amountMicros },
  ],
})

async function checkRoom(trx: Trx, publisherId: number, amountMicros: number, leftMicros: number): Promise<void> {
  const due = await trx
    .selectFrom('payment_run_lines')
    .select(['run_id', 'amount_micros'])
    .where('publisher_id', '=', publisherId)
    .where('status', '=', 'due')
    .executeTakeFirst()
  const before = exactUsd(leftMicros + amountMicros)
  if (leftMicros < 0)
    throw new OperatorError(
      `${exactUsd(amountMicros)} USD is more than the payable balance of ${before} USD.`,
      'amount',
    )
  if (due !== undefined && leftMicros < due.amount_micros)
    throw new OperatorError(
      `Of ${before} USD payable, ${exactUsd(due.amount_micros)} USD is in payment run ${due.run_id}. Pay or cancel that line first.`,
    )
}

/** Records a payment from an advertiser, even ahead of what it owes; returns what it still owes. */
export async function recordReceipt(
  db: Db,
  by: Actor,
  { advertiserId, amountMicros, at, ...payment }: Payment & { advertiserId: number },
): Promise<Recorded & { receivableMicros: number }> {
  checkAmount(amountMicros)
  const reference = readText(payment.reference, 'reference')
  const postingId = postingIdOf('receipt', advertiserId, reference)
  const lines: Line[] = [
    { account: 'cash', partyId: NETWORK, amountMicros },
    { account: 'advertiser_receivable', partyId: advertiserId, amountMicros: -amountMicros },
  ]
  return inTransaction(db, async (trx) => {
    const posting: Posting = { postingId, kind: 'receipt', conversionId: null, reference, createdAt: at, lines }
    const isNew = await postOnce(trx, posting)
    if (isNew) {
      const advertiser = await findAdvertiserName(trx, advertiserId)
      const details = { advertiser_id: advertiserId, advertiser, amount: microsToUsd(amountMicros), reference }
      await recordAudit(trx, by, { action: 'receipt.record', subject: postingId, details })
    }
    const { receivableMicros } = await readBalances(trx, { advertiserId })
    return { postingId, isNew, receivableMicros }
  })
}

function checkAmount(amountMicros: number): void {
  if (!Number.isSafeInteger(amountMicros) || amountMicros <= 0)
    throw new OperatorError('The amount must be above 0.', 'amount')
}

export function readText(text: string, what: 'reference' | 'reason'): string {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.length > MAX_TEXT || /\p{Cc}/u.test(trimmed))
    throw new OperatorError(`The ${what} must have 1 to ${MAX_TEXT} characters, all of them printable.`, what)
  return trimmed
}

/** Deterministic (UUIDv8 of a hash), so that the database itself refuses a second payment. */
export function postingIdOf(...parts: (string | number)[]): string {
  const hex = hash('sha256', parts.join(' '))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** False when the reference was used for the same payment; throws when it was used for a different one. */
export async function postOnce(trx: Trx, posting: Posting): Promise<boolean> {
  const line = posting.lines.find(({ partyId }) => partyId !== NETWORK)
  if (line === undefined) throw new Error('A payment has a party.')
  await lockParty(trx, line)
  const before = await trx
    .selectFrom('ledger_entries')
    .select(['amount_micros', 'reason'])
    .where('kind', '<>', 'conversion')
    .where('posting_id', '=', posting.postingId)
    .where('party_id', '=', line.partyId)
    .where('account', '=', line.account)
    .executeTakeFirst()
  if (before === undefined) {
    await post(trx, [posting])
    return true
  }
  if (before.amount_micros !== line.amountMicros) throw usedFor(posting, before.amount_micros, line.amountMicros)
  const voided = await trx
    .selectFrom('ledger_entries')
    .select('entry_id')
    .where('voids', '=', posting.postingId)
    .executeTakeFirst()
  if (voided !== undefined)
    throw new OperatorError(
      `The entry with the reference "${posting.reference}" was voided, so nothing was recorded. Choose another reference.`,
    )
  return false
}

function usedFor({ reference, kind }: Posting, usedMicros: number, askedMicros: number): OperatorError {
  // The sign the party sees: a credit is positive, though it is negative in the books.
  const isSigned = kind === 'adjustment'
  const [used, asked] = [usedMicros, askedMicros].map((micros) => exactUsd(isSigned ? -micros : Math.abs(micros)))
  return new OperatorError(
    `The reference "${reference}" was already used for ${used} USD, not ${asked} USD. Nothing was recorded: choose another reference.`,
  )
}
