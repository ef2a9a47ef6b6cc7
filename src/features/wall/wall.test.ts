// The wall's own API: what a page with the public key alone can do, and what it cannot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { TESTER } from '../../../test/tester.ts'
import { isSpoolEmpty, until } from '../../../test/installation.ts'
import { publisherOfApp } from '../../../test/people.ts'
import { banUser } from '../apps/bans.ts'
import { permit } from '../apps/permissions.ts'
import { changeRewardSettings } from '../apps/reward-settings.ts'
import { rotateSigningSecret } from '../apps/signing-secrets.ts'
import type { Activity, PageViewer, WallOfferList } from './schema.ts'
import { MAX_LIFE_S, signUser } from './signature.ts'

const world = useWorld('wall')
const PHONE = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36' // prettier-ignore

type Shown = { offer_id: number; reward: number; currency: string; link: string; goals: { reward: number; reward_varies?: true }[] } // prettier-ignore
type Answer = {
  status: number
  text: string
  offers: Shown[]
  error: { code: string; details: Record<string, string> }
}

async function look(
  path: string,
  query: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { statusCode, body } = await world.app.server.inject({
    url: `/wall/v1${path}?${new URLSearchParams(query).toString()}`,
    headers: { 'user-agent': BROWSER, ...headers },
  })
  const { data, error } = JSON.parse(body) as { data?: { offers: Shown[] }; error: Answer['error'] }
  return { status: statusCode, text: body, offers: data?.offers ?? [], error }
}

test('the public key alone shows offers with rewards and links, and nothing of what the publisher earns', async () => {
  const { live } = await world.createApp({ currency: 'Gems', rateMicros: 100_000_000 })
  const [offerId = 0] = await world.createOffers({
    payout: undefined,
    goals: [{ name: 'Install', payout: '0.5' }, { name: 'Buy', payout: '1', payout_percent: 10, is_optional: true }],
  }) // prettier-ignore
  const { status, text, offers } = await look('/offers', { apiKey: live.api_key, userId: 'ann' })
  assert.equal(status, 200, text)
  const offer = offers.find(({ offer_id }) => offer_id === offerId)
  assert.deepEqual([offer?.reward, offer?.currency], [150, 'Gems'])
  assert.deepEqual(offer?.goals.map((goal) => [goal.reward, goal.reward_varies]), [[50, undefined], [100, true]]) // prettier-ignore
  assert.doesNotMatch(text, /payout/)
  const one = await look(`/offers/${offerId}`, { apiKey: live.api_key, userId: 'ann' })
  assert.equal(one.status, 200)
  assert.doesNotMatch(one.text, /payout/)
  const link = offer?.link.replace(world.config.publicUrl, '') ?? ''
  const { statusCode } = await world.app.server.inject({ url: link, headers: { 'user-agent': BROWSER } })
  assert.equal(statusCode, 302)
})

test('country and platform are those of the visitor, unless the page says otherwise', async () => {
  const { live } = await world.createApp()
  const [android = 0, web = 0] = await world.createOffers({ platforms: ['android'] }, { platforms: ['web'] })
  const shown = async (query: Record<string, string>, agent: string) => {
    const all = await look(
      '/offers',
      { apiKey: live.api_key, userId: 'u', limit: '100', ...query },
      { 'user-agent': agent },
    )
    return [android, web].map((id) => all.offers.some(({ offer_id }) => offer_id === id))
  }
  assert.deepEqual(await shown({}, PHONE), [true, false])
  assert.deepEqual(await shown({}, BROWSER), [false, true])
  assert.deepEqual(await shown({ platform: 'android' }, BROWSER), [true, false])
})

test('a signature counts for its user, key and time, and during a rotation by both secrets', async () => {
  const { appId, live, test: testKeys } = await world.createApp()
  const { api_key: apiKey, signing_secret } = live
  const expiresAtS = Math.floor(Date.now() / 1000) + 600
  const signed = (userId: string, secret = signing_secret, at = expiresAtS) => ({ apiKey, userId, exp: String(at), sig: signUser(secret, { apiKey, userId, expiresAtS: at }) }) // prettier-ignore
  const verdict = async (query: Record<string, string>) => {
    const { status, error } = await look('/offers', query)
    return status === 200 ? 'ok' : (error.details['sig'] ?? error.details['exp'])
  }
  assert.equal(await verdict(signed('ann')), 'ok')
  assert.equal(await verdict(signed('ann\nx')), 'ok')
  assert.match((await verdict({ ...signed('ann'), userId: 'bob' })) ?? '', /does not belong/)
  assert.match((await verdict({ ...signed('ann'), exp: String(expiresAtS + 1) })) ?? '', /does not belong/)
  assert.match((await verdict({ ...signed('ann'), apiKey: testKeys.api_key })) ?? '', /does not belong/)
  assert.match((await verdict(signed('ann', signing_secret, expiresAtS - 601))) ?? '', /expired/)
  assert.match((await verdict(signed('ann', signing_secret, expiresAtS + MAX_LIFE_S))) ?? '', /a day at most/)
  assert.equal(
    await verdict(signed('ann', signing_secret, expiresAtS - 600 + MAX_LIFE_S + 120)),
    'ok',
    'a day, by a clock that is ahead',
  )
  const { sig: _sig, ...half } = signed('ann')
  assert.match((await verdict(half)) ?? '', /together/)
  const next = await rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 60_000)
  assert.equal(await verdict(signed('ann')), 'ok', 'the old one, in its grace')
  await until(async () => (await verdict(signed('ann', next.signing_secret))) === 'ok')
  assert.equal(await verdict(signed('ann')), 'ok')
})

test('a banned user sees no offers, and a key that is closed or unknown gives nothing away', async () => {
  const { appId, live } = await world.createApp()
  await world.createOffers({})
  await banUser(world.database.db, TESTER, { appId, userId: 'cheat', reason: 'fraud' })
  await world.app.refresh()
  assert.deepEqual((await look('/offers', { apiKey: live.api_key, userId: 'cheat' })).offers, [])
  assert.ok((await look('/offers', { apiKey: live.api_key, userId: 'other' })).offers.length > 0)
  await permit(world.database.db, TESTER, await publisherOfApp(world, appId), { status: 'suspended' })
  await world.app.refresh()
  const closed = await look('/offers', { apiKey: live.api_key, userId: 'other' })
  const unknown = await look('/offers', { apiKey: 'pk_live_nothing', userId: 'other' })
  assert.deepEqual([closed.status, closed.error], [unknown.status, unknown.error])
  assert.equal(closed.error.code, 'INVALID_API_KEY')
})

test('a page that floods the wall stops at its own limit, and the publisher’s server is not slowed', async () => {
  const { live } = await world.createApp({ rateLimit: 5 })
  const query = { apiKey: live.api_key, userId: 'flood' }
  let refused = 0
  for (let i = 0; i < 130; i++) if ((await look('/offers', query)).status === 429) refused++
  assert.equal(refused, 10)
  assert.equal((await look('/offers', { ...query, userId: 'another' })).status, 200)
  assert.equal((await world.get('/v1/offers?userId=flood', live)).status, 200)
})

test('a page that changes its users stops at the limit of its IP address, and other addresses go on', async () => {
  const { live } = await world.createApp()
  const from = async (remoteAddress: string, user: number) => {
    const url = `/wall/v1/opened?apiKey=${live.api_key}&userId=${user}`
    return (await world.app.server.inject({ method: 'POST', url, remoteAddress })).statusCode
  }
  const taken = await Promise.all(Array.from({ length: 3_000 }, (_, user) => from('203.0.113.1', user)))
  assert.deepEqual([...new Set(taken)], [200])
  assert.equal(await from('203.0.113.1', 3_000), 429)
  assert.equal(await from('203.0.113.2', 3_000), 200)
})

test('what is wrong is said by parameter', async () => {
  const { live } = await world.createApp()
  const { status, error } = await look('/offers', { apiKey: live.api_key, limit: 'x', country: 'UK', sig: 'short' })
  assert.deepEqual([status, error.code], [400, 'INVALID_REQUEST'])
  assert.deepEqual(Object.keys(error.details).toSorted(), ['country', 'limit', 'sig', 'userId'])
})

const page = async (query: Record<string, string>) => {
  const { statusCode, body } = await world.app.server.inject({
    url: `/wall?${new URLSearchParams(query).toString()}`,
    headers: { 'user-agent': BROWSER },
  })
  const read = (id: string): unknown => JSON.parse(new RegExp(`id="${id}">(.*?)</script>`).exec(body)?.[1] ?? 'null')
  return { status: statusCode, body, offers: read('offers') as Static<typeof WallOfferList>, viewer: read('viewer') as PageViewer } // prettier-ignore
}

test('a page about a wrong request is in a language whatever was sent for it', async () => {
  const { live } = await world.createApp()
  for (const lang of ['lang=de&lang=fr', 'lang=%zz', 'lang=1,5'])
    assert.equal((await world.app.server.inject(`/wall?apiKey=${live.api_key}&userId=u&${lang}`)).statusCode, 400, lang)
})

test('the page shows a sale, and a welcome offer to those who can complete it and have completed nothing', async () => {
  const { appId, live } = await world.createApp()
  const goals = [{ name: 'Buy', payout: '1', is_repeatable: true }]
  const [welcome = 0, other = 0, shop = 0] = await world.createOffers({ countries: ['US'] }, {}, { payout: undefined, goals }) // prettier-ignore
  const sale = {
    multiplierPpm: 2_000_000,
    startsAt: new Date(Date.now() - 1_000),
    endsAt: new Date(Date.now() + 60_000),
  }
  await changeRewardSettings(world.database.db, TESTER, appId, { welcomeOfferId: welcome, sale })
  await world.app.refresh()
  const look = (more = {}) => page({ apiKey: live.api_key, userId: 'new', platform: 'web', country: 'US', ...more })
  const { offers, viewer } = await look()
  assert.equal(offers.sale?.multiplier, 2)
  assert.equal(offers.offers.find(({ offer_id }) => offer_id === other)?.reward, 200)
  assert.equal(viewer.welcomeOfferId, welcome)
  assert.equal((await look({ country: 'SE' })).viewer.welcomeOfferId, null)
  const { clickId } = await world.click(other, live, 'userId=new')
  await world.confirm(other, clickId)
  await world.app.refresh()
  assert.equal((await look()).viewer.welcomeOfferId, null)
  const bought = await world.click(shop, live, 'userId=buyer')
  assert.equal((await look({ userId: 'buyer' })).viewer.welcomeOfferId, welcome)
  await world.confirm(shop, bought.clickId, { txn_id: 'order-1' })
  await world.app.refresh()
  assert.equal((await look({ userId: 'buyer' })).viewer.welcomeOfferId, null)
})

test('a signed user of an app that keeps balances sees the balance, as promised at the click', async () => {
  const { appId, live } = await world.createApp()
  const sale = {
    multiplierPpm: 1_500_000,
    startsAt: new Date(Date.now() - 1_000),
    endsAt: new Date(Date.now() + 60_000),
  }
  await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance: true, sale })
  await world.app.refresh()
  const [offerId = 0] = await world.createOffers({ goals: [{ name: 'One', payout: '1' }, { name: 'Two', payout: '2' }], payout: undefined }) // prettier-ignore
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await changeRewardSettings(world.database.db, TESTER, appId, { sale: null })
  await world.confirm(offerId, clickId, { goal: 'One' })
  const user = { apiKey: live.api_key, userId: 'ann', expiresAtS: Math.floor(Date.now() / 1000) + 60 }
  const query = {
    apiKey: user.apiKey,
    userId: 'ann',
    exp: String(user.expiresAtS),
    sig: signUser(live.signing_secret, user),
  }
  const { text } = await look('/activity', query)
  const { data } = JSON.parse(text) as { data: Static<typeof Activity> }
  assert.deepEqual([data.balance, data.items[0]?.reward], [150, 150])
  assert.deepEqual(data.started[0]?.goals.map(({ reward, status }) => [reward, status]), [[150, 'approved'], [300, null]]) // prettier-ignore
})

test('an app for servers only has no wall', async () => {
  const { appId, live } = await world.createApp()
  await changeRewardSettings(world.database.db, TESTER, appId, { kind: 'tracking' })
  await world.app.refresh()
  const query = { apiKey: live.api_key, userId: 'ann' }
  assert.equal((await page(query)).status, 404)
  assert.equal((await look('/offers', query)).error.code, 'RESOURCE_NOT_FOUND')
  assert.equal((await world.get('/v1/offers?userId=ann', live)).status, 200)
})

test('the country is that of the request; one that is not is noted at the click, for the fraud rules', async () => {
  const config = { countryHeader: 'x-country', trustProxy: ['127.0.0.1'] }
  const app = await world.start(config)
  try {
    const { live } = await world.createApp()
    const [offerId = 0, swedish = 0] = await world.createOffers({ name: 'Anywhere' }, { countries: ['SE'] })
    await app.refresh()
    const listed = async (headers: Record<string, string>, more: Record<string, string> = {}) => {
      const query = new URLSearchParams({ apiKey: live.api_key, userId: 'ann', limit: '100', ...more })
      const { body } = await app.server.inject({ url: `/wall/v1/offers?${query.toString()}`, headers })
      return (JSON.parse(body) as { data: { offers: Shown[] } }).data.offers
    }
    const isInSweden = async (country: string) => {
      const headers = { 'user-agent': BROWSER, 'x-country': country }
      const { body } = await app.server.inject({ url: `/wall?apiKey=${live.api_key}&userId=ann`, headers })
      const inList = (await listed(headers)).some(({ offer_id }) => offer_id === swedish)
      return [inList, body.includes(`"country":"${country}"`), body.includes(`"offer_id":${swedish},`)]
    }
    assert.deepEqual(await isInSweden('SE'), [true, true, true])
    assert.deepEqual(await isInSweden('US'), [false, true, false])
    const clicked = async (more: Record<string, string>) => {
      const headers = { 'user-agent': BROWSER, 'x-country': 'SE' }
      const link = (await listed(headers, more)).find(({ offer_id }) => offer_id === offerId)?.link ?? ''
      const { headers: found } = await app.server.inject({ url: link.replace(world.config.publicUrl, ''), headers })
      const clickId = URL.parse(String(found.location))?.searchParams.get('c') ?? ''
      return world.database.db.selectFrom('clicks').select(['signals', 'country']).where('click_id', '=', clickId).executeTakeFirst() // prettier-ignore
    }
    assert.deepEqual(await clicked({}), { signals: null, country: 'SE' })
    assert.deepEqual(await clicked({ country: 'se' }), { signals: null, country: 'SE' })
    assert.deepEqual(await clicked({ country: 'US' }), { signals: ['claimed_country'], country: 'SE' })
  } finally {
    await app.close()
  }
})

test('a page that nobody signed changes nothing of what is known of a user, but its links carry its sub-IDs', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  await world.get('/v1/offers?userId=ann&aff_sub=mail', live)
  const query = { apiKey: live.api_key, userId: 'ann', aff_sub: 'stolen', search: String(offerId) }
  const { offers } = await look('/offers', query)
  await page(query)
  await look(`/offers/${offerId}`, query)
  await until(() => isSpoolEmpty(world.dataDir)) // where a busy machine keeps sub-IDs for a moment
  const reported = await world.report(live, { userId: 'ann', offerId })
  assert.equal(reported.body.data.conversion.aff_sub, 'mail')
  const other = await look('/offers', { ...query, userId: 'bob' })
  const { clickId } = await world.follow(other.offers[0]?.link ?? '')
  const click = await world.database.db.selectFrom('clicks').select('aff_sub').where('click_id', '=', clickId).executeTakeFirst() // prettier-ignore
  assert.equal(click?.aff_sub, 'stolen')
  assert.ok(offers.length > 0)
  const user = { apiKey: live.api_key, userId: 'eve', expiresAtS: Math.floor(Date.now() / 1000) + 60 }
  const sig = signUser(live.signing_secret, user)
  await look('/offers', { ...query, userId: 'eve', aff_sub: 'own', exp: String(user.expiresAtS), sig })
  await until(() => isSpoolEmpty(world.dataDir))
  assert.equal((await world.report(live, { userId: 'eve', offerId })).body.data.conversion.aff_sub, 'own')
})

test('searches find all of their words, and one network can search so often only', async () => {
  const { live } = await world.createApp()
  const [offerId = 0, other = 0] = await world.createOffers({ name: 'Quiet Harbour', description: 'Reach the lighthouse' }, { name: 'Quiet' }) // prettier-ignore
  const search = async (words: string, userId = 'ann') => {
    const { offers, status } = await look('/offers', { apiKey: live.api_key, userId, search: words })
    return { status, found: offers.map(({ offer_id }) => offer_id).toSorted((a, b) => a - b) }
  }
  assert.deepEqual((await search('lighthouse  QUIET')).found, [offerId])
  assert.deepEqual((await search('quiet')).found, [offerId, other])
  const statuses = await Promise.all(
    Array.from({ length: 70 }, async (_, i) => (await search('none', `user-${i}`)).status),
  )
  assert.ok(statuses.filter((status) => status === 200).length <= 60)
  assert.equal((await look('/offers', { apiKey: live.api_key, userId: 'ann' })).status, 200)
})
