import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const ayet: Preset = {
  key: 'ayet',
  title: 'ayeT-Studios (static API)',
  website: 'https://www.ayetstudios.com',
  credentials: [key('Static API key'), plain('adslot', 'Adslot ID')],
  request: {
    method: 'GET',
    url: 'https://www.ayetstudios.com/offers/get/{adslot}',
    query: { apiKey: '{key}' },
    paging: { kind: 'one' },
  },
  mapping: {
    offers: 'offers',
    success: { path: 'status', is: 'success' },
    skip: [{ path: 'daily_cap', is: '0', reason: 'nothing is left of its daily cap' }],
    id: 'id',
    name: 'name',
    description: { path: 'description', html: true },
    requirements: { path: ['conversion_instructions_long', 'conversion_instructions_short'], html: true },
    image: 'icon',
    time_seconds: 'conversion_time',
    category: { path: 'tags.categories[]', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'platforms[]', words: PLATFORM_WORDS },
    difficulty: { path: 'offer_complexity', words: { 1: 'easy', 2: 'medium', 3: 'hard', 4: 'hard', 5: 'hard' } },
    countries: { include: 'countries[]' },
    starts_at: 'start_date',
    ends_at: 'end_date',
    payout: 'payout_usd',
    goals: {
      list: 'tasks',
      id: 'uuid',
      name: 'name',
      payout: 'payout',
      optional: { path: 'type', is: 'bonus' },
    },
    caps: [{ value: 'daily_cap', period: 'day', of: 'conversions' }],
    link: { path: 'tracking_link', replace: { '{external_identifier}': '{click_id}' } },
  },
  currency: 'USD',
  every: '30m',
  back: {
    parameters: { click_id: '{external_identifier}', txn_id: '{transaction_id}', amount: '{payout_usd}', goal: '{task_uuid}', external_offer_id: '{offer_id}' }, // prettier-ignore
    signed: {
      signature: { algorithm: 'hmac-sha256', of: '{sorted_query}', encoding: 'hex', parameter: null, header: 'X-Ayetstudios-Security-Hash' }, // prettier-ignore
      label: 'Publisher API key',
    },
    negative_amount: 'reversal',
    reversal_prefix: 'r-',
    notes: [
      'Set the URL as the conversion callback of the placement, and turn chargeback callbacks on.',
      'The daily cap it sends is what is left for today. Used as the daily cap here, it can close an offer too early, never too late.',
    ],
  },
}
