import { CATEGORY_WORDS, key, PLATFORM_WORDS, plain, type Preset } from './preset.ts'

export const torox: Preset = {
  key: 'torox',
  title: 'Torox (OfferToro)',
  website: 'https://torox.io',
  credentials: [key('Secret key'), plain('pubid', 'Publisher ID'), plain('appid', 'App ID')],
  request: {
    method: 'GET',
    url: 'https://torox.io/api/',
    query: { pubid: '{pubid}', appid: '{appid}', secretkey: '{key}', format: 'json' },
    paging: { kind: 'one' },
  },
  mapping: {
    offers: 'response.offers',
    id: 'offer_id',
    name: 'offer_name',
    description: { path: 'offer_desc', html: true },
    requirements: { path: ['call_to_action', 'disclaimer'], html: true },
    image: 'image_url',
    category: { path: ['verticals[].vertical_name', 'category'], words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: ['device', 'platform'], words: PLATFORM_WORDS },
    countries: { include: 'countries[]' },
    payout: 'payout',
    goals: { list: 'events', name: 'event_name', payout: 'payout', only_one: true },
    link: { path: ['offer_url_easy', 'offer_url'], replace: { '[USER_ID]': '{click_id}' } },
  },
  currency: 'USD',
  every: '15m',
  back: {
    parameters: {
      click_id: '{user_id}',
      txn_id: '{id}',
      amount: '{payout}',
      oid: '{oid}',
      external_offer_id: '{oid}',
      sig: '{sig}',
    },
    signed: {
      signature: { algorithm: 'md5', of: '{oid}-{click_id}-{secret}', encoding: 'hex', parameter: 'sig', header: null },
      label: 'Secret key of the app',
    },
    notes: ['Set the URL as the postback of the app.'],
  },
}
