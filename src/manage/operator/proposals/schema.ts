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
  payout: orNull(Type.Number({ description: 'Null for a new goal: set it when you approve.' })),
})

export const ReviewedProposal = shape('OfferProposal', {
  ...REVIEWED,
  changes: Type.Array(
    Type.Object({
      ...CHANGE,
      changed_since: Type.Boolean({ description: 'The offer had another value when this was proposed.' }),
    }),
    { description: 'While it waits, against the offer as it is now; then, as it was proposed.' },
  ),
  record: orNull(
    Type.Object(
      { ...shapesOf(FIELDS), goals: Type.Array(Goal) },
      {
        description: 'The offer as approving would write it. Null when it is decided, or cannot be approved as it is.',
      },
    ),
  ),
  problem: orNull(Type.String({ description: 'Why it cannot be approved as it is.' })),
  has_moved: Type.Boolean({
    description: 'The offer now belongs to another advertiser: the proposal can only be refused.',
  }),
  warnings: Type.Array(Type.String(), { description: 'What is allowed and probably a mistake.' }),
  seen_updated_at: orNull(Time),
})

export const ApprovedProposal = shape('ApprovedOfferProposal', { offer_id: id })
export const ProposalRefusal = shape('OfferProposalRefusal', {
  reason: refusal('Mailed to the people of the advertiser, and shown in their dashboard.'),
})
