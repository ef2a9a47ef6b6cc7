import { CATEGORY_WORDS, key, PLATFORM_WORDS, type Preset } from './preset.ts'

/** Of an offer and of a goal: rows by country, of which one is left. */
const PAYOUT = { path: 'payouts[].payout', take: 'only' } as const

export const trackier: Preset = {
  key: 'trackier',
  title: 'Trackier',
  website: 'https://help.trackier.com',
  credentials: [key()],
  request: {
    method: 'GET',
    url: 'https://api.trackier.com/v2/publisher/campaigns',
    query: { showApproved: '1' },
    headers: { 'X-Api-Key': '{key}' },
    paging: {
      kind: 'page',
      parameter: 'page',
      first: 1,
      size: { parameter: 'limit', value: 100 },
      total: 'data.count',
    },
    pause_ms: 250,
  },
  mapping: {
    offers: 'data.campaigns',
    success: { path: 'success', is: 'true' },
    id: 'id',
    name: 'title',
    description: { path: 'description', html: true },
    requirements: { path: 'kpi', html: true },
    image: 'creatives[].url',
    product: 'preview_url',
    category: { path: 'categories[]', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: ['os[]', 'device[]'], words: PLATFORM_WORDS },
    countries: { include: 'countries[]' },
    currency: 'currency',
    not_fixed: [
      { path: 'model', is: ['cps', 'cpr'] },
      { path: 'goals[].payout_model', is: 'percent' },
    ],
    payout: PAYOUT,
    goals: {
      list: 'goals',
      id: { path: ['value', 'id'] },
      name: 'title',
      payout: PAYOUT,
      optional: { path: 'id', empty: false },
      base: { name: 'Complete', payout: PAYOUT },
    },
    by_country: { list: ['payouts', 'goals[].payouts'], countries: 'geo[]' },
    caps: [
      { value: 'cap.daily', where: [{ path: 'cap.type', is: 'conversion' }], period: 'day', of: 'conversions' },
      { value: 'cap.lifetime', where: [{ path: 'cap.type', is: 'conversion' }], period: 'total', of: 'conversions' },
    ],
    link: { path: 'tracking_link', replace: { '{your-transaction-id}': '{click_id}' }, set: { p1: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{p1}', txn_id: '{txn_id}', amount: '{payout}', goal: '{goal_value}' },
    notes: ['Add a postback under Postbacks of the network, for all campaigns and goals.'],
  },
}
