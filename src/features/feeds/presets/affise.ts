import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

/** Of a budget: that of what it pays for. */
const CURRENCY = 'payments[].currency'

export const affise: Preset = {
  key: 'affise',
  title: 'Affise',
  website: 'https://help-center.affise.com',
  credentials: [key(), plain('tenant', 'Tenant', 'as in https://api-TENANT.affise.com')],
  request: {
    method: 'GET',
    url: 'https://api-{tenant}.affise.com/3.0/partner/offers',
    headers: { 'API-Key': '{key}' },
    paging: {
      kind: 'page',
      parameter: 'page',
      first: 1,
      size: { parameter: 'limit', value: 500 },
      total: 'pagination.total_count',
    },
    pause_ms: 500,
  },
  mapping: {
    offers: 'offers',
    success: { path: 'status', is: '1' },
    skip: [{ path: 'status', is: ['suspended', 'stopped'], reason: 'it is paused there' }],
    id: 'id',
    name: 'title',
    description: { path: ['description_lang.en', 'description_lang[]', 'description'], html: true },
    requirements: { path: ['kpi.en', 'kpi[]'], html: true },
    image: 'logo',
    product: 'preview_url',
    category: { path: ['full_categories[].title', 'categories[]'], words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: ['payments[].os[]', 'targeting[].os.allow[].name'], words: PLATFORM_WORDS },
    countries: { include: 'targeting[].country.allow[]', exclude: 'targeting[].country.deny[]' },
    starts_at: 'start_at',
    ends_at: 'stop_at',
    not_fixed: [{ path: 'payments[].type', is: 'percent' }],
    goals: { list: 'payments', id: 'goal', name: 'title', payout: 'revenue', currency: 'currency' },
    by_country: {
      list: 'payments',
      of: 'goal',
      countries: 'countries[]',
      negated: { path: 'country_exclude', empty: false },
      platforms: { path: 'os[]', words: PLATFORM_WORDS },
    },
    caps: [
      { value: 'caps[period=day&type=conversions].value', period: 'day', of: 'conversions' },
      { value: 'caps[period=all&type=conversions].value', period: 'total', of: 'conversions' },
      { value: 'caps[period=day&type=budget].value', period: 'day', of: 'revenue', currency: CURRENCY },
      { value: 'caps[period=all&type=budget].value', period: 'total', of: 'revenue', currency: CURRENCY },
    ],
    link: { path: 'link', set: { sub1: '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{sub1}', txn_id: '{transactionid}', amount: '{sum}', currency: '{currency}', status: '{status}', goal: '{goal}', external_offer_id: '{offerid}' }, // prettier-ignore
    statuses: { 1: 'approved', 2: 'pending', 3: 'rejected', 5: 'pending' },
    notes: [
      'Add a global postback under Postbacks of the network, for all statuses.',
      'Monthly caps are not supported here: watch them in Affise. Daily and total caps are imported.',
    ],
  },
}
