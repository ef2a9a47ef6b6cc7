// The operator's decision about a proposal. An approved one is written as an edit of the operator's is: with the same rules,
// history and counting of caps, and pinned where the offer comes from a feed.
import { type Db, inTransaction } from '../../../db/open.ts'
import { AppError } from '../../../errors.ts'
import type { Actor } from '../../accounts/audit.ts'
import { queueMail } from '../../accounts/mails.ts'
import { countCaps } from '../cap-counts.ts'
import { FIELDS, showFields } from '../fields.ts'
import { changeOffer, createOffer } from '../edit-offers.ts'
import { readOffer } from '../import-record.ts'
import { lockOffer, type RecordedOffer, showOffer } from '../offers.ts'
import { warningsOf } from '../offer-warnings.ts'
import { findProposal, lockWaiting, type Proposal, settleProposal } from './proposals.ts'
import { compareProposed, listProposed, previewOf, recordOf } from './proposed-fields.ts'

const MAIL_MS = 3 * 86_400_000

/** `fields`: what the operator decides otherwise, or besides; payouts of new goals among it. `seen` as in `changeOffer`. */
export type Approval = { fields?: Record<string, unknown>; seen?: Date | null }

/** Returns the offer's ID. In a caller's transaction, `countCaps` must follow. */
export async function approveProposal(
  db: Db,
  by: Actor,
  proposalId: number,
  { fields = {}, seen }: Approval,
  now: Date,
): Promise<number> {
  const offerId = await inTransaction(db, async (trx) => {
    const proposal = await lockWaiting(trx, proposalId)
    const { advertiser_id: advertiserId, offer_id } = proposal
    if (offer_id !== null) await lockOffer(trx, offer_id)
    const current = offer_id === null ? null : await showOffer(trx, offer_id)
    if (current !== null && hasMoved(proposal, current))
      throw new AppError('CONFLICT', 'This offer now belongs to another advertiser. Refuse the proposal.')
    const offer = readOffer({
      ...recordOf(proposal.fields, ownerOf(proposal), current),
      ...fields,
      ...ownerOf(proposal),
    })
    const details = { proposal_id: proposalId }
    const written = offer_id ?? (await createOffer(trx, by, { advertiserId, offer, details }, now))
    if (offer_id !== null) await changeOffer(trx, by, { offerId: offer_id, offer, seen, details }, now)
    await settleProposal(trx, by, proposalId, { status: 'approved', offer_id: written })
    await queueMail(trx, { kind: 'proposal_decision', about: proposalId, expiresAt: new Date(now.getTime() + MAIL_MS) })
    return written
  })
  if (!db.isTransaction) await countCaps(db, now)
  return offerId
}

export async function refuseProposal(db: Db, by: Actor, proposalId: number, reason: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockWaiting(trx, proposalId)
    await settleProposal(trx, by, proposalId, { status: 'refused', reason })
    await queueMail(trx, { kind: 'proposal_decision', about: proposalId, expiresAt: new Date(now.getTime() + MAIL_MS) })
  })
}

const ownerOf = ({ advertiser, external_id }: Proposal) => ({ advertiser, external_id })
const hasMoved = (proposal: Proposal, offer: RecordedOffer) => offer.advertiser_id !== proposal.advertiser_id

/** What an operator decides about: as long as it waits, against the offer as it is now. */
export async function reviewProposal(db: Db, proposalId: number) {
  const proposal = await findProposal(db, proposalId)
  const { status, offer_id, fields, before } = proposal
  if (status !== 'waiting') return { ...proposal, ...DECIDED, changes: listProposed(proposal) }
  const offer = offer_id === null ? null : await showOffer(db, offer_id)
  return {
    ...proposal,
    ...preview(proposal, offer),
    changes: compareProposed({ fields, before }, offer),
    seen_updated_at: offer?.updated_at ?? null,
    has_moved: offer !== null && hasMoved(proposal, offer),
  }
}

const DECIDED = { seen_updated_at: null, has_moved: false, record: null, problem: null, warnings: [] }

/** What would be written. The offer may have changed so that the proposal does not fit any more. */
function preview(proposal: Proposal, offer: RecordedOffer | null) {
  const merged = recordOf(proposal.fields, ownerOf(proposal), offer)
  try {
    const written = previewOf(merged)
    const record = showFields(FIELDS, written)
    const goals = record.goals.map((goal, i) => ({ ...goal, payout: 'payout' in (merged.goals[i] ?? {}) ? goal.payout : null })) // prettier-ignore
    return { record: { ...record, goals }, problem: null, warnings: warningsOf(written.goals) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { record: null, problem: error.message, warnings: [] }
  }
}
