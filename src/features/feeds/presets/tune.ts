import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

const CONTAINED = ['TrackingLink', 'Country', 'OfferCategory', 'OfferOperatingSystem', 'Thumbnail', 'Goal']

export const tune: Preset = {
  key: 'tune',
  title: 'TUNE (HasOffers)',
  website: 'https://developers.tune.com',
  credentials: [key(), plain('network', 'Network ID', 'as in https://NETWORK.api.hasoffers.com')],
  request: {
    method: 'GET',
    url: 'https://{network}.api.hasoffers.com/Apiv3/json',
    query: {
      api_key: '{key}',
      Target: 'Affiliate_Offer',
      Method: 'findMyApprovedOffers',
      ...Object.fromEntries(CONTAINED.map((name, i) => [`contain[${i}]`, name])),
    },
    paging: {
      kind: 'page',
      parameter: 'page',
      first: 1,
      size: { parameter: 'limit', value: 200 },
      pages: 'response.data.pageCount',
    },
    pause_ms: 500,
  },
  mapping: {
    offers: 'response.data.data',
    success: { path: 'response.status', is: '1' },
    skip: [
      { path: 'Offer.status', is: ['paused', 'pending', 'expired', 'deleted'], reason: 'it is paused there' },
      {
        path: 'Offer.approval_status',
        is: ['pending', 'rejected'],
        reason: 'the upstream has not approved it for you',
      },
    ],
    id: 'Offer.id',
    name: 'Offer.name',
    description: { path: 'Offer.description', html: true },
    requirements: { path: 'Offer.terms_and_conditions', html: true },
    image: 'Thumbnail.thumbnail',
    product: 'Offer.preview_url',
    category: { path: 'OfferCategory[].name', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'OfferOperatingSystem[].name', words: PLATFORM_WORDS },
    countries: { include: 'Country[].code' },
    ends_at: 'Offer.expiration_date',
    currency: 'Offer.currency',
    not_fixed: [{ path: 'Offer.payout_type', is: ['cpa_percentage', 'cpa_both'] }],
    payout: 'Offer.default_payout',
    goals: {
      list: 'Goal',
      id: 'id',
      name: 'name',
      description: { path: 'description', html: true },
      payout: 'default_payout',
      optional: { path: 'id', empty: false },
      base: { name: 'Complete', payout: 'Offer.default_payout' },
    },
    caps: [{ value: 'Offer.conversion_cap', period: 'day', of: 'conversions' }],
    link: { path: 'TrackingLink.click_url', set: { aff_click_id: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{aff_click_id}', txn_id: '{transaction_id}', amount: '{payout}', goal: '{goal_id}' },
    notes: ['Add a conversion postback under Offers, Postbacks & Pixels of the network, for all offers and goals.'],
  },
}
