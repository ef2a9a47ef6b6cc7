import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const offer18: Preset = {
  key: 'offer18',
  title: 'Offer18',
  website: 'https://knowledgebase.offer18.com',
  credentials: [key(), plain('aid', 'Affiliate ID (aid)'), plain('mid', 'Network ID (mid)')],
  request: {
    method: 'GET',
    url: 'https://api.offer18.com/api/af/offers',
    query: { key: '{key}', aid: '{aid}', mid: '{mid}', offer_status: '1', authorized: '1' },
    paging: { kind: 'page', parameter: 'page', first: 1 },
    pause_ms: 500,
  },
  mapping: {
    offers: 'data',
    success: { path: 'response', is: '200' },
    skip: [{ path: 'status', not: 'active', reason: 'it is paused there' }],
    id: { path: ['offerid', '$key'] },
    name: 'name',
    description: { path: 'offer_terms', html: true },
    requirements: { path: 'offer_kpi', html: true },
    image: 'logo',
    product: 'preview_url',
    category: { path: 'category', split: ',', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'os_allow', split: ',', words: PLATFORM_WORDS },
    countries: { include: { path: 'country_allow', split: ',' }, exclude: { path: 'country_block', split: ',' } },
    starts_at: 'date_start',
    ends_at: 'date_end',
    currency: 'currency',
    payout: 'price',
    goals: {
      list: 'events',
      id: 'event_token',
      name: 'event_name',
      payout: 'payout',
      join: { list: 'payout', goal: 'event_token', is: 'condition[][field=event].value' },
      optional: { path: 'event_token', empty: false },
      base: { name: 'Complete', payout: 'price' },
    },
    caps: [
      { value: 'capping[period=daily].value', where: [{ path: 'capping[period=daily].type', is: 'gross_conversions' }], period: 'day', of: 'conversions' }, // prettier-ignore
      { value: 'capping[period=lifetime].value', where: [{ path: 'capping[period=lifetime].type', is: 'gross_conversions' }], period: 'total', of: 'conversions' }, // prettier-ignore
    ],
    link: { path: 'click_url', set: { aff_click_id: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{aff_click_id}', txn_id: '{tid}', amount: '{payout}', goal: '{event_token}' },
    notes: ['Add a global postback under Postback of the network, for all offers and events.'],
  },
}
