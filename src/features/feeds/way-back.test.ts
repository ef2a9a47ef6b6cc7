// Each upstream confirms conversions by the URL that it was given, and takes them back.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
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
import { PRESETS } from './presets/presets.ts'
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
async function startFeed(key: string) {
  const { db } = world.database
  const upstream = await new Upstream(key).open()
  upstream.offers = [upstreamOffer(0), upstreamOffer(1)] // with goals, and without
  const { request, credentials } = upstream.source
  const created = await createFeed(db, TESTER, SECRET_KEY, { name: upstream.preset.title, advertiserId: null, kind: { preset: key }, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  await db
    .updateTable('feeds')
    .set({ preset: null, request: JSON.stringify(request), mapping: JSON.stringify(upstream.preset.mapping) })
    .where('feed_id', '=', created.feedId)
    .execute()
  await runFeed({ db, secretKey: SECRET_KEY, open }, TESTER, created.feedId)
  await world.app.refresh()
  const offers = await db.selectFrom('offers').select(['offer_id', 'external_id', 'countries', 'platforms']).where('advertiser_id', '=', created.advertiserId).orderBy('external_id').execute() // prettier-ignore
  const url = postbackUrlFor(upstream.preset.back, world.config.publicUrl, created.token ?? '')
  const call = async (what: UpstreamCall) => {
    const answer = await world.app.server.inject(fillMacros(key, url, what).replace(world.config.publicUrl, ''))
    return answer.json<{ outcome: string; conversion_id: string | null; message: string }>()
  }
  return { upstream, offers, call }
}

for (const { key, title } of PRESETS)
  test(`${title}: users take the click ID along, goals are found by its IDs, and what it reverses is reversed`, async () => {
    const { upstream, offers, call } = await startFeed(key)
    assert.equal(offers.length, key === 'torox' ? 1 : 2) // one has several goals, and its callbacks name none
    for (const [n, { offer_id, countries, platforms }] of offers.entries()) {
      const goals = key === 'cpalead' || key === 'torox' ? [] : (upstream.offers[n]?.goals ?? [])
      const { location } = await world.click(offer_id, live, `userId=${key}-${n}&country=${countries[0] ?? 'US'}&platform=${platforms[0]}`, { 'user-agent': DEVICES[platforms[0] as 'web'] }) // prettier-ignore
      const [clickId = ''] = /[\da-f]{8}-[\da-f-]{27}/.exec(location) ?? []
      assert.notEqual(clickId, '', location)
      const told = goals.length === 0 ? [{ id: null, name: '' }] : goals
      for (const [i, goal] of told.entries()) {
        const what = { clickId, transactionId: `${key}-${n}-${i}`, offerId: '1', goalId: goal.id, goalName: goal.name, payout: 1.25, isReversal: false } // prettier-ignore
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

test('what the operator has set for an advertiser stays when a feed is added', async () => {
  const { db } = world.database
  const { advertiser_id } = await createAdvertiser(db, TESTER, SECRET_KEY, 'Set by hand')
  await setAdvertiser(db, TESTER, advertiser_id, { statusMap: [['done', 'approved']], reversalPrefix: 'back-' })
  const credentials = { key: 'k', adslot: '1' }
  const { token } = await createFeed(db, TESTER, SECRET_KEY, { name: 'By hand', advertiserId: advertiser_id, kind: { preset: 'ayet' }, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  assert.equal(token, null, 'it has one')
  const { status_map, reversal_prefix, negative_amount } = await getAdvertiser(db, advertiser_id)
  assert.deepEqual([status_map, reversal_prefix, negative_amount], [{ done: 'approved' }, 'back-', 'reversal'])
  await assert.rejects(createFeed(db, TESTER, SECRET_KEY, { name: 'Set by hand', advertiserId: null, kind: { preset: 'ayet' }, credentials, settings: FEED_DEFAULTS }), /An advertiser "Set by hand" already exists/) // prettier-ignore
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
