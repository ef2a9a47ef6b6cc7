import { CATEGORY_WORDS, key, PLATFORM_WORDS, type Preset } from './preset.ts'

export const adgem: Preset = {
  key: 'adgem',
  title: 'AdGem',
  website: 'https://docs.adgem.com',
  credentials: [key('Refresh token')],
  request: {
    method: 'GET',
    url: 'https://offer-api.adgem.com/v1/offers',
    auth: {
      kind: 'exchange',
      request: {
        method: 'POST',
        url: 'https://offer-api.adgem.com/v1/users/token',
        form: { grant_type: 'refresh_token', refresh_token: '{key}' },
      },
      token: 'access_token',
      lives_s: 3_000,
    },
    paging: { kind: 'one' },
    pause_ms: 1_000,
  },
  mapping: {
    offers: 'data',
    id: 'id',
    name: 'creatives.name',
    description: { path: 'creatives.description', html: true },
    requirements: { path: 'creatives.instructions[]', html: true, join: '\n' },
    image: 'creatives.icon_url',
    category: { path: 'creatives.categories[]', words: CATEGORY_WORDS, otherwise: 'app' },
    platforms: { path: 'os_targeting[].name', words: PLATFORM_WORDS },
    countries: { include: 'geo_targeting.countries[].iso_alpha2' },
    payout: 'total_payout_usd',
    goals: {
      list: 'goals',
      id: 'id',
      name: { path: ['name', 'description'] },
      payout: { path: ['payout_usd', 'payout'] },
    },
    link: { path: 'links.click_url', replace: { '{playerid}': '{click_id}' } },
  },
  currency: 'USD',
  every: '15m',
  back: {
    parameters: { click_id: '{player_id}', txn_id: '{transaction_id}', amount: '{payout}', goal: '{goal_id}' },
    ignored: [
      { parameter: 'nonpayable_install_goal', is: 'true', reason: 'An install that this network does not pay for.' },
    ],
    only_goal: true,
    notes: ['Set the URL as the postback of the property, with goal postbacks turned on.'],
  },
}
