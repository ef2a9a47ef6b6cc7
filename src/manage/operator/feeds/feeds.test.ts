// Feeds, through the door: an upstream that a test plays, and a worker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { until } from '../../../../test/installation.ts'
import { visit } from '../../../../test/people.ts'
import { type Shown, useManagedFeeds } from '../../../../test/upstreams/managed-feeds.ts'
import { SECRET_KEY } from '../../../../test/world.ts'
import { deriveKeys, unseal } from '../../../lib/keys.ts'
import { lockFeed } from '../../../features/feeds/feeds.ts'
import type { CreatedFeed, FeedList, HeldPage, OfferFeed, Run, RunPage, TriedMapping } from './schema.ts'

const { world, operator, auditOf, addFeed, work } = useManagedFeeds('manage_feeds')

test('an operator adds a feed, looks at its preview, and starts it', async () => {
  const { one, ask, changesOf, created, feedId, upstream } = await addFeed()
  assert.match(created.token ?? '', /^adv_/)
  assert.partialDeepStrictEqual(created.feed, { is_paused: true, next_run_at: null, latest_run: null, credentials: ['key', 'placement'], token_place: 'YOUR_TOKEN' }) // prettier-ignore
  const { data: waiting } = await operator.post<Static<typeof Run>>(`${one}/preview`, {})
  const { data: same } = await operator.post<Static<typeof Run>>(`${one}/preview`, {})
  assert.deepEqual([waiting.is_waiting, same.feed_run_id], [true, waiting.feed_run_id], 'asked twice, it is one')
  await work()
  const preview = (await operator.get<Static<typeof Run>>(`${one}/runs/${waiting.feed_run_id}`)).data
  assert.partialDeepStrictEqual(preview, { is_preview: true, is_waiting: false, outcome: 'done', fetched: 10, created: 10 }) // prettier-ignore
  const first = await changesOf(preview.feed_run_id, 'limit=4')
  const rest = await changesOf(preview.feed_run_id, `limit=100&cursor=${encodeURIComponent(first.next_cursor ?? '')}`)
  assert.deepEqual([first.changes.length, rest.changes.length, rest.next_cursor], [4, 6, null])
  assert.equal((await operator.get(`${one}/runs/${preview.feed_run_id}/changes?cursor=x`)).status, 400)
  assert.equal((await operator.get<Shown>(one)).data.offers, 0, 'nothing was changed')

  await operator.post(`${one}/resume`, {})
  await work()
  const started = (await operator.get<Shown>(one)).data
  assert.partialDeepStrictEqual(started, { offers: 10, active_offers: 10, is_paused: false, failures: 0 })
  assert.partialDeepStrictEqual(started.latest_run, { outcome: 'done', created: 10, asked_by: null })
  upstream.offers = upstream.offers.slice(1)
  const run = await ask('run')
  assert.partialDeepStrictEqual(run, { outcome: 'done', paused: 1, unchanged: 9 })
  assert.match(run.asked_by ?? '', /@example\.com$/)
  assert.deepEqual((await changesOf(run.feed_run_id, 'kind=paused')).changes.map(({ kind }) => kind), ['paused']) // prettier-ignore
  const { data } = await operator.get<Static<typeof RunPage>>(`${one}/runs?limit=2`)
  assert.deepEqual([data.runs.length, data.next_cursor !== null], [2, true])
  const listed = (await operator.get<Static<typeof FeedList>>('/feeds')).data.feeds.find(
    (feed) => feed.feed_id === feedId,
  )
  assert.partialDeepStrictEqual(listed, { offers: 10, active_offers: 9 })
  const actions = (await auditOf(feedId)).map(({ action }) => action).filter((action) => action.startsWith('feed.'))
  assert.deepEqual(actions.toSorted(), ['feed.create', 'feed.preview', 'feed.resume', 'feed.run', 'feed.run'])
})

test('a feed that is removed is gone with its credentials, and another of its advertiser takes over its offers', async () => {
  const { one, ask, created, feedId, upstream, request } = await addFeed()
  const { advertiser_id, name } = created.feed
  await ask('run')
  await operator.post(`${one}/resume`, {})
  const { data: waiting } = await operator.post<Static<typeof Run>>(`${one}/run`, {})
  const { data: removed } = await operator.delete(one)
  assert.deepEqual(removed, { paused_offers: 10 })
  await work()
  const { db } = world.database
  const run = await db.selectFrom('feed_runs').select(['outcome', 'message']).where('run_id', '=', waiting.feed_run_id).executeTakeFirst() // prettier-ignore
  assert.deepEqual(run, { outcome: 'failed', message: 'The feed was removed meanwhile.' })
  const answers = [operator.get(one), operator.get(`${one}/runs`), operator.delete(one), operator.post(`${one}/resume`, {}), operator.post(`${one}/run`, {}), operator.patch(one, { name: 'X' })] // prettier-ignore
  assert.deepEqual(
    (await Promise.all(answers)).map(({ status }) => status),
    [404, 404, 404, 404, 404, 404],
  )
  assert.ok(!(await operator.get('/feeds')).text.includes(`"feed_id":${feedId},`))
  const { credentials } = await db.selectFrom('feeds').select('credentials').where('feed_id', '=', feedId).executeTakeFirstOrThrow() // prettier-ignore
  assert.equal(unseal(deriveKeys(SECRET_KEY, 'feed credentials'), credentials, String(feedId)), '{}')
  const offers = () => db.selectFrom('offers').select(['offer_id', 'status']).where('advertiser_id', '=', advertiser_id).orderBy('offer_id').execute() // prettier-ignore
  const before = await offers()
  assert.deepEqual(new Set(before.map(({ status }) => status)), new Set(['paused']))
  const history = await auditOf(before[0]?.offer_id ?? 0)
  assert.partialDeepStrictEqual(history.at(-1), { action: 'offer.feed', details: { feed: name, removed: true } })

  const { mapping } = upstream.preset
  const again = await operator.post<Static<typeof CreatedFeed>>('/feeds', { name, advertiser_id, request, mapping, credentials: upstream.source.credentials, settings: { share_percent: 100 } }) // prettier-ignore
  assert.equal(again.status, 200, again.text)
  await operator.post(`/feeds/${again.data.feed.feed_id}/resume`, {})
  await work()
  const { latest_run } = (await operator.get<Shown>(`/feeds/${again.data.feed.feed_id}`)).data
  assert.partialDeepStrictEqual(latest_run, { outcome: 'done', created: 0, resumed: 10, skipped: 0 })
  assert.deepEqual(await offers(), before.map((offer) => ({ ...offer, status: 'active' }))) // prettier-ignore
})

test('a mapping is tried on an answer before it is saved, and what is wrong with it is said', async () => {
  const { upstream } = await addFeed()
  const { mapping } = upstream.preset
  const answer = { data: { offers: [{ offerID: 'a', name: 'A &amp; B', revenue: '2.00', countries: ['US'], devices: ['*'], link: 'https://t.test/?u={userID}', budget: 'unlimited' }, { offerID: 'b', name: 'No link', revenue: 1, budget: 250_000 }] } } // prettier-ignore
  const attempt = async (changed: object) => (await operator.post<Static<typeof TriedMapping>>('/feeds/try-mapping', { mapping: changed, answer, settings: { share_percent: 50 } })).data // prettier-ignore
  const { problems, offers } = await attempt(mapping)
  assert.deepEqual(problems, [])
  assert.partialDeepStrictEqual(offers[0], { external_id: 'a', name: 'A & B', problem: null, offer: { payout: 1, revenue: 2, countries: ['US'] } }) // prettier-ignore
  assert.match(offers[1]?.problem ?? '', /it has no link/)
  const wrong = await attempt({ ...mapping, titel: 'name', offers: 'data..offers' })
  assert.deepEqual(wrong.problems.map(({ place }) => place), ['titel', 'offers']) // prettier-ignore
  assert.deepEqual(wrong.fields, [], 'without the list of offers there is nothing to read')
  const { name: _name, ...unfinished } = { ...mapping, countries: { include: 'countries' } } // prettier-ignore
  const partly = await attempt({ ...unfinished, name: { path: 'name', html: 'yes' }, link: { path: 'link', replace: { '{userID}': '{click_id}' } }, caps: [{ value: 'budget', period: 'day', of: 'revenue' }] }) // prettier-ignore
  const read = Object.fromEntries(partly.fields.map(({ place, offers: tried }) => [place, tried]))
  assert.deepEqual(Object.keys(read).includes('name'), false, 'one with a problem')
  assert.deepEqual(read['link'], [
    { read: ['https://t.test/?u={userID}'], gives: 'https://t.test/?u={click_id}', problem: null },
    { read: [], gives: '', problem: 'it has no link: the upstream has not approved it for you' },
  ])
  assert.deepEqual(read['payout']?.map(({ gives }) => gives), ['2', '1']) // prettier-ignore
  assert.partialDeepStrictEqual(read['platforms']?.[0], { read: ['*'], gives: 'web, android, ios' })
  assert.deepEqual(read['caps'], [
    { read: ['unlimited'], gives: '', problem: 'the cap "unlimited" is not an amount' },
    { read: ['250000'], gives: 'daily revenue cap 250000', problem: null },
  ])
  assert.match(read['countries']?.[0]?.problem ?? '', /its country \?/)
  const refused = await operator.post('/feeds', { name: 'Wrong', request: { method: 'GET' }, mapping: { offers: 'x' }, credentials: {}, settings: { share_percent: 0, every: '1s' } }) // prettier-ignore
  assert.equal(refused.status, 400)
  assert.match(refused.error.details?.['request.url'] ?? '', /url is missing/)
  const values = await operator.post('/feeds', { name: 'Wrong', preset: 'ayet', credentials: { key: 'x', adslot: '1' }, settings: { share_percent: 0, every: '1s' } }) // prettier-ignore
  assert.deepEqual(Object.keys(values.error.details ?? {}), ['settings.share_percent', 'settings.every'])
  const names = await operator.post('/feeds', { name: 'Wrong', preset: 'ayet', credentials: { key: '', token: '1' }, settings: {} }) // prettier-ignore
  assert.deepEqual(Object.keys(names.error.details ?? {}), ['credentials.key', 'credentials.adslot', 'credentials.token']) // prettier-ignore
})

test('settings change what the next run does; filters leave out without counting as gone', async () => {
  const { one, ask, changesOf, upstream } = await addFeed()
  await ask('run')
  const { data } = await operator.patch<Shown>(one, { settings: { share_percent: 25, countries: ['US'], min_payout: '0.10' }, name: 'Renamed' }) // prettier-ignore
  assert.partialDeepStrictEqual(data.settings, { share_percent: 25, every: '30m', countries: ['US'], min_payout: '0.10' }) // prettier-ignore
  const run = await ask('run')
  assert.partialDeepStrictEqual(run, { outcome: 'done', changed: 4, paused: 6, skipped: 0, unchanged: 0 })
  const [left] = (await changesOf(run.feed_run_id, 'kind=paused')).changes
  assert.equal(left?.reason, 'it runs in none of this feed’s countries')
  upstream.offers = upstream.offers.filter(({ country }) => country !== 'US')
  assert.partialDeepStrictEqual(await ask('run'), { outcome: 'refused', paused: 0 }, 'what is gone there still counts')
  const wrong = await operator.patch(one, {
    settings: { countries: ['XX'], hold_changes_percent: 0, blocked_words: ['casino\ncrypto'] },
  })
  assert.deepEqual(Object.keys(wrong.error.details ?? {}).toSorted(), [
    'settings.blocked_words',
    'settings.countries',
    'settings.hold_changes_percent',
  ])
})

test('two operators who change a feed at once both do', async () => {
  const { db } = world.database
  const { one, feedId } = await addFeed()
  const sent = await db.transaction().execute(async (trx) => {
    await lockFeed(trx, feedId)
    const answers = [{ share_percent: 25 }, { min_payout: '0.10' }].map((settings) => operator.patch<Shown>(one, { settings })) // prettier-ignore
    await until(async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db) // prettier-ignore
      return rows.length === 2
    })
    return { answers }
  })
  for (const { status, text } of await Promise.all(sent.answers)) assert.equal(status, 200, text)
  const { data } = await operator.get<Shown>(one)
  assert.partialDeepStrictEqual(data.settings, { share_percent: 25, min_payout: '0.10' })
})

test('a run that was refused is applied by its operator', async () => {
  const { one, ask, upstream } = await addFeed()
  await ask('run')
  upstream.offers = upstream.offers.slice(0, 4)
  const refused = await ask('run')
  assert.partialDeepStrictEqual(refused, { outcome: 'refused', gone: 6, accepted_gone: null, paused: 0 })
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.post(`${one}/runs/${refused.feed_run_id}/apply`, {})).status, 403)
  const { data: asked } = await operator.post<Static<typeof Run>>(`${one}/runs/${refused.feed_run_id}/apply`, {})
  await work()
  const { data: applied } = await operator.get<Static<typeof Run>>(`${one}/runs/${asked.feed_run_id}`)
  assert.partialDeepStrictEqual(applied, { outcome: 'done', paused: 6, accepted_gone: 6 })
  const again = await operator.post(`${one}/runs/${refused.feed_run_id}/apply`, {})
  assert.deepEqual([again.status, /a later one was applied/.test(again.error.message)], [400, true])
  assert.equal((await operator.post(`${one}/runs/987654/apply`, {})).status, 404)
})

test('payouts that change by much wait until they are approved, and only as they were approved', async () => {
  const { one, ask, upstream } = await addFeed({ hold_changes_percent: 20 })
  await ask('run')
  const offer = upstream.offers[1]!
  const held = async () => (await operator.get<Static<typeof HeldPage>>(`${one}/held`)).data.offers
  const payouts = async () => (await held()).map(({ payout_before, payout_after }) => [payout_before, payout_after])
  const payoutOf = async (offerId: number) => (await operator.get<{ payout: number }>(`/offers/${offerId}`)).data.payout
  upstream.offers[1] = { ...offer, payout: offer.payout * 2 }
  assert.partialDeepStrictEqual(await ask('run'), { outcome: 'done', held: 1, changed: 0 })
  assert.deepEqual(await payouts(), [[0.25, 0.5]])
  const [{ external_id, offer_id } = { external_id: '', offer_id: 0 }] = await held()
  const approve = async () => (await operator.post<{ approved: number }>(`${one}/approve`, { external_ids: [external_id, 'nothing'] })).data.approved // prettier-ignore
  assert.equal(await approve(), 1)
  assert.equal(await approve(), 0)
  upstream.offers[1] = { ...offer, payout: offer.payout * 10 }
  assert.partialDeepStrictEqual(await ask('run'), { held: 1 }, 'this is not what was approved')
  assert.deepEqual([await payouts(), await payoutOf(offer_id)], [[[0.25, 2.5]], 0.25])
  await approve()
  assert.partialDeepStrictEqual(await ask('run'), { held: 0, changed: 1 })
  assert.deepEqual([await held(), await payoutOf(offer_id)], [[], 2.5])
})

test('a field that was edited is pinned, shown, and follows the feed again when it is released', async () => {
  const { ask, changesOf, upstream } = await addFeed()
  const { changes } = await changesOf((await ask('run')).feed_run_id)
  const offerId = changes[1]?.offer_id ?? 0
  const feedOf = async (id: number) => (await operator.get<Static<typeof OfferFeed>>(`/offers/${id}/feed`)).data.feed
  assert.deepEqual((await feedOf(offerId))?.pinned, [])
  const { data: offer } = await operator.get<Record<string, unknown>>(`/offers/${offerId}`)
  const name = String(offer['name'])
  await world.database.db.updateTable('offers').set({ name: 'Edited', status: 'paused' }).where('offer_id', '=', offerId).execute() // prettier-ignore
  upstream.offers = upstream.offers.map((one) => ({ ...one, name: `${one.name}!` }))
  await ask('run')
  assert.deepEqual((await feedOf(offerId))?.pinned, [{ field: 'name', feed_value: `${name}!` }, { field: 'status', feed_value: 'active' }]) // prettier-ignore
  const release = (fields: string[]) =>
    operator.post<{ released: string[] }>(`/offers/${offerId}/follow-feed`, { fields })
  assert.deepEqual((await release(['name', 'payout'])).data.released, ['name'])
  await ask('run')
  assert.partialDeepStrictEqual((await operator.get(`/offers/${offerId}`)).data, { name: `${name}!`, status: 'paused' })
  assert.deepEqual((await release(['status'])).data.released, ['status'])
  await ask('run')
  assert.partialDeepStrictEqual((await operator.get(`/offers/${offerId}`)).data, { status: 'active' })
  const [own = 0] = await world.createOffers({})
  assert.equal(await feedOf(own), null)
  assert.equal((await operator.post(`/offers/${own}/follow-feed`, { fields: ['name'] })).status, 404)
})

test('a feed that does not exist is not found', async () => {
  for (const path of ['/feeds/987654', '/feeds/987654/runs', '/feeds/987654/held']) assert.equal((await operator.get(path)).status, 404) // prettier-ignore
  assert.equal((await operator.post('/feeds/987654/run', {})).status, 404)
})
