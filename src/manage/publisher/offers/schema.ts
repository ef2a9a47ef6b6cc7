// The shapes of what a publisher sees of offers.
import { Type } from 'typebox'
import { CATEGORIES, WALL_SORTS } from '../../../features/offers/choices.ts'
import { Offer, OfferListQuery, OfferList, UserId, VisibilityReply } from '../../../features/offers/schema.ts'
import { OFFER_DAYS } from '../../../features/reports/offer-figures.ts'
import { RANK_CODES } from '../../../features/offers/ranking/explain.ts'
import { StatsTotals } from '../../../features/reports/schema.ts'
import { id, MODES, oneOf, text } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export type Mode = (typeof MODES)[number]

const User = Type.Optional(UserId)
const Mode = Type.Optional(oneOf(MODES))
const { country, platform, category, limit, offset } = OfferListQuery.properties

export const AppOfferQuery = Type.Object({
  user_id: User,
  mode: Mode,
  country,
  platform,
  category,
  search: Type.Optional(text(100, 'Words in name or description, or an offer ID.')),
  sort: Type.Optional(oneOf(WALL_SORTS, '`recommended` is the order of the wall, with the reasons for each position.')),
  with: Type.Optional(
    oneOf(['figures'], `Adds the app's figures of the last ${OFFER_DAYS} days, without test traffic.`),
  ),
  limit,
  offset,
})

// Links are created for one user, on request: there are none here.
const { link: _link, ...OFFER } = Offer.properties
export const AppOffer = shape('AppOffer', OFFER)
const { payout_local: _local, ...FIGURES } = StatsTotals.properties
const Rank = shape('OfferRank', {
  expected_epc: Type.Number({
    description: 'Expected earnings per click in US dollars, on average over all publishers.',
  }),
  clicks: Type.Integer({
    description: 'Approximate number of recent clicks behind the estimate; those of a week ago count half.',
  }),
  reasons: Type.Array(Type.Object({ code: oneOf(RANK_CODES), message: Type.String() })),
})
const ListedOffer = Type.Object({
  ...OFFER,
  figures: Type.Optional(Type.Object(FIGURES, { description: 'Only with `with=figures`.' })),
  rank: Type.Optional(Rank),
})
export const AppOfferList = shape('AppOfferList', { ...OfferList.properties, offers: Type.Array(ListedOffer) })

export const OfferOfAppParams = Type.Object({ app_id: id, offer_id: id })
export const CAP_STATES = ['open', 'full_today', 'full'] as const
export const AppOfferReply = shape('AppOfferReply', {
  offer: AppOffer,
  available: Type.Boolean({ description: 'Whether users of this app can see the offer.' }),
  reasons: VisibilityReply.properties.reasons,
  cap: oneOf(CAP_STATES),
  rank: Rank,
})

export const WhyOfAppQuery = Type.Object({ user_id: User, mode: Mode, country, platform })

export const MAX_KEYWORDS = 200
export const MAX_KEYWORD = 100
const RULES = {
  blocked_categories: Type.Array(oneOf(CATEGORIES), { maxItems: CATEGORIES.length }),
  blocked_keywords: Type.Array(Type.String()),
  payment_offers: Type.Boolean({ description: 'Whether offers that require a payment are shown.' }),
}
export const NewContentRules = shape('NewContentRules', RULES)
export const ContentRules = shape('ContentRules', {
  ...RULES,
  offers_left: Type.Integer({ description: 'Running offers that these rules allow.' }),
  offers_total: Type.Integer({ description: 'Running offers.' }),
})
