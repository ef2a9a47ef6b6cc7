// Each upstream confirms conversions by the URL that it was given, and takes them back.
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { fillMacros, REVERSES, type UpstreamCall } from '../../../test/upstreams/calls.ts'
import { Upstream } from '../../../test/upstreams/server.ts'
import { upstreamOffer } from '../../../test/upstreams/shapes.ts'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { setAdvertiser } from '../accounts/advertiser-settings.ts'
import { createAdvertiser, getAdvertiser } from '../accounts/advertisers.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { createAddressGuard } from '../postbacks/address-guard.ts'
import { createSocketOpener } from '../postbacks/open-socket.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { createFeed } from './feeds.ts'
import { setPostbackSecret } from './postback-secret.ts'
import { PRESETS } from './presets/presets.ts'
import { removeFeed } from './remove-feed.ts'
import { runFeed } from './run.ts'
import { postbackUrlFor } from './way-back.ts'

let live: IssuedCredentials
const world = useWorld('feed_way_back', async () => {
  live = (await world.createApp()).live
})
const open = createSocketOpener({
  guard: createAddressGuard({ allow: [], deny: [], allowLoopback: true }),
  proxy: null,
})

const DEVICES = {
  web: BROWSER,
  android: 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
  ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
} // prettier-ignore

/** A feed of this upstream whose requests go to the one that a test plays. */
async function startFeed(key: string, name?: string) {
  const { db } = world.database
  const upstream = await new Upstream(key).open()
  upstream.offers = [upstreamOffer(0), upstreamOffer(1)] // with goals, and without
  const { request, credentials } = upstream.source
  const created = await createFeed(db, TESTER, SECRET_KEY, { name: name ?? upstream.preset.title, advertiserId: null, kind: { preset: key }, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  await db
    .updateTable('feeds')
    .set({ preset: null, request: JSON.stringify(request), mapping: JSON.stringify(upstream.preset.mapping) })
    .where('feed_id', '=', created.feedId)
    .execute()
  const run = async () => {
    const runId = await runFeed({ db, secretKey: SECRET_KEY, open }, TESTER, created.feedId)
    await world.app.refresh()
    return db.selectFrom('feed_runs').select(['outcome', 'changed', 'paused']).where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
  }
  await run()
  const offers = await db.selectFrom('offers').select(['offer_id', 'external_id', 'countries', 'platforms']).where('advertiser_id', '=', created.advertiserId).orderBy('external_id').execute() // prettier-ignore
  const url = postbackUrlFor(upstream.preset.back, world.config.publicUrl, created.token ?? '')
  const call = async (what: UpstreamCall, more = '') => {
    const answer = await world.app.server.inject(`${fillMacros(key, url, what).replace(world.config.publicUrl, '')}${more}`) // prettier-ignore
    return { status: answer.statusCode, ...answer.json<{ outcome: string; conversion_id: string | null; message: string }>() } // prettier-ignore
  }
  return { upstream, offers, run, call }
}

type Clicked = { offer_id: number; countries: string[]; platforms: string[] }

/** What the upstream gets of a click. */
async function click({ offer_id, countries, platforms }: Clicked, userId: string): Promise<string> {
  const { location } = await world.click(offer_id, live, `userId=${userId}&country=${countries[0] ?? 'US'}&platform=${platforms[0]}`, { 'user-agent': DEVICES[platforms[0] as 'web'] }) // prettier-ignore
  const [clickId = ''] = /[\da-f]{8}-[\da-f-]{27}/.exec(location) ?? []
  assert.notEqual(clickId, '', location)
  return clickId
}

for (const { key, title } of PRESETS)
  test(`${title}: users take the click ID along, goals are found by its IDs, and what it reverses is reversed`, async () => {
    const { upstream, offers, call } = await startFeed(key)
    assert.equal(offers.length, key === 'torox' ? 1 : 2) // one has several goals, and its callbacks name none
    for (const [n, { offer_id, external_id, countries, platforms }] of offers.entries()) {
      const goals = key === 'cpalead' || key === 'torox' ? [] : (upstream.offers[n]?.goals ?? [])
      const clickId = await click({ offer_id, countries, platforms }, `${key}-${n}`)
      const told = goals.length === 0 ? [{ id: null, name: '' }] : goals
      for (const [i, goal] of told.entries()) {
        const what = { clickId, transactionId: `${key}-${n}-${i}`, offerId: external_id ?? '', goalId: goal.id, goalName: goal.name, payout: 1.25, isReversal: false } // prettier-ignore
        const first = await call(what)
        assert.equal(first.outcome, 'approved', `${goal.name}: ${first.message}`)
        const row = await world.database.db.selectFrom('conversions').innerJoin('goals', 'goals.goal_id', 'conversions.goal_id').select(['goals.external_id', 'goals.name']).where('conversion_id', '=', first.conversion_id).executeTakeFirstOrThrow() // prettier-ignore
        if (goal.id !== null) assert.deepEqual([row.external_id, row.name], [goal.id, goal.name])
        assert.equal((await call(what)).outcome, 'duplicate')
        if (!REVERSES.includes(key)) continue
        const back = await call({ ...what, isReversal: true })
        assert.deepEqual([back.outcome, back.conversion_id], ['reversed', first.conversion_id], back.message)
      }
    }
  })

test('who clicked before a feed changed and paused an offer is paid what was promised, once, and as late as any other', async () => {
  const { db } = world.database
  const { upstream, offers, run, call } = await startFeed('everflow', 'Changes and pauses')
  const [kept, other] = [offers[1] ?? assert.fail(), upstream.offers[1] ?? assert.fail()]
  const promised = await db.selectFrom('goals').select(['goal_id', 'payout_micros']).where('offer_id', '=', kept.offer_id).executeTakeFirstOrThrow() // prettier-ignore
  const [before, after] = [await click(kept, 'early'), await click(kept, 'early')]
  upstream.offers = [upstream.offers[0] ?? assert.fail(), { ...other, name: 'Renamed', payout: other.payout / 2 }]
  assert.deepEqual(await run(), { outcome: 'done', changed: 1, paused: 0 })
  const cheaper = await click(kept, 'between')
  upstream.offers = upstream.offers.slice(0, 1)
  assert.deepEqual(await run(), { outcome: 'done', changed: 0, paused: 1 })
  await assert.rejects(click(kept, 'late'), /404/)
  const confirm = (clickId: string, transactionId: string) => call({ clickId, transactionId, offerId: kept.external_id ?? '', goalId: null, goalName: '', payout: 1.25, isReversal: false }) // prettier-ignore
  const paidFor = async (conversionId: string | null) => (await db.selectFrom('conversions').select('payout_micros').where('conversion_id', '=', conversionId).executeTakeFirstOrThrow()).payout_micros // prettier-ignore
  const first = await confirm(before, 'late-1')
  assert.deepEqual([first.outcome, await paidFor(first.conversion_id)], ['approved', promised.payout_micros])
  assert.equal((await confirm(before, 'late-1')).outcome, 'duplicate')
  const third = await confirm(cheaper, 'late-2')
  assert.deepEqual([third.outcome, await paidFor(third.conversion_id)], ['approved', promised.payout_micros / 2])
  // A late one is as good after the offer has returned as before.
  upstream.offers = [...upstream.offers, other]
  assert.equal((await run()).outcome, 'done')
  assert.equal((await confirm(after, 'late-3')).outcome, 'duplicate', 'a user completes a goal once')
})

test('what is set for an advertiser stays when a feed is added, and a feed that contradicts it is refused', async () => {
  const { db } = world.database
  const credentials = { key: 'k', adslot: '1', tenant: 't', placement: 'p', pubid: '1', appid: '1' }
  const add = (preset: string, advertiserId: number, more: object = {}) => createFeed(db, TESTER, SECRET_KEY, { name: `${preset} of ${advertiserId}`, advertiserId, kind: { preset }, credentials, settings: FEED_DEFAULTS, ...more }) // prettier-ignore
  const { advertiser_id } = await createAdvertiser(db, TESTER, SECRET_KEY, 'Set by hand')
  await setAdvertiser(db, TESTER, advertiser_id, {
    statusMap: [
      ['done', 'approved'],
      ['1', 'approved'],
    ],
  })
  assert.equal((await add('ayet', advertiser_id)).token, null, 'it has one')
  await add('affise', advertiser_id)
  await add('lootably', advertiser_id)
  const { status_map, reversal_prefix, negative_amount } = await getAdvertiser(db, advertiser_id)
  assert.deepEqual([status_map, reversal_prefix, negative_amount], [{ done: 'approved', 0: 'reversed', 1: 'approved', 2: 'pending', 3: 'rejected', 5: 'pending' }, 'r-', 'reversal']) // prettier-ignore
  const refused = async (preset: string, settings: Parameters<typeof setAdvertiser>[3], message: RegExp) => {
    const other = await createAdvertiser(db, TESTER, SECRET_KEY, `Against ${preset} ${message.source}`)
    await setAdvertiser(db, TESTER, other.advertiser_id, settings)
    const before = await getAdvertiser(db, other.advertiser_id)
    await assert.rejects(add(preset, other.advertiser_id), message)
    assert.deepEqual(await getAdvertiser(db, other.advertiser_id), before)
  }
  await refused('lootably', { statusMap: [['0', 'pending']] }, /reads the status "0" as pending, and this network means reversed\. Change that, or choose another advertiser/) // prettier-ignore
  await refused(
    'ayet',
    { reversalPrefix: 'back-' },
    /recognizes reversals by "back-", and this network marks them with "r-"/,
  )
  await refused('ayet', { negativeAmount: 'ignore' }, /is set to treat negative amounts differently: ignore/)
  const signed = await createAdvertiser(db, TESTER, SECRET_KEY, 'Signed')
  await add('torox', signed.advertiser_id, { postbackSecret: 'theirs' })
  await assert.rejects(add('affise', signed.advertiser_id), /has a callback signature that this network does not use/)
  await assert.rejects(createFeed(db, TESTER, SECRET_KEY, { name: 'Set by hand', advertiserId: null, kind: { preset: 'ayet' }, credentials: { key: 'k', adslot: '1' }, settings: FEED_DEFAULTS }), /An advertiser "Set by hand" already exists/) // prettier-ignore
})

test('a feed that would change what callbacks of an advertiser mean is refused, until the operator sets it', async () => {
  const { db } = world.database
  const add = (preset: string, advertiserId: number) => createFeed(db, TESTER, SECRET_KEY, { name: `${preset} for ${advertiserId}`, advertiserId, kind: { preset }, credentials: { key: 'k', tenant: 't', adslot: '1' }, settings: FEED_DEFAULTS }) // prettier-ignore
  const [offer = 0] = await world.createOffers({ payout: 5 })
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offer).executeTakeFirstOrThrow() // prettier-ignore
  const confirm = async (userId: string, transaction: string) => {
    const { clickId } = await world.click(offer, live, `userId=${userId}`)
    await world.confirm(offer, clickId, { txn_id: transaction })
    return (await world.confirm(offer, clickId, { txn_id: transaction, status: '2' })).outcome
  }
  assert.equal(await confirm('before', 'r-1'), 'reversed')
  const before = await getAdvertiser(db, advertiser_id)
  await assert.rejects(add('affise', advertiser_id), /would be read differently: the status "2" means rejected now, and pending for this network\. Choose another advertiser for this feed, or change the callback settings of this one first\./) // prettier-ignore
  await assert.rejects(add('ayet', advertiser_id), /"r-1" is the ID of a transaction now, and marks a reversal/)
  assert.deepEqual(await getAdvertiser(db, advertiser_id), before)
  await db.deleteFrom('inbound_calls').where('advertiser_id', '=', advertiser_id).execute()
  await assert.rejects(add('affise', advertiser_id), /would be read differently/, 'its conversions are older than the log') // prettier-ignore
  assert.equal(await confirm('after', 't-1'), 'reversed')
  await setAdvertiser(db, TESTER, advertiser_id, { reversalPrefix: 'r-', statusMap: [['2', 'pending'], ['3', 'rejected']] }) // prettier-ignore
  await add('affise', advertiser_id)
  await add('ayet', advertiser_id)
})

test('where a network signs its callbacks and its secret is known, those with a wrong signature are refused', async () => {
  const secret = 'theirs-and-ours'
  const signs: Record<string, (text: string) => string> = {
    lootably: (text) => createHash('sha256').update(text + secret).digest('hex'),
    torox: (text) => createHash('md5').update(text + secret).digest('hex'),
  } // prettier-ignore
  for (const [key, sign] of Object.entries(signs)) {
    const { db } = world.database
    const preset = PRESETS.find((one) => one.key === key) ?? assert.fail()
    const credentials = Object.fromEntries(preset.credentials.map(({ name }) => [name, 'x']))
    const { token } = await createFeed(db, TESTER, SECRET_KEY, { name: `Signed ${key}`, advertiserId: null, kind: { preset: key }, credentials, settings: FEED_DEFAULTS, postbackSecret: secret }) // prettier-ignore
    const url = postbackUrlFor(preset.back, world.config.publicUrl, token ?? '')
    const what: UpstreamCall = { clickId: '00000000-0000-7000-8000-000000000000', transactionId: '1', offerId: '1', goalId: null, goalName: '', payout: 1, isReversal: false } // prettier-ignore
    const send = async (call: UpstreamCall) => (await world.app.server.inject(fillMacros(key, url, call).replace(world.config.publicUrl, ''))).json<{ outcome: string; reason: string | null }>() // prettier-ignore
    assert.equal((await send({ ...what, sign })).outcome, 'unmatched', key)
    assert.equal((await send({ ...what, sign: (text) => sign(`${text}!`) })).reason, 'wrong_signature', key)
    assert.equal((await send(what)).reason, 'wrong_signature', key)
  }
  await assert.rejects(createFeed(world.database.db, TESTER, SECRET_KEY, { name: 'Not signed', advertiserId: null, kind: { preset: 'affise' }, credentials: { key: 'x', tenant: 'x' }, settings: FEED_DEFAULTS, postbackSecret: secret }), /callbacks of this network are not signed/) // prettier-ignore
})

test('a secret is for the network of the feeds that there are, and refused where they sign differently', async () => {
  const { db } = world.database
  const { advertiser_id } = await createAdvertiser(db, TESTER, SECRET_KEY, 'Signs otherwise by now')
  const credentials = { key: 'k', pubid: '1', appid: '1', placement: 'p', tenant: 't' }
  const add = (preset: string, more: object = {}) => createFeed(db, TESTER, SECRET_KEY, { name: `${preset} with a secret`, advertiserId: advertiser_id, kind: { preset }, credentials, settings: FEED_DEFAULTS, ...more }) // prettier-ignore
  const sign = () => setPostbackSecret(db, TESTER, SECRET_KEY, advertiser_id, 'theirs')
  const remove = (feedId: number) => removeFeed(db, TESTER, SECRET_KEY, feedId)
  await remove((await add('torox')).feedId)
  await assert.rejects(sign(), /It is not known how/)
  await add('lootably')
  const { feedId } = await add('affise')
  await assert.rejects(sign(), /The networks of Signs otherwise by now sign their callbacks differently, or not at all/)
  await assert.rejects(add('bitlabs', { postbackSecret: 'theirs' }), /sign their callbacks differently/)
  await remove(feedId)
  await sign()
  assert.equal((await getAdvertiser(db, advertiser_id)).signature?.parameter, 'hash')
})

test('BitLabs signs the URL and ayeT the sorted query: what is signed otherwise is refused', async () => {
  const { db } = world.database
  const secret = 'theirs-and-ours'
  const hmac = (algorithm: string, text: string) => createHmac(algorithm, secret).update(text).digest('hex')
  const sortQuery = (url: string) => [...new URL(url).searchParams].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&') // prettier-ignore
  type Signed = { url: string; headers: Record<string, string> }
  const signs: Record<string, (url: string) => Signed> = {
    bitlabs: (url) => ({ url: `${url}&hash=${hmac('sha1', url)}`, headers: {} }),
    ayet: (url) => ({ url, headers: { 'x-ayetstudios-security-hash': hmac('sha256', sortQuery(url)) } }),
  }
  for (const [key, sign] of Object.entries(signs)) {
    const preset = PRESETS.find((one) => one.key === key) ?? assert.fail()
    const credentials = Object.fromEntries(preset.credentials.map(({ name }) => [name, 'x']))
    const { token } = await createFeed(db, TESTER, SECRET_KEY, { name: `Signed ${key}`, advertiserId: null, kind: { preset: key }, credentials, settings: FEED_DEFAULTS, postbackSecret: secret }) // prettier-ignore
    const what: UpstreamCall = { clickId: '00000000-0000-7000-8000-000000000000', transactionId: '1', offerId: '1', goalId: '2', goalName: '', payout: 1, isReversal: false } // prettier-ignore
    const url = fillMacros(key, postbackUrlFor(preset.back, world.config.publicUrl, token ?? ''), what)
    const send = async ({ url: sent, headers }: Signed) => (await world.app.server.inject({ url: sent.replace(world.config.publicUrl, ''), headers })).json<{ outcome: string; reason: string | null }>() // prettier-ignore
    assert.equal((await send(sign(url))).outcome, 'unmatched', key)
    const { headers, url: signed } = sign(url)
    const changed = signed.replace('amount=1', 'amount=9')
    assert.notEqual(changed, signed)
    assert.equal((await send({ url: changed, headers })).reason, 'wrong_signature', key)
    assert.equal((await send({ url, headers: {} })).reason, 'wrong_signature', key)
  }
})

const aCall = (clickId: string, offerId: string, change: Partial<UpstreamCall>): UpstreamCall => ({ clickId, transactionId: clickId, offerId, goalId: null, goalName: '', payout: 0, isReversal: false, ...change }) // prettier-ignore

test('AdGem: an install that is not paid is ignored; a goal that an offer without goals does not have is the whole, if it pays as much', async () => {
  const { offers, call } = await startFeed('adgem', 'AdGem again')
  const [, offer = assert.fail()] = offers
  const clickId = await click(offer, 'adgem-install')
  const of = (change: Partial<UpstreamCall>) => aCall(clickId, offer.external_id ?? '', change)
  const install = await call(of({}), '&nonpayable_install_goal=true')
  assert.deepEqual([install.status, install.outcome, install.message], [200, 'ignored', 'An install that this network does not pay for.']) // prettier-ignore
  const { db } = world.database
  const logged = await db.selectFrom('inbound_calls').select(['outcome', 'reason', 'conversion_id']).where('click_id', '=', clickId).execute() // prettier-ignore
  assert.deepEqual(logged, [{ outcome: 'ignored', reason: install.message, conversion_id: null }])
  assert.deepEqual(await db.selectFrom('conversions').select('conversion_id').where('click_id', '=', clickId).execute(), []) // prettier-ignore
  const step = await call(of({ goalId: '7', payout: 0.4 }))
  assert.deepEqual([step.status, step.outcome, step.message], [400, 'invalid', 'The offer has no such goal.'])
  assert.equal((await call(of({ goalId: '8', payout: 0.5 }))).outcome, 'approved')
})

test('CPAlead: an event that pays what the offer does is the offer', async () => {
  const { offers, call } = await startFeed('cpalead', 'CPAlead again')
  const [, offer = assert.fail()] = offers
  const clickId = await click(offer, 'cpalead-event')
  const of = (change: Partial<UpstreamCall>) => aCall(clickId, offer.external_id ?? '', change)
  assert.equal((await call(of({ goalName: 'Install', payout: 0.1 }))).outcome, 'invalid')
  assert.equal((await call(of({ goalName: 'Purchase', payout: 0.5 }))).outcome, 'approved')
})

test('Everflow: a conversion of another of its offers is not credited at the one that was clicked', async () => {
  const { offers, call } = await startFeed('everflow', 'Everflow again')
  const [offer = assert.fail(), other = assert.fail()] = offers
  const clickId = await click(offer, 'everflow-redirect')
  const of = (offerId: string | null, change: Partial<UpstreamCall> = {}) => aCall(clickId, offerId ?? '', { payout: 1, ...change }) // prettier-ignore
  for (const elsewhere of [other.external_id, '999999']) {
    const sent = await call(of(elsewhere))
    assert.deepEqual([sent.status, sent.outcome, sent.message], [400, 'invalid', 'The callback is for another offer of this network than the one that was clicked.']) // prettier-ignore
  }
  assert.equal((await call(of(offer.external_id))).outcome, 'approved')
})

test('two feeds that are added to an advertiser at once both bring their words', async () => {
  const { db } = world.database
  const { advertiser_id: advertiserId } = await createAdvertiser(db, TESTER, SECRET_KEY, 'Of two networks')
  const add = (preset: string) => createFeed(db, TESTER, SECRET_KEY, { name: `At once, ${preset}`, advertiserId, kind: { preset }, credentials: new Upstream(preset).source.credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  await Promise.all([add('lootably'), add('adgate')])
  const { status_map } = await getAdvertiser(db, advertiserId)
  assert.deepEqual(status_map, { 0: 'reversed', 1: 'approved', approved: 'approved', pending: 'pending', rejected: 'reversed' }) // prettier-ignore
})
