// What operators and advertisers both see of a proposal.
import { Type } from 'typebox'
import { PROPOSED_NAMES } from '../features/offers/fields.ts'
import { type Proposal, PROPOSAL_STATUSES } from '../features/offers/proposals/proposals.ts'
import { ID_PAGE_QUERY } from '../http/paging.ts'
import { id, oneOf, orNull, Time } from './shapes.ts'

const field = oneOf(PROPOSED_NAMES)

export const PROPOSAL = {
  proposal_id: id,
  offer_id: orNull(Type.Integer({ description: 'ID of the offer; null for a new offer until it is approved.' })),
  is_new: Type.Boolean({ description: 'Whether this is a new offer rather than a change.' }),
  external_id: Type.String({ description: 'External ID of the offer.' }),
  name: Type.String({ description: 'Name of the offer.' }),
  fields: Type.Array(field, { description: 'Fields that the proposal sets. All others stay unchanged.' }),
  status: oneOf(PROPOSAL_STATUSES),
  proposed_by: Type.String(),
  created_at: Time,
  decided_at: orNull(Time),
  reason: orNull(Type.String({ description: 'Why the proposal was refused.' })),
}
export const CHANGE = { field, before: Type.Unknown(), after: Type.Unknown() }

export const PROPOSAL_SEARCH = { status: Type.Optional(oneOf(PROPOSAL_STATUSES)), ...ID_PAGE_QUERY }

export const presentProposal = ({ proposal_id, offer_id, is_new, external_id, name, fields, status, proposed_by, created_at, decided_at, reason }: Proposal) => ({
  proposal_id, offer_id, is_new, external_id, name, status, proposed_by, created_at, decided_at, reason,
  fields: PROPOSED_NAMES.filter((one) => fields[one] !== undefined),
}) // prettier-ignore
