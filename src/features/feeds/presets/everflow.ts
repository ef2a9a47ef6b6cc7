import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const everflow: Preset = {
  key: 'everflow',
  title: 'Everflow',
  website: 'https://developers.everflow.io',
  credentials: [key(), plain('host', 'API host', 'api.eflow.team, or api-eu.eflow.team')],
  request: {
    method: 'GET',
    url: 'https://{host}/v1/affiliates/offersrunnable',
    query: { relationship: 'all' },
    headers: { 'X-Eflow-API-Key': '{key}' },
    paging: {
      kind: 'page',
      parameter: 'page',
      first: 1,
      size: { parameter: 'page_size', value: 500 },
      total: 'paging.total_count',
    },
    pause_ms: 100,
  },
  mapping: {
    offers: 'offers',
    skip: [{ path: 'offer_status', is: ['paused', 'deleted', 'pending'], reason: 'it is paused there' }],
    id: 'network_offer_id',
    name: 'name',
    description: { path: 'html_description', html: { path: 'is_description_plain_text', empty: true } },
    requirements: { path: 'terms_and_conditions', html: true },
    image: 'thumbnail_url',
    product: 'preview_url',
    category: { path: 'relationship.category.name', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: {
      path: 'relationship.ruleset.platforms[targeting_type!=exclude].label',
      exclude: 'relationship.ruleset.platforms[targeting_type=exclude].label',
      words: PLATFORM_WORDS,
    },
    countries: {
      include: 'relationship.ruleset.countries[targeting_type!=exclude].country_code',
      exclude: 'relationship.ruleset.countries[targeting_type=exclude].country_code',
    },
    ends_at: 'date_live_until',
    currency: 'currency_id',
    not_fixed: [{ path: 'relationship.payouts.entries[].payout_type', is: ['cps', 'cpa_cps', 'prv'] }],
    goals: {
      list: 'relationship.payouts.entries',
      id: 'network_offer_payout_revenue_id',
      name: 'entry_name',
      payout: 'payout_amount',
      optional: { path: 'is_default', empty: true },
    },
    caps: [
      { value: 'daily_conversion_cap', where: [{ path: 'is_caps_enabled', empty: false }], period: 'day', of: 'conversions' }, // prettier-ignore
      { value: 'global_conversion_cap', where: [{ path: 'is_caps_enabled', empty: false }], period: 'total', of: 'conversions' }, // prettier-ignore
      { value: 'daily_click_cap', where: [{ path: 'is_caps_enabled', empty: false }], period: 'day', of: 'clicks' },
      { value: 'global_click_cap', where: [{ path: 'is_caps_enabled', empty: false }], period: 'total', of: 'clicks' },
    ],
    link: { path: 'tracking_url', set: { sub1: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{sub1}', txn_id: '{transaction_id}', amount: '{payout_amount}', goal: '{event_id}', external_offer_id: '{offer_id}' }, // prettier-ignore
    notes: [
      'Add a postback in the partner area of the network under Postbacks, of type URL, for conversions and for events.',
      'Everflow disables a postback after 25 failures in a row: check there if conversions stop.',
    ],
  },
}
