// The shapes of an advertiser's proposals: what it may say about its offers.
import { Type } from 'typebox'
import { FIELDS, GOAL_FIELDS, PROPOSED_GOAL_NAMES, PROPOSED_NAMES } from '../../../features/offers/fields.ts'
import { NextCursor } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { acceptedOf } from '../../offer-shapes.ts'
import { CHANGE, PROPOSAL, PROPOSAL_SEARCH } from '../../proposal-shapes.ts'
import { id, text } from '../../shapes.ts'

export const OwnProposalParams = Type.Object({ advertiser_id: id, proposal_id: id })
export const OwnProposalSearch = Type.Object(PROPOSAL_SEARCH)

const pick = <T extends object, const K extends keyof T>(from: T, keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>
const GIVEN = acceptedOf(pick(FIELDS, PROPOSED_NAMES), pick(GOAL_FIELDS, PROPOSED_GOAL_NAMES))

/** Of a new offer, or of one that exists: what is not given stays as it is. */
export const NewProposal = shape('NewOfferProposal', {
  offer_id: Type.Optional(id),
  external_id: Type.Optional(
    text(300, 'Your own ID for a new offer. Required without `offer_id`; cannot be changed later.'),
  ),
  ...GIVEN,
})
export const CreatedProposal = shape('CreatedOfferProposal', { proposal_id: id })

export const OwnProposalList = shape('AdvertiserProposalList', {
  proposals: Type.Array(Type.Object(PROPOSAL), { description: 'Newest first.' }),
  next_cursor: NextCursor,
})
export const OwnProposal = shape('AdvertiserProposal', {
  ...PROPOSAL,
  changes: Type.Array(Type.Object(CHANGE), {
    description: 'Changes by field, against the values at the time of the proposal.',
  }),
})
