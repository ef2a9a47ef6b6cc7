// The shapes of an advertiser's own offers: what it pays, not what publishers are paid.
import { type Static, Type } from 'typebox'
import { STATUSES } from '../../../features/offers/choices.ts'
import { FIELDS, GOAL_FIELDS, PROPOSED_GOAL_NAMES, PROPOSED_NAMES, shapesOf } from '../../../features/offers/fields.ts'
import { ID_PAGE_QUERY, NextCursor } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { STATES } from '../../offer-record.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'

export const OwnOfferParams = Type.Object({ advertiser_id: id, offer_id: id })
export const OwnOfferSearch = Type.Object({
  search: Type.Optional(text(200, 'Part of the name or external ID, or the offer ID.')),
  status: Type.Optional(oneOf(STATUSES)),
  ...ID_PAGE_QUERY,
})

const RECORD = shapesOf(FIELDS)
const GOAL = shapesOf(GOAL_FIELDS)

/** What an advertiser sees of an offer besides its goals; neither payouts nor how it is ranked. */
export const OWN_FIELDS = PROPOSED_NAMES.filter((name) => name !== 'goals')

const pick = <T extends object, const K extends keyof T>(from: T, keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>

const SUMMARY = {
  offer_id: id,
  external_id: RECORD.external_id,
  name: RECORD.name,
  category: RECORD.category,
  revenue: Type.Number({ description: 'What you pay for all goals together, in US dollars.' }),
  countries: RECORD.countries,
  platforms: RECORD.platforms,
  image_url: RECORD.image_url,
  status: RECORD.status,
  state: oneOf(STATES, 'Current state for users: an active offer may not have started yet, have ended or be full.'),
  updated_at: Time,
}

export const OwnOfferList = shape('AdvertiserOfferList', {
  offers: Type.Array(Type.Object(SUMMARY)),
  next_cursor: NextCursor,
})

const Used = Type.Object({
  clicks: Type.Integer(),
  conversions: Type.Integer(),
  spend: Type.Number({ description: 'What pending and approved conversions cost, in US dollars.' }),
})

export const OwnOffer = shape('AdvertiserOffer', {
  ...SUMMARY,
  ...pick(RECORD, OWN_FIELDS),
  goals: Type.Array(Type.Object({ goal_id: id, ...pick(GOAL, PROPOSED_GOAL_NAMES) })),
  paused_by: orNull(
    oneOf(['advertiser', 'operator'], 'Who paused the offer, or null. You can only resume offers that you paused.'),
  ),
  waiting_proposal_id: orNull(Type.Integer({ description: 'Proposed change that awaits a decision.' })),
  is_out_of_budget: Type.Boolean({ description: 'Whether the offer is closed because a budget is used up.' }),
  usage: orNull(
    Type.Object(
      { full: oneOf(['no', 'today', 'for good']), today: Used, total: Used },
      { description: 'Usage of the caps; null without caps.' },
    ),
  ),
})
export type OwnOffer = Static<typeof OwnOffer>
