// Runs of a feed against an upstream that is good, bad and strange, and an operator who edits between them.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { editOffer } from '../../../test/edit-offer.ts'
import { createPerson } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, NO_CHANGES, openSocket } from '../../../test/upstreams/feed.ts'
import { SHAPES, upstreamOffer } from '../../../test/upstreams/shapes.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { joinKeys } from '../../lib/keys.ts'
import { setOfferStatus } from '../offers/offers.ts'
import { FEED_DEFAULTS, type FeedSettings } from './feed-settings.ts'
import { forgetOldRuns, runDueFeeds } from './due-feeds.ts'
import { pauseFeed, readFeed, resealCredentials } from './feeds.ts'
import { findFeedOfOffer } from './pins.ts'
import { feedProblemWriter } from './problem-mails.ts'

const world = useWorld('feed_runs')
const createOne = (settings: Partial<FeedSettings> = {}, offers = 10) => createTestFeed(world, { settings, offers })
const NONE = NO_CHANGES

test('a first run creates all offers with their share of the revenue; a second one changes nothing', async () => {
  const { run, ofFeed } = await createOne({ sharePpm: 600_000 })
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 10, created: 10 })
  const { payout_micros, revenue_micros, goals } = await ofFeed(3)
  assert.deepEqual([payout_micros, revenue_micros, goals.length], [1_650_000, 2_750_000, 2])
  assert.partialDeepStrictEqual(await run(), {
    outcome: 'done',
    message: '',
    counts: { ...NONE, fetched: 10, unchanged: 10 },
  })
})

test('what changes there changes here, what is gone is paused, and runs again when it returns', async () => {
  const { upstream, run, ofFeed } = await createOne()
  await run()
  const all = upstream.offers
  upstream.offers = all.slice(1).map((offer) => (offer.id === 1_004 ? { ...offer, name: 'Renamed' } : offer))
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 9, changed: 1, unchanged: 8, paused: 1 })
  assert.equal((await ofFeed(4)).name, 'Renamed')
  assert.equal((await ofFeed(0)).status, 'paused')
  upstream.offers = all
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 10, changed: 1, unchanged: 8, resumed: 1 })
  assert.equal((await ofFeed(0)).status, 'active')
})

test('what is empty, broken or strangely small changes nothing', async () => {
  const { upstream, run, ofFeed } = await createOne()
  await run()
  const all = upstream.offers
  upstream.offers = []
  assert.partialDeepStrictEqual(await run(), { outcome: 'refused', counts: NONE })
  upstream.offers = all.slice(0, 6)
  const { outcome, message } = await run()
  assert.equal(outcome, 'refused')
  assert.match(message, /4 of 10 offers would be paused, which is more than 30 %/)
  upstream.trouble = (_, response) => (upstream.send(response, 500, {}), true)
  assert.partialDeepStrictEqual(await run(), { outcome: 'failed', counts: NONE })
  for (let n = 0; n < 10; n++) assert.equal((await ofFeed(n)).status, 'active')
})

test('what an operator edits or pauses stays, while the rest follows the feed', async () => {
  const { upstream, run, ofFeed } = await createOne()
  await run()
  const { offer_id } = await ofFeed(1)
  await editOffer(world, offer_id, () => ({ name: 'Our own name' }))
  await setOfferStatus(world.database.db, TESTER, (await ofFeed(2)).offer_id, 'paused')
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: `${offer.name}!`, country: 'FR' }))
  await run()
  const { name, countries } = await ofFeed(1)
  assert.deepEqual([name, countries], ['Our own name', ['FR']])
  assert.partialDeepStrictEqual(await ofFeed(2), { status: 'paused', countries: ['FR'], name: 'Offer 2 & more!' })
  const all = upstream.offers
  upstream.offers = all.filter(({ id }) => id !== 1_002)
  await run()
  upstream.offers = all
  await run()
  assert.equal((await ofFeed(2)).status, 'paused', 'a pause by the operator does not end')
})

test('translations stay as long as the text they are of, and what is translated still follows the feed', async () => {
  const { upstream, run, ofFeed } = await createOne({ sharePpm: 1_000_000 }, 3)
  const goals = [{ id: 'a', name: 'Install', payout: 1 }, { id: 'b', name: 'Level 9', payout: 2 }] // prettier-ignore
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, goals }))
  await run()
  const { offer_id } = await ofFeed(1)
  await editOffer(world, offer_id, (offer) => ({
    translations: '{"de":{"name":"Spiel 1","description":"Spiele"},"pl":{"name":"Gra 1"}}',
    goals: offer.goals.map((goal) => ({ ...goal, translations: `{"de":{"name":"${goal.name} auf Deutsch"}}` })),
  }))
  const { pinned = [] } = (await findFeedOfOffer(world.database.db, offer_id)) ?? {}
  assert.deepEqual(pinned, [{ field: 'translations', feed_value: {} }])
  const texts = async () => {
    const { name, translations, goals: all } = await ofFeed(1)
    const shown = all
      .filter((goal) => !goal.is_retired)
      .map((goal) => [goal.name, goal.payout_micros, goal.translations])
    return [name, translations, ...shown.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))]
  }
  // The upstream pays less, and adds a step.
  const less = [{ id: 'a', name: 'Install', payout: 0.5 }, { id: 'b', name: 'Level 9', payout: 1 }, { id: 'c', name: 'Level 5', payout: 0.5 }] // prettier-ignore
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, goals: less }))
  await run()
  const install = ['Install', 500_000, '{"de":{"name":"Install auf Deutsch"}}']
  assert.deepEqual(await texts(), [
    'Offer 1 & more',
    '{"de":{"name":"Spiel 1","description":"Spiele"},"pl":{"name":"Gra 1"}}',
    install,
    ['Level 5', 500_000, ''],
    ['Level 9', 1_000_000, '{"de":{"name":"Level 9 auf Deutsch"}}'],
  ])
  // It calls the offer and a step otherwise.
  const harder = less.map((goal) => (goal.id === 'b' ? { ...goal, name: 'Level 10' } : goal))
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: `${offer.name}!`, goals: harder }))
  await run()
  assert.deepEqual(await texts(), [
    'Offer 1 & more!',
    '{"de":{"description":"Spiele"}}',
    install,
    ['Level 10', 1_000_000, ''],
    ['Level 5', 500_000, ''],
  ])
  assert.equal((await run()).counts.changed, 0)
})

test('a preview says what a run would do, offer by offer, and changes nothing', async () => {
  const { upstream, run } = await createOne()
  const { db, pool } = world.database
  const state = async () => (await pool.query('SELECT md5(string_agg(o::text, chr(10) ORDER BY offer_id)) AS offers FROM offers o')).rows // prettier-ignore
  assert.deepEqual((await run(true)).counts, { ...NONE, fetched: 10, created: 10 })
  await run()
  const before = await state()
  upstream.offers = upstream.offers.slice(1).map((offer) => ({ ...offer, country: offer.id === 1_002 ? 'FR' : offer.country })) // prettier-ignore
  upstream.offers.push({ ...upstreamOffer(50), payout: 0, goals: [] })
  const { runId, counts } = await run(true)
  assert.deepEqual(counts, { ...NONE, fetched: 10, changed: 1, unchanged: 8, paused: 1, skipped: 1 })
  const notes = await db.selectFrom('feed_changes').select(['external_id', 'kind', 'details']).where('run_id', '=', runId).orderBy('external_id').execute() // prettier-ignore
  assert.deepEqual(notes, [
    { external_id: '1000', kind: 'paused', details: {} },
    { external_id: '1002', kind: 'changed', details: { changes: { countries: { before: ['GB'], after: ['FR'] } } } },
    { external_id: '1050', kind: 'skipped', details: { reason: 'its payout is 0', is_filtered: false } },
  ])
  assert.deepEqual(await state(), before)
})

test('what an upstream echoes of its key is in no preview and no note of a run; links keep it', async () => {
  const { db } = world.database
  const { upstream, run, offersNow, ofFeed } = await createTestFeed(world, { preset: 'lootably', offers: 1 })
  const key = upstream.source.credentials['key'] ?? ''
  const item = SHAPES['lootably']?.item(upstreamOffer(0)) as object
  let link = 'https://t.test/?u={userID}'
  const broken = { ...item, offerID: 'b', name: `B ${key}`, revenue: `?${key}`, goals: [] }
  upstream.trouble = (_, response) => (upstream.send(response, 200, { success: true, data: { offers: [{ ...item, link }, broken] } }), true) // prettier-ignore
  await run()
  link = `https://t.test/?u={userID}&k=${encodeURIComponent(key)}`
  const runs = [(await run(true)).runId, (await run()).runId]
  const notes = await db.selectFrom('feed_changes').selectAll().where('run_id', 'in', runs).execute()
  assert.deepEqual(notes.map(({ kind }) => kind).toSorted(), ['changed', 'changed', 'skipped', 'skipped']) // prettier-ignore
  const text = JSON.stringify(notes)
  assert.match(text, /k=•••/)
  for (const one of [key, encodeURIComponent(key)]) assert.ok(!text.includes(one), text)
  assert.equal((await offersNow()).length, 1)
  assert.ok((await ofFeed(0)).destination_url.includes(encodeURIComponent(key)))
})

test('a preview calls offers what the run calls them, also those with a name of ours', async () => {
  const { upstream, run, ofFeed } = await createOne()
  await run()
  await editOffer(world, (await ofFeed(1)).offer_id, () => ({ name: 'Our own name' }))
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, country: 'FR' }))
  const notes = (runId: number) => world.database.db.selectFrom('feed_changes').select(['external_id', 'kind', 'name', 'details']).where('run_id', '=', runId).orderBy('external_id').execute() // prettier-ignore
  const previewed = await notes((await run(true)).runId)
  assert.deepEqual(await notes((await run()).runId), previewed)
})

test('two who run a feed at once: one does', async () => {
  const { run } = await createOne()
  const ended = await Promise.allSettled([run(), run()])
  assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('credentials are sealed, and follow when SECRET_KEY is replaced', async () => {
  const { feedId, upstream } = await createOne()
  const { db } = world.database
  const { rows } = await world.database.pool.query<{ text: string }>('SELECT f::text AS text FROM feeds f WHERE feed_id = $1', [feedId]) // prettier-ignore
  assert.doesNotMatch(rows[0]?.text ?? '', /sesame/)
  const next = 'another secret key for tests, forty characters'
  assert.partialDeepStrictEqual(await resealCredentials(db, joinKeys(next, [SECRET_KEY])), { unreadable: 0 })
  assert.deepEqual((await readFeed(db, next, feedId)).credentials, upstream.source.credentials)
  await resealCredentials(db, joinKeys(SECRET_KEY, [next]))
})

test('a feed that is due runs by itself, is planned anew, and later and later while it fails', async () => {
  const { feedId, upstream, ofFeed } = await createOne()
  const { db } = world.database
  const runner = { db, secretKey: SECRET_KEY, open: openSocket }
  const minutesUntil = async () => {
    const { due_at, failures } = await db.selectFrom('feeds').select(['due_at', 'failures']).where('feed_id', '=', feedId).executeTakeFirstOrThrow() // prettier-ignore
    return { failures, minutes: Math.round((due_at.getTime() - Date.now()) / 60_000) }
  }
  const makeDue = () => db.updateTable('feeds').set({ due_at: new Date() }).where('feed_id', '=', feedId).execute()
  await runDueFeeds(runner, assert.fail)
  assert.equal(upstream.asked.length, 0, 'a new feed waits until it is started')
  await pauseFeed(db, TESTER, feedId, false)
  await runDueFeeds(runner, assert.fail)
  assert.equal((await ofFeed(1)).status, 'active')
  const planned = await minutesUntil()
  assert.ok(planned.failures === 0 && planned.minutes >= 26 && planned.minutes <= 34, JSON.stringify(planned))
  upstream.trouble = (_, response) => (upstream.send(response, 429, {}, { 'retry-after': '36000' }), true)
  await makeDue()
  await runDueFeeds(runner, assert.fail)
  const limited = await minutesUntil()
  assert.ok(limited.failures === 1 && limited.minutes >= 599, 'not before the upstream wants')
  upstream.trouble = (_, response) => (upstream.send(response, 500, {}), true)
  for (let i = 0; i < 3; i++) await makeDue().then(() => runDueFeeds(runner, assert.fail))
  const failing = await minutesUntil()
  assert.ok(failing.failures === 4 && failing.minutes > 100, JSON.stringify(failing))
})

test('why offers were left out is kept for the latest runs; the counts of the others stay', async () => {
  const { feedId, run } = await createOne({ filters: { ...FEED_DEFAULTS.filters, blockedWords: ['Offer'] } })
  const { db } = world.database
  for (let i = 0; i < 6; i++) await run()
  const runs = await db.selectFrom('feed_runs').select(['run_id', 'skipped']).where('feed_id', '=', feedId).orderBy('run_id', 'desc').execute() // prettier-ignore
  assert.deepEqual(runs.map(({ skipped }) => skipped), [10, 10, 10, 10, 10, 10]) // prettier-ignore
  const noted = await db.selectFrom('feed_changes').select('run_id').distinct().where('run_id', 'in', runs.map(({ run_id }) => run_id)).orderBy('run_id', 'desc').execute() // prettier-ignore
  assert.deepEqual(noted.map(({ run_id }) => run_id), runs.slice(0, 3).map(({ run_id }) => run_id)) // prettier-ignore
})

test('old runs go, but for the last of each feed; their changes go with them', async () => {
  const { feedId, run } = await createOne()
  const { db } = world.database
  await run()
  await run()
  await db.updateTable('feed_runs').set({ ended_at: new Date(Date.now() - 40 * 86_400_000) }).where('feed_id', '=', feedId).execute() // prettier-ignore
  await forgetOldRuns(db, new Date(), 30)
  const left = await db.selectFrom('feed_runs').select('run_id').where('feed_id', '=', feedId).execute()
  assert.equal(left.length, 1)
  const changes = await db.selectFrom('feed_changes').select('run_id').where('run_id', 'in', left.map(({ run_id }) => run_id)).execute() // prettier-ignore
  assert.deepEqual(changes, [])
  assert.deepEqual(await db.selectFrom('feed_staging').selectAll().execute(), [])
})

test('operators are mailed about a refused run at once, about failures from the third on, once a day; not about what is over', async () => {
  const { db } = world.database
  await db.deleteFrom('mails').where('kind', '=', 'feed_problem').execute()
  const { upstream, feedId, run } = await createOne()
  const { email } = await createPerson(world, 'operator')
  await run()
  const all = upstream.offers
  const mails = () => db.selectFrom('mails').select('about').where('kind', '=', 'feed_problem').execute()
  upstream.trouble = (_, response) => (upstream.send(response, 500, {}), true)
  await run()
  await run()
  assert.deepEqual(await mails(), [], 'one failure is most often over by itself')
  const third = await run()
  await run()
  assert.deepEqual(await mails(), [{ about: String(third.runId) }])
  const writer = feedProblemWriter({ publicUrl: 'https://net.example' })
  const write = () => db.transaction().execute(async (trx) => [await writer.findRecipients(trx, String(third.runId), new Date()), await writer.write(trx, String(third.runId), new Date())] as const) // prettier-ignore
  const [recipients, letter] = await write()
  assert.ok(recipients.includes(email))
  assert.match(letter?.text ?? '', /failed 4 times in a row: The upstream has a server error \(HTTP 500\)\.[\s\S]*net\.example\/network\/feeds\/\d+/) // prettier-ignore
  upstream.trouble = () => false
  upstream.offers = []
  await db.updateTable('feeds').set({ mailed_at: new Date(Date.now() - 25 * 3_600_000) }).where('feed_id', '=', feedId).execute() // prettier-ignore
  const refused = await run()
  assert.deepEqual((await mails()).map(({ about }) => about), [third.runId, refused.runId].map(String)) // prettier-ignore
  upstream.offers = all
  await run()
  assert.deepEqual(await write(), [[], null])
})

test('one offer that is broken is left out, with the reason; it does not keep the others out', async () => {
  const { upstream, run, offersNow } = await createTestFeed(world, { preset: 'lootably', offers: 0 })
  const good = { type: 'singlestep', offerID: 'good', name: 'Good', countries: ['US'], devices: ['android'], revenue: 1, link: 'https://t.test/?u={userID}' } // prettier-ignore
  const long = Array.from({ length: 900 }, (_, i) => createHash('sha256').update(String(i)).digest('base64')).join('')
  const broken = [
    { name: 'a\ud800b' },
    { offerID: long },
    { revenue: `${'x'.repeat(29)}😀😀` },
    { countries: ['\0\udc00'] },
    { name: 'No link \ud800', link: '' },
  ].map((change, i) => ({ ...good, offerID: `broken ${i}`, ...change }))
  upstream.trouble = (_, response) => (upstream.send(response, 200, { success: true, data: { offers: [...broken, good] } }), true) // prettier-ignore
  assert.partialDeepStrictEqual(await run(), { outcome: 'done', counts: { created: 1, skipped: broken.length } })
  assert.deepEqual((await offersNow()).map(({ name }) => name), ['Good']) // prettier-ignore
  upstream.trouble = (_, response) => (upstream.send(response, 200, { success: false, message: 'no\0 \ud800' }), true)
  assert.partialDeepStrictEqual(await run(), { outcome: 'failed', message: 'The upstream answered "false" at "success": no \ufffd Nothing was changed.' }) // prettier-ignore
})

test('a feed with more offers than are allowed changes nothing, also where almost all are left out', async () => {
  const { upstream, run } = await createTestFeed(world, { preset: 'lootably', settings: { maxOffers: 5 } })
  assert.partialDeepStrictEqual(await run(), { outcome: 'failed', message: 'The feed has more than 5 offers, which is its maximum. Nothing was changed.' }) // prettier-ignore
  const offers = Array.from({ length: 51 }, (_, i) => ({ offerID: `o${i}`, name: 'No link' }))
  upstream.trouble = (_, response) => (upstream.send(response, 200, { success: true, data: { offers } }), true)
  assert.match((await run()).message, /^More than 50 offers came, most of which are skipped\./)
})
