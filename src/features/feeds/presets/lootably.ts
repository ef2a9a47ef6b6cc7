import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const lootably: Preset = {
  key: 'lootably',
  title: 'Lootably',
  website: 'https://documentation.lootably.com',
  credentials: [key(), plain('placement', 'Placement ID')],
  request: {
    method: 'POST',
    url: 'https://api.lootably.com/api/v2/offers/get',
    json: { apiKey: '{key}', placementID: '{placement}' },
    paging: { kind: 'one' },
  },
  mapping: {
    offers: 'data.offers',
    success: { path: 'success', is: 'true' },
    id: 'offerID',
    name: 'name',
    description: { path: 'description', html: true },
    image: 'image',
    category: { path: ['categories[]', 'type'], words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'devices[]', words: PLATFORM_WORDS },
    countries: { include: 'countries[]' },
    not_fixed: [{ path: 'revenue', is: 'variable' }],
    payout: 'revenue',
    goals: { list: 'goals', id: 'goalID', name: { path: ['name', 'description'] }, payout: 'revenue' },
    link: { path: 'link', replace: { '{userID}': '{click_id}' } },
  },
  currency: 'USD',
  every: '15m',
  back: {
    parameters: { click_id: '{userID}', txn_id: '{transactionID}', amount: '{revenue}', goal: '{goalID}', external_offer_id: '{offerID}', status: '{status}', ip: '{ip}', reward: '{currencyReward}', hash: '{hash}' }, // prettier-ignore
    signed: {
      signature: { algorithm: 'sha256', of: '{click_id}{ip}{amount}{reward}{secret}', encoding: 'hex', parameter: 'hash', header: null }, // prettier-ignore
      label: 'Postback secret of the placement',
    },
    statuses: { 1: 'approved', 0: 'reversed' },
    notes: ['Set the URL as the postback of the placement.'],
  },
}
