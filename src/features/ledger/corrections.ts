// Mistakes are corrected by further postings, never by an edit: a void undoes a payment or an adjustment, once; an
// adjustment credits or debits a publisher or an advertiser against the network's margin. Each needs a reason.
import { isUuid } from '../../lib/uuid7.ts'
import type { Trx } from '../../db/open.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { microsToUsd } from '../../lib/money.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { type Account, NETWORK, post, type Posting, readBalances } from './ledger.ts'
import { lockParty, postingIdOf, postOnce, readText, type Recorded } from './payments.ts'

export type Party = { publisherId: number } | { advertiserId: number }

/** What is owed to the publisher, or by the advertiser, afterwards. */
type Left = { balanceMicros: number }

/** A positive amount is in the party's favour: the publisher is owed more, the advertiser owes less. */
export type Adjustment = { party: Party; amountMicros: number; reference: string; reason: string; at: Date }

export async function recordAdjustment(
  trx: Trx,
  by: Actor,
  { party, amountMicros, at, ...said }: Adjustment,
): Promise<Recorded & Left> {
  if (!Number.isSafeInteger(amountMicros) || amountMicros === 0)
    throw new OperatorError('The amount must be above 0 for a credit, below 0 for a debit.', 'amount')
  const [reference, reason] = [readText(said.reference, 'reference'), readText(said.reason, 'reason')]
  await checkParty(trx, party)
  const { account, partyId } = accountOf(party)
  const postingId = postingIdOf('adjustment', account, partyId, reference)
  const isNew = await postOnce(trx, {
    postingId,
    kind: 'adjustment',
    conversionId: null,
    reference,
    reason,
    createdAt: at,
    lines: [
      { account, partyId, amountMicros: -amountMicros },
      { account: 'network_margin', partyId: NETWORK, amountMicros },
    ],
  })
  if (isNew) {
    const details = { ...idOf(party), amount: microsToUsd(amountMicros), reference, reason }
    await recordAudit(trx, by, { action: 'adjustment.record', subject: postingId, ...publisherOf(party), details })
  }
  return { postingId, isNew, balanceMicros: await readBalance(trx, party) }
}

export type Voided = Recorded & Left & { party: Party; kind: Posting['kind']; amountMicros: number; reference: string }

/** Undoes a payment or an adjustment. Idempotent: a repeat reports that and changes nothing. */
export async function voidPosting(
  trx: Trx,
  by: Actor,
  asked: { postingId: string; reason: string; at: Date },
): Promise<Voided> {
  const reason = readText(asked.reason, 'reason')
  const { line, lines, kind, reference } = await readPosting(trx, asked.postingId)
  const party = line.account === 'publisher_payable' ? { publisherId: line.partyId } : { advertiserId: line.partyId }
  await lockParty(trx, line)
  const postingId = postingIdOf('void', asked.postingId)
  const before = await trx
    .selectFrom('ledger_entries')
    .select('entry_id')
    .where('voids', '=', asked.postingId)
    .executeTakeFirst()
  const { amountMicros } = line
  if (before === undefined) {
    const undone = lines.map((one) => ({ ...one, amountMicros: -one.amountMicros }))
    const said = { reference, voids: asked.postingId, reason }
    await post(trx, [{ postingId, kind, conversionId: null, ...said, createdAt: asked.at, lines: undone }])
    const whose = 'advertiserId' in party ? idOf(party) : {}
    const details = { ...whose, amount: microsToUsd(Math.abs(amountMicros)), reference, reason }
    await recordAudit(trx, by, { action: `${kind}.void`, subject: asked.postingId, ...publisherOf(party), details })
  }
  const balanceMicros = await readBalance(trx, party)
  return { postingId, isNew: before === undefined, party, kind, amountMicros, reference, balanceMicros }
}

async function readPosting(trx: Trx, postingId: string) {
  const rows = isUuid(postingId)
    ? await trx
        .selectFrom('ledger_entries')
        .select(['kind', 'account', 'party_id', 'amount_micros', 'reference', 'voids'])
        .where('posting_id', '=', postingId)
        .execute()
    : []
  const lines = rows.map((row) => ({
    account: row.account as Account,
    partyId: row.party_id,
    amountMicros: row.amount_micros,
  }))
  const [row] = rows
  const line = lines.find(({ partyId }) => partyId !== NETWORK)
  if (row?.kind === 'conversion')
    throw new OperatorError('This posting belongs to a conversion. Reverse the conversion instead.')
  if (row === undefined || line === undefined) throw new NoSuch('payment or adjustment', postingId)
  if (row.voids !== null)
    throw new OperatorError(
      'This entry is itself a void, and cannot be voided. Record the payment or adjustment again instead.',
    )
  return { line, lines, kind: row.kind as Posting['kind'], reference: row.reference ?? '' }
}

async function checkParty(trx: Trx, party: Party): Promise<void> {
  const query =
    'publisherId' in party
      ? trx.selectFrom('publishers').select('name').where('publisher_id', '=', party.publisherId)
      : trx.selectFrom('advertisers').select('name').where('advertiser_id', '=', party.advertiserId)
  if ((await query.executeTakeFirst()) === undefined)
    throw 'publisherId' in party
      ? new NoSuch('publisher', party.publisherId)
      : new NoSuch('advertiser', party.advertiserId)
}

const publisherOf = (party: Party) => ('publisherId' in party ? { publisherId: party.publisherId } : {})

const idOf = (party: Party) =>
  'publisherId' in party ? { publisher_id: party.publisherId } : { advertiser_id: party.advertiserId }

const accountOf = (party: Party): { account: Account; partyId: number } =>
  'publisherId' in party
    ? { account: 'publisher_payable', partyId: party.publisherId }
    : { account: 'advertiser_receivable', partyId: party.advertiserId }

const readBalance = async (trx: Trx, party: Party): Promise<number> =>
  'publisherId' in party
    ? (await readBalances(trx, party)).payableMicros
    : (await readBalances(trx, party)).receivableMicros
