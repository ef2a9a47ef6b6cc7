import { CATEGORY_WORDS, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const cpalead: Preset = {
  key: 'cpalead',
  title: 'CPAlead',
  website: 'https://www.cpalead.com',
  credentials: [plain('publisher', 'Publisher ID')],
  request: {
    method: 'GET',
    url: 'https://www.cpalead.com/api/offers',
    query: { id: '{publisher}' },
    paging: { kind: 'offset', parameter: 'offset', size: { parameter: 'limit', value: 500 } },
    pause_ms: 1_000,
  },
  mapping: {
    offers: 'offers',
    success: { path: 'status', is: 'success' },
    id: 'id',
    name: 'title',
    description: { path: 'description', html: true },
    requirements: { path: 'conversion', html: true },
    image: { path: ['creatives.url', 'creatives[].url'] },
    category: { path: ['category', 'category_name'], words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'device', split: ',', words: PLATFORM_WORDS },
    countries: { include: 'countries[]' },
    currency: 'payout_currency',
    payout: {
      path: ['payouts_per_country[].payout', 'payouts_per_country[].amount', 'payouts_per_country[].$value', 'amount'],
      take: 'only',
    },
    by_country: { list: 'payouts_per_country', countries: { path: ['country', 'country_code', '$key'] } },
    caps: [{ value: 'daily_cap', period: 'day', of: 'conversions' }],
    link: { path: 'link', set: { subid: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{subid}', txn_id: '{lead_id}', amount: '{payout}', goal: '{event_name}' },
    only_goal: true,
    notes: ['Set the URL as the postback of your account.'],
  },
}
