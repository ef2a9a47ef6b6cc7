// How each upstream writes offers: what is there, in its shape.

/** An offer as any upstream could have it. */
export type UpstreamOffer = {
  id: number
  name: string
  /** US dollars. */
  payout: number
  /** Several with a + between them. */
  country: string
  platform: 'android' | 'ios'
  goals: { id: string; name: string; payout: number }[]
}

type Shape = {
  item: (offer: UpstreamOffer) => unknown
  /** A page: `all` is how many there are in all, `pages` how many pages. */
  page: (items: unknown[], about: { all: number; pages: number; number: number; size: number }) => unknown
}

const link = (id: number, query = '') => `https://track.example.com/${id}${query}`
const icon = (id: number) => `https://cdn.example.com/${id}.png`
const keyed = (items: { key: string; value: unknown }[]) => Object.fromEntries(items.map(({ key, value }) => [key, value])) // prettier-ignore
const usd = (amount: number) => amount.toFixed(2)

export const SHAPES: Record<string, Shape> = {
  everflow: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      network_offer_id: id, name, offer_status: 'active', currency_id: 'USD', html_description: '<p>Play</p>', thumbnail_url: icon(id), tracking_url: link(id, '/A/'),
      relationship: {
        category: { name: 'Games' },
        payouts: { total: goals.length, entries: goals.length === 0 ? [{ network_offer_payout_revenue_id: id * 10, entry_name: 'Base', is_default: true, payout_amount: payout }] : goals.map((goal, i) => ({ network_offer_payout_revenue_id: goal.id, entry_name: goal.name, is_default: i === 0, payout_amount: goal.payout })) },
        ruleset: { countries: [{ country_code: country, targeting_type: 'include' }], platforms: [{ label: platform === 'ios' ? 'iOS' : 'Android', targeting_type: 'include' }] },
      },
    }),
    page: (offers, { all, size }) => ({ offers, paging: { page_size: size, total_count: all } }),
  },
  tune: {
    item: ({ id, name, payout, country, goals }) => ({
      key: String(id),
      value: {
        Offer: { id: String(id), name, description: 'Sign up', default_payout: goals.length === 0 ? payout.toFixed(5) : '0.00000', currency: null, conversion_cap: '0', approval_status: 'approved' },
        Country: { [country]: { code: country } }, Thumbnail: { thumbnail: icon(id) }, TrackingLink: { click_url: link(id, '?o=1') },
        Goal: goals.length === 0 ? [] : keyed(goals.map((goal) => ({ key: goal.id, value: { id: goal.id, name: goal.name, default_payout: goal.payout.toFixed(5) } }))),
      },
    }),
    page: (offers, { pages }) => ({ response: { status: 1, data: { pageCount: pages, data: offers.length === 0 ? [] : keyed(offers as { key: string; value: unknown }[]) } } }),
  },
  affise: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id, title: name, description_lang: { en: '<b>Install</b>' }, logo: icon(id), link: link(id, '?pid=3'),
      payments: (goals.length === 0 ? [{ id: '1', name: 'Install', payout }] : goals).map((goal) => ({ goal: goal.id, title: goal.name, revenue: goal.payout, currency: 'USD', type: 'fixed', countries: [country], os: [platform] })),
    }),
    page: (offers, { all, size }) => ({ status: 1, offers, pagination: { per_page: size, total_count: all } }),
  },
  trackier: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id, title: name, currency: 'USD', model: 'cpi', categories: ['Games'], os: [platform], countries: country.split('+'), payouts: [{ payout: goals.length === 0 ? payout : 0, geo: country.split('+') }],
      goals: goals.map((goal) => ({ id: goal.id, value: goal.id, title: goal.name, payout_model: 'fixed', payouts: [{ payout: goal.payout }] })),
      tracking_link: link(id, '?p1={your-transaction-id}'),
    }),
    page: (campaigns, { all }) => ({ success: true, data: { campaigns, count: all } }),
  },
  offer18: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      key: String(id).padStart(6, '0'),
      value: {
        offerid: String(id).padStart(6, '0'), name, status: 'active', category: 'gaming, apps', currency: 'USD', price: goals.length === 0 ? payout : 0, country_allow: country.toLowerCase(), os_allow: platform,
        events: goals.map((goal) => ({ event_name: goal.name, event_token: goal.id })),
        payout: goals.map((goal) => ({ payout: goal.payout.toFixed(4), currency: 'USD', condition: [[{ field: 'event', value: goal.id }]] })),
        click_url: link(id, '?o=1'),
      },
    }),
    page: (offers) => ({ response: '200', data: offers.length === 0 ? [] : keyed(offers as { key: string; value: unknown }[]) }),
  },
  adgate: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id, anchor: name, description: 'Play', requirements: '<p>Reach it< /p>', categories: ['CPE'], creatives: { icon: icon(id) }, geo_targeting: { countries: [{ country_code: country }] }, device_targeting: { operating_systems: [{ name: platform }] },
      events: goals.length === 0 ? [{ id: 1, name: 'Install', payout }] : goals, click_url: link(id, '?s1='),
    }),
    page: (data) => ({ status: 'success', data }),
  },
  bitlabs: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id, anchor: name, description: 'Play', categories: ['Games'], creatives: { icon: icon(id) }, geo_targeting: { countries: [{ country_code: country }] }, device_targeting: { operating_systems: [{ name: platform }] },
      events: (goals.length === 0 ? [{ id: '1', name: 'Install', payout }] : goals).map((goal) => ({ ...goal, payout: usd(goal.payout) })), click_url: link(id, '?uid='),
    }),
    page: (offers) => ({ status: 'success', data: { offers } }),
  },
  ayet: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id, name, description: 'Sail', icon: icon(id), payout_usd: payout, currency_amount: payout * 1_000, countries: [country], platforms: [platform], conversion_time: 86_400, offer_complexity: '2',
      tasks: goals.map((goal) => ({ uuid: goal.id, name: goal.name, payout: goal.payout, type: 'main' })), tracking_link: link(id, '?u={external_identifier}'),
    }),
    page: (offers) => ({ status: 'success', offers }),
  },
  adgem: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      id: `90071992547409${String(id).padStart(5, '0')}`, creatives: { name, description: 'RPG', instructions: ['Install', 'Play'], icon_url: icon(id), categories: ['app'] }, total_payout_usd: payout,
      geo_targeting: { countries: [{ iso_alpha2: country }] }, os_targeting: [{ name: platform }], goals: goals.map((goal) => ({ id: goal.id, name: goal.name, payout_usd: goal.payout })), links: { click_url: link(id, '?playerid={playerid}') },
    }),
    page: (data) => ({ data }),
  },
  cpalead: {
    item: ({ id, name, payout, country, platform }) => ({ id, title: name, description: '', conversion: 'Submit email', amount: usd(payout), payout_currency: 'USD', countries: [country], device: platform, daily_cap: 0, creatives: { url: icon(id) }, link: link(id, '?id=1') }),
    page: (offers) => ({ status: 'success', offers }),
  },
  lootably: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      type: goals.length === 0 ? 'singlestep' : 'multistep', offerID: `${id}-a`, name, description: 'Fly', categories: ['game'], countries: country.split('+'), devices: [platform === 'ios' ? 'iphone' : 'android'], image: icon(id),
      ...(goals.length === 0 ? { revenue: payout } : { goals: goals.map((goal) => ({ goalID: goal.id, description: goal.name, revenue: goal.payout })) }), link: link(id, '?u={userID}'),
    }),
    page: (offers) => ({ success: true, data: { offers } }),
  },
  torox: {
    item: ({ id, name, payout, country, platform, goals }) => ({
      offer_id: id, offer_name: name, offer_desc: 'Chess', call_to_action: 'Win', payout: usd(payout), amount: payout * 1_000, countries: [country], platform: 'mobile', device: platform, image_url: ` ${icon(id)}`,
      events: goals.map((goal) => ({ event_name: goal.name, payout: usd(goal.payout) })), offer_url_easy: link(id, '?u=[USER_ID]'),
    }),
    page: (offers) => ({ response: { offers } }),
  },
} // prettier-ignore

/** Offer n, the same every time. */
export const upstreamOffer = (n: number): UpstreamOffer => {
  const goals = n % 3 === 0 ? [{ id: `g${n}a`, name: 'Level 5', payout: 0.5 }, { id: `g${n}b`, name: 'Level 20', payout: 2.25 }] : [] // prettier-ignore
  const payout = goals.length === 0 ? 0.25 + (n % 40) / 4 : 2.75
  return { id: 1_000 + n, name: `Offer ${n} & more`, payout, country: ['US', 'DE', 'GB'][n % 3]!, platform: n % 2 === 0 ? 'android' : 'ios', goals } // prettier-ignore
}
