// The shapes of advertisers' proposals, as operators review them.
import { Type } from 'typebox'
import { FIELDS, GOAL_FIELDS, shapesOf } from '../../../features/offers/fields.ts'
import { NextCursor } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { CHANGE, PROPOSAL, PROPOSAL_SEARCH } from '../../proposal-shapes.ts'
import { id, orNull, refusal, Time } from '../../shapes.ts'

export const ProposalParams = Type.Object({ proposal_id: id })
export const ProposalSearch = Type.Object({ advertiser_id: Type.Optional(id), ...PROPOSAL_SEARCH })

const REVIEWED = {
  ...PROPOSAL,
  advertiser_id: id,
  advertiser: Type.String(),
  decided_by: orNull(Type.String()),
}
export const ProposalList = shape('OfferProposalList', {
  proposals: Type.Array(Type.Object(REVIEWED), { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

const Goal = Type.Object({
  ...shapesOf(GOAL_FIELDS),
  payout: orNull(Type.Number({ description: 'Payout; null for a new goal: set it when you approve the proposal.' })),
})

export const ReviewedProposal = shape('OfferProposal', {
  ...REVIEWED,
  changes: Type.Array(
    Type.Object({
      ...CHANGE,
      changed_since: Type.Boolean({ description: 'Whether the offer had another value at the time of the proposal.' }),
    }),
    {
      description:
        'Changes by field: against the current offer while the proposal is waiting, then as they were proposed.',
    },
  ),
  record: orNull(
    Type.Object(
      { ...shapesOf(FIELDS), goals: Type.Array(Goal) },
      {
        description:
          'The offer as it would be after approval. Null if the proposal was decided or cannot be approved as it is.',
      },
    ),
  ),
  problem: orNull(Type.String({ description: 'Why the proposal cannot be approved as it is.' })),
  has_moved: Type.Boolean({
    description: 'Whether the offer now belongs to another advertiser: the proposal can only be refused.',
  }),
  warnings: Type.Array(Type.String(), { description: 'Settings that are allowed but probably a mistake.' }),
  seen_updated_at: orNull(Time),
})

export const ApprovedProposal = shape('ApprovedOfferProposal', { offer_id: id })
export const ProposalRefusal = shape('OfferProposalRefusal', {
  reason: refusal('Reason, mailed to the people of the advertiser and shown in their dashboard.'),
})
