import type { Mapping } from '../mapping/mapping.ts'
import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

/** The same at AdGate and BitLabs, but for where the list is. */
const MAPPING: Omit<Mapping, 'offers'> = {
  success: { path: 'status', is: 'success' },
  id: 'id',
  name: { path: ['anchor', 'name'] },
  description: { path: 'description', html: true },
  requirements: { path: 'requirements', html: true },
  image: { path: ['creatives.icon', 'icon_url', 'image'] },
  category: { path: 'categories[]', words: CATEGORY_WORDS, otherwise: 'app' },
  platforms: { path: 'device_targeting.operating_systems[].name', words: PLATFORM_WORDS },
  countries: { include: 'geo_targeting.countries[].country_code' },
  goals: { list: 'events', id: 'id', name: 'name', payout: 'payout' },
  link: { path: 'click_url', append: '{click_id}' },
}

export const adgate: Preset = {
  key: 'adgate',
  title: 'AdGate (Prodege)',
  website: 'https://docs.prodegeads.com',
  credentials: [key(), plain('aff', 'Affiliate ID (aff)'), plain('wall', 'Wall code')],
  request: {
    method: 'GET',
    url: 'https://api.adgatemedia.com/v3/offers',
    query: { aff: '{aff}', api_key: '{key}', wall_code: '{wall}' },
    paging: { kind: 'one' },
  },
  mapping: { offers: 'data', ...MAPPING },
  currency: 'USD',
  every: '10m',
  back: {
    parameters: {
      click_id: '{s1}',
      txn_id: '{conversion_id}',
      amount: '{payout}',
      goal: '{event_id}',
      status: '{state}',
    },
    statuses: { approved: 'approved', rejected: 'reversed', pending: 'pending' },
    notes: [
      'Reversals are sent only because {state} is in the URL, and unpaid events only because {event_id} is: keep both.',
    ],
  },
}

export const bitlabs: Preset = {
  key: 'bitlabs',
  title: 'BitLabs',
  website: 'https://developer.bitlabs.ai',
  credentials: [key('S2S token')],
  request: {
    method: 'GET',
    url: 'https://api.bitlabs.ai/v2/publishers/offers',
    headers: { 'X-S2S-Token': '{key}' },
    paging: { kind: 'offset', parameter: 'skip', size: { parameter: 'limit', value: 2_000 } },
    pause_ms: 500,
  },
  mapping: { offers: 'data.offers', ...MAPPING },
  currency: 'USD',
  every: '15m',
  back: {
    parameters: { click_id: '[%UID%]', txn_id: '[%TX%]', amount: '[%RAW%]', goal: '[%TASK_ID%]', status: '[%OFFER_STATE%]', external_offer_id: '[%OFFER_ID%]' }, // prettier-ignore
    signed: {
      signature: { algorithm: 'hmac-sha1', of: '{url}', encoding: 'hex', parameter: 'hash', header: null },
      label: 'App secret',
    },
    statuses: { completed: 'approved', pending: 'pending', reconciled: 'reversed' },
    notes: ['Set the URL as the S2S callback for offers of your app in the BitLabs dashboard.'],
  },
}
