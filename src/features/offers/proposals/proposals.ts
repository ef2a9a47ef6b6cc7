// Proposals of advertisers: new offers, and changes of their own offers.
//
//   waiting -> approved | refused   by an operator (decide.ts): only then is anything written to the catalogue
//           -> withdrawn            by the advertiser
//
// A proposal belongs to the advertiser, not to the person who wrote it: it stays when that person is disabled. Of two who
// decide at once the row lock lets one, and the other hears what was decided.
import { isUniqueViolation } from '../../../db/pg-errors.ts'
import { type Db, inTransaction, type Trx } from '../../../db/open.ts'
import { AppError, badRequest, NoSuch } from '../../../errors.ts'
import { type Actor, recordAudit } from '../../accounts/audit.ts'
import { findAdvertiserName } from '../../accounts/advertisers.ts'
import { queueAtMostHourly } from '../../accounts/mails.ts'
import { requireImage } from '../images.ts'
import { type RecordedOffer, showOffer } from '../offers.ts'
import { type ProposedFields, readProposed } from './proposed-fields.ts'

export const PROPOSAL_STATUSES = ['waiting', 'approved', 'refused', 'withdrawn'] as const
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number]

/** Of one advertiser. */
export const MAX_WAITING = 50
const DAY_MS = 86_400_000

export type Proposal = Awaited<ReturnType<typeof findProposal>>

/** For the operators' queue. */
export const PROPOSALS_WAITING = { kind: 'proposals_waiting', about: 'queue' } as const

type NewProposal = { advertiserId: number; fields: ProposedFields } & ({ offerId: number } | { externalId: string })

/** Returns its ID. */
export async function propose(db: Db, by: Actor, proposal: NewProposal, now: Date): Promise<number> {
  try {
    return await inTransaction(db, (trx) => writeProposal(trx, by, proposal, now))
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('CONFLICT', 'This offer already has an open proposal. Withdraw that proposal to submit another.') // prettier-ignore
  }
}

async function writeProposal(trx: Trx, by: Actor, proposal: NewProposal, now: Date): Promise<number> {
  const { advertiserId } = proposal
  // Locked, so that two at once are not both the last that fits.
  await trx
    .selectFrom('advertisers')
    .select('name')
    .where('advertiser_id', '=', advertiserId)
    .forNoKeyUpdate()
    .execute()
  const advertiser = await findAdvertiserName(trx, advertiserId)
  if (advertiser === null) throw new NoSuch('advertiser', advertiserId)
  const offer = 'offerId' in proposal ? await showOffer(trx, proposal.offerId) : null
  if (offer !== null && offer.advertiser_id !== advertiserId) throw new NoSuch('offer', offer.offer_id)
  const external_id = 'externalId' in proposal ? proposal.externalId.trim() : (offer?.external_id ?? '')
  if (offer === null) await refuseTaken(trx, advertiserId, external_id)
  const { fields, before } = readProposed(proposal.fields, { advertiser, external_id }, offer)
  if (Object.keys(fields).length === 0) throw new AppError('INVALID_REQUEST', 'Nothing would change.')
  await requireImage(trx, (fields.image_url ?? null) as string | null)
  if ((await countWaiting(trx, advertiserId)) >= MAX_WAITING)
    throw new AppError('CONFLICT', `${MAX_WAITING} of your proposals are waiting. Wait until some are decided, or withdraw one.`) // prettier-ignore
  const { proposal_id } = await trx
    .insertInto('offer_proposals')
    .values({
      advertiser_id: advertiserId,
      offer_id: offer?.offer_id ?? null,
      is_new: offer === null,
      external_id,
      fields: JSON.stringify(fields),
      before: JSON.stringify(before),
      proposed_by: by.email,
    })
    .returning('proposal_id')
    .executeTakeFirstOrThrow()
  const details = { advertiser_id: advertiserId, offer_id: offer?.offer_id ?? null, fields: Object.keys(fields) }
  await recordAudit(trx, by, { action: 'offer_proposal.create', subject: proposal_id, details })
  await queueAtMostHourly(trx, PROPOSALS_WAITING, now)
  return proposal_id
}

async function refuseTaken(trx: Trx, advertiserId: number, externalId: string): Promise<void> {
  const taken = await trx
    .selectFrom('offers')
    .select('offer_id')
    .where('advertiser_id', '=', advertiserId)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
  if (taken !== undefined)
    throw badRequest({ external_id: `Your offer ${taken.offer_id} already has this external ID.` })
}

/** Decides about a proposal that still waits, and keeps others from doing so meanwhile. */
export async function settleProposal(
  trx: Trx,
  by: Actor,
  proposalId: number,
  decision: { status: Exclude<ProposalStatus, 'waiting'>; reason?: string; offer_id?: number },
): Promise<void> {
  await trx
    .updateTable('offer_proposals')
    .set((is) => ({ ...decision, decided_by: by.email, decided_at: is.fn('now') }))
    .where('proposal_id', '=', proposalId)
    .execute()
  const { status, ...details } = decision
  const verb = ({ approved: 'approve', refused: 'refuse', withdrawn: 'withdraw' } as const)[status]
  await recordAudit(trx, by, { action: `offer_proposal.${verb}`, subject: proposalId, details })
}

export async function lockWaiting(trx: Trx, proposalId: number): Promise<Proposal> {
  await trx.selectFrom('offer_proposals').select('status').where('proposal_id', '=', proposalId).forUpdate().execute()
  const proposal = await findProposal(trx, proposalId)
  const { status, decided_by } = proposal
  if (status !== 'waiting')
    throw new AppError('CONFLICT', `This proposal was already ${status} by ${decided_by ?? 'someone'}.`)
  return proposal
}

/** By its advertiser. */
export async function withdrawProposal(db: Db, by: Actor, advertiserId: number, proposalId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await findProposal(trx, proposalId, advertiserId)
    await lockWaiting(trx, proposalId)
    await settleProposal(trx, by, proposalId, { status: 'withdrawn' })
  })
}

const proposals = (db: Db) =>
  db
    .selectFrom('offer_proposals as p')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'p.advertiser_id')
    // The name of an offer that has moved is none of its former advertiser's business.
    .leftJoin('offers', (on) =>
      on.onRef('offers.offer_id', '=', 'p.offer_id').onRef('offers.advertiser_id', '=', 'p.advertiser_id'),
    ) // prettier-ignore
    .select([
      'proposal_id',
      'p.advertiser_id',
      'advertisers.name as advertiser',
      'p.offer_id',
      'is_new',
      'p.external_id',
    ])
    .select(['fields', 'before', 'p.status', 'proposed_by', 'p.created_at', 'decided_by', 'decided_at', 'reason'])
    .select('offers.name as offer_name')

type Row = Awaited<ReturnType<ReturnType<typeof proposals>['execute']>>[number]

const present = ({ fields, before, status, offer_name, ...row }: Row) => ({
  ...row,
  name: offer_name ?? String((fields as ProposedFields).name ?? row.external_id),
  status: status as ProposalStatus,
  fields: fields as ProposedFields,
  before: before as ProposedFields,
})

/** `advertiserId`: only of this one. */
export async function findProposal(db: Db, proposalId: number, advertiserId?: number) {
  const row = await proposals(db).where('proposal_id', '=', proposalId).executeTakeFirst()
  if (row === undefined || (advertiserId ?? row.advertiser_id) !== row.advertiser_id)
    throw new AppError('RESOURCE_NOT_FOUND', 'There is no such proposal.')
  return present(row)
}

export type ProposalFilter = { advertiserId?: number; status?: ProposalStatus; before?: number }

/** Newest first. */
export async function listProposals(db: Db, filter: ProposalFilter, limit: number): Promise<Proposal[]> {
  const { advertiserId, status, before } = filter
  let query = proposals(db)
  if (advertiserId !== undefined) query = query.where('p.advertiser_id', '=', advertiserId)
  if (status !== undefined) query = query.where('p.status', '=', status)
  if (before !== undefined) query = query.where('proposal_id', '<', before)
  return (await query.orderBy('proposal_id', 'desc').limit(limit).execute()).map(present)
}

/** The ID of what is proposed for this offer; null: nothing is. */
export async function findWaiting(
  db: Db,
  { advertiser_id, external_id }: Pick<RecordedOffer, 'advertiser_id' | 'external_id'>,
) {
  const row = await db
    .selectFrom('offer_proposals')
    .select('proposal_id')
    .where('advertiser_id', '=', advertiser_id)
    .where('external_id', '=', external_id)
    .where('status', '=', 'waiting')
    .executeTakeFirst()
  return row?.proposal_id ?? null
}

/** Of all advertisers, or of one. */
export async function countWaiting(db: Db, advertiserId?: number): Promise<number> {
  let query = db.selectFrom('offer_proposals').select((is) => is.fn.countAll<number>().as('count'))
  if (advertiserId !== undefined) query = query.where('advertiser_id', '=', advertiserId)
  return (await query.where('status', '=', 'waiting').executeTakeFirstOrThrow()).count
}

/** The audit log says for good what was decided. */
export async function forgetOldProposals(db: Db, retentionDays: number, now: Date): Promise<void> {
  await db
    .deleteFrom('offer_proposals')
    .where('decided_at', '<', new Date(now.getTime() - retentionDays * DAY_MS))
    .execute()
}
