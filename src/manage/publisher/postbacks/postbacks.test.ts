// How the postbacks of an app went, through the management API: the log, replays, health, and who may see them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { TESTER } from '../../../../test/tester.ts'
import { until } from '../../../../test/installation.ts'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { publisherOfApp, visit, type Visitor } from '../../../../test/people.ts'
import {
  before,
  HOUR,
  createLane,
  MINUTE,
  NOW,
  putAttempt,
  putEvents,
  putPostback,
  putPostbacks,
  setLane,
} from '../../../../test/postback-world.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { DEFAULTS, saveSettings } from '../../../features/postbacks/settings.ts'
import { startTestSends } from '../../../features/postbacks/test-sends.ts'
import { runReplays } from '../../../features/postbacks/replays.ts'
import { uuid7 } from '../../../lib/uuid7.ts'
import type { Log, OnePostback, PostbackHealth, Replay, ReplayedPostback } from './schema.ts'

const world = useWorld('manage_postbacks')

const { createOwned, auditOfPublisher } = createOwnedApps(world)

async function createPaused() {
  const appId = await createLane(world, { paused_at: NOW, pause_reason: 'failing', failing_since: before(HOUR) })
  const publisherId = await publisherOfApp(world, appId)
  const visitor = await visit(world, 'publisher_owner', publisherId)
  return { appId, publisherId, visitor, base: `/apps/${appId}` }
}

const idsOf = (log: Static<typeof Log>) => log.postbacks.map((one) => one.postback_id)
const list = async (visitor: Visitor, base: string, query = '') =>
  (await visitor.get<Static<typeof Log>>(`${base}/postbacks${query}`)).data

test('the log is filtered, paged, newest first, and has only what belongs to the app', async () => {
  const { appId, visitor, base } = await createPaused()
  const { db } = world.database
  const old = await putPostbacks(db, appId, 3, { state: 'dead', createdAt: before(2 * HOUR) })
  const fresh = await putPostbacks(db, appId, 2, { state: 'delivered', status: 'reversed', createdAt: before(MINUTE) })
  const tested = await putPostback(db, appId, { isTest: true })
  const strange = await putPostback(db, await createLane(world, { paused_at: NOW, pause_reason: 'gone' }))
  const all = [...old, ...fresh].toReversed()
  assert.deepEqual(idsOf(await list(visitor, base)), all)
  const first = await list(visitor, base, '?limit=2')
  assert.deepEqual(idsOf(first), all.slice(0, 2))
  assert.deepEqual(idsOf(await list(visitor, base, `?limit=3&cursor=${first.next_cursor}`)), all.slice(2))
  assert.deepEqual(idsOf(await list(visitor, base, '?mode=test')), [tested])
  assert.deepEqual(idsOf(await list(visitor, base, '?state=dead')), old.toReversed())
  assert.deepEqual(idsOf(await list(visitor, base, '?status=reversed')), fresh.toReversed())
  assert.deepEqual(idsOf(await list(visitor, base, `?conversion_id=${uuid7(Date.now())}`)), [])
  assert.deepEqual(idsOf(await list(visitor, base, `?from=${before(HOUR).toISOString()}`)), fresh.toReversed())
  assert.deepEqual(idsOf(await list(visitor, base, `?to=${before(HOUR).toISOString()}`)), old.toReversed())
  for (const bad of ['?state=lost', '?from=yesterday', '?cursor=1', '?mode=both'])
    assert.equal((await visitor.get(`${base}/postbacks${bad}`)).status, 400)
  for (const id of [strange, 'no-uuid', uuid7(Date.now())]) {
    assert.equal((await visitor.get(`${base}/postbacks/${id}`)).status, 404)
    assert.equal((await visitor.post(`${base}/postbacks/${id}/replay`)).status, 404)
  }
  assert.equal((await visitor.get(`${base}/postbacks/${tested}`)).status, 200)
})

test('the log says whom a postback credits, for what and how much; a test send says what its sample does', async () => {
  const { appId, live } = await world.createApp()
  const { db } = world.database
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: 'https://example.com/{user_id}' })
  const [offerId = 0] = await world.createOffers({ name: 'Tea' })
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await world.confirm(offerId, clickId)
  await startTestSends(db, TESTER, { appId, isTest: false }, ['reversed'], new Date())
  const visitor = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const { postbacks } = await list(visitor, `/apps/${appId}`)
  assert.deepEqual(
    postbacks.map(({ scenario, what }) => [scenario, what?.user_id, what?.offer_name, what?.reward]),
    [
      ['reversed', 'user-1', 'Castle Quest', -50],
      [null, 'ann', 'Tea', 100],
    ],
  )
  assert.equal(postbacks[1]?.what?.offer_id, offerId)
})

test('one postback is shown with every attempt in full, and resent', async () => {
  const { appId, visitor, base, publisherId } = await createPaused()
  const { db } = world.database
  const id = await putPostback(db, appId, { state: 'dead', attempts: 1 })
  await putAttempt(db, id, { ok: false, status: 500, error: 'The server answered 500, not 2xx.' })
  const { data } = await visitor.get<Static<typeof OnePostback>>(`${base}/postbacks/${id}`)
  assert.deepEqual(
    [data.postback.tries[0]?.request, data.postback.tries[0]?.remote_address],
    ['GET https://example.com/', '192.0.2.1'],
  )
  const replayed = await visitor.post<Static<typeof OnePostback>>(`${base}/postbacks/${id}/replay`)
  assert.deepEqual([replayed.data.postback.state, replayed.data.postback.tries.length], ['queued', 1])
  assert.deepEqual(
    (await auditOfPublisher(publisherId)).map(({ action }) => action),
    ['postback.replay'],
  )
})

test('what a later event has overtaken is left out of a replay, which says so; resending one alone warns', async () => {
  const { appId, visitor, base } = await createPaused()
  const { db } = world.database
  const [approved = ''] = await putEvents(
    db,
    appId,
    { status: 'approved', state: 'dead' },
    { status: 'reversed', state: 'delivered' },
  )
  const started = await visitor.post<Static<typeof Replay>>(`${base}/postback/replays`, { state: 'dead' })
  assert.equal(started.data.skipped, 0)
  const path = `${base}/postback/replays/${started.data.replay_id}`
  const read = async () => (await visitor.get<Static<typeof Replay>>(path)).data
  await until(async () => {
    await runReplays(db)
    return (await read()).state === 'done'
  })
  const { queued, skipped } = await read()
  assert.deepEqual([queued, skipped], [0, 1])
  const alone = await visitor.post<Static<typeof ReplayedPostback>>(`${base}/postbacks/${approved}/replay`)
  assert.match(alone.data.warning ?? '', /later event of this conversion \(reversed\) was already delivered/)
})

test('a replay of many is counted, started once, watched and cancelled, by its own app alone', async () => {
  const { appId, visitor, base, publisherId } = await createPaused()
  const { db } = world.database
  await putPostbacks(db, appId, 12, { state: 'dead' })
  await putPostbacks(db, appId, 3, { state: 'delivered' })
  await putPostbacks(db, appId, 2, { state: 'dead', isTest: true })
  const count = await visitor.get(`${base}/postback/replayable?state=dead`)
  assert.deepEqual(count.data, { count: 12, is_more: false })
  const started = await Promise.all(
    [1, 2].map(() => visitor.post<Static<typeof Replay>>(`${base}/postback/replays`, { state: 'dead' })),
  )
  assert.deepEqual(
    started.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )
  const replay = started.find(({ status }) => status === 200)?.data
  const path = `${base}/postback/replays/${replay?.replay_id}`
  const read = async () => (await visitor.get<Static<typeof Replay>>(path)).data
  await until(async () => {
    await runReplays(db)
    return (await read()).state === 'done'
  })
  const done = await read()
  assert.deepEqual([done.queued, done.waiting, done.remaining, done.filter.state], [12, 12, 0, 'dead'])
  const stranger = await createOwned()
  assert.equal((await stranger.visitor.get(`${stranger.base}/postback/replays/${replay?.replay_id}`)).status, 404)
  assert.equal(
    (await stranger.visitor.post(`${stranger.base}/postback/replays/${replay?.replay_id}/cancel`)).status,
    404,
  )
  assert.equal((await read()).waiting, 12)
  const cancelled = await visitor.post<Static<typeof Replay>>(`${path}/cancel`)
  assert.deepEqual([cancelled.status, cancelled.data.waiting], [200, 0])
  assert.equal((await list(visitor, base, '?state=dead')).postbacks.length, 12)
  const listed = await visitor.get<{ replays: { replay_id: number }[] }>(`${base}/postback/replays`)
  assert.deepEqual(
    listed.data.replays.map(({ replay_id }) => replay_id),
    [replay?.replay_id],
  )
  assert.deepEqual(
    (await auditOfPublisher(publisherId)).map(({ action }) => action),
    ['replay.start', 'replay.cancel'],
  )
})

test('health shows the lane, the last day, and the queue; a paused lane is resumed', async () => {
  const { appId, visitor, base } = await createPaused()
  const { db } = world.database
  const read = async () => (await visitor.get<Static<typeof PostbackHealth>>(`${base}/postback/health`)).data
  const [one = ''] = await putPostbacks(db, appId, 2, { state: 'dead', attempts: 1 })
  await putPostbacks(db, appId, 3, { state: 'delivered' })
  await putPostbacks(db, appId, 1, { state: 'delivered', isTest: true })
  const testSend = await putPostback(db, appId, { state: 'dead', scenario: 'approved' })
  for (let ms = 1; ms <= 19; ms++) await putAttempt(db, one, { duration_ms: ms })
  await putAttempt(db, one, { ok: false, status: null, error: 'It took too long.', duration_ms: 15_000 })
  await putAttempt(db, one, { ok: false }, before(25 * HOUR))
  await putAttempt(db, testSend, { ok: false })
  await db.insertInto('notices').values({ app_id: appId, kind: 'postbacks_paused', message: 'Mend it.' }).execute()
  const health = await read()
  assert.deepEqual(
    [health.lane, health.pause_reason, health.attempts, health.p95_ms, health.queued, health.dead],
    ['paused', 'failing', 20, 19, 0, 2],
  )
  assert.deepEqual([health.delivered_24h, health.failed_24h], [3, 2])
  assert.deepEqual([health.last_failure?.postback_id, health.last_failure?.error], [one, 'It took too long.'])
  assert.equal(health.notices[0]?.message, 'Mend it.')
  assert.equal((await visitor.post(`${base}/postback/resume`)).status, 200)
  assert.equal((await read()).lane, 'ok')
  await setLane(db, appId, { failing_since: NOW, failures: 6, open_until: new Date(Date.now() + HOUR) })
  assert.equal((await read()).lane, 'open')
  await setLane(db, appId, { open_until: before(MINUTE) })
  assert.deepEqual([(await read()).lane, (await read()).open_until], ['failing', null])
  await visitor.delete(`${base}/postback`)
  assert.equal((await read()).lane, 'none')
})

test('readers look and change nothing; other publishers find nothing', async () => {
  const { appId, base } = await createPaused()
  const id = await putPostback(world.database.db, appId, { state: 'dead' })
  const reader = await visit(world, 'operator_reader')
  const stranger = await visit(world, 'publisher_owner', (await createOwned()).publisherId)
  const looks = ['/postback', '/postback/health', '/postback/replayable', '/postback/replays', '/postbacks', `/postbacks/${id}`] // prettier-ignore
  for (const path of looks) {
    assert.equal((await reader.get(base + path)).status, 200, path)
    assert.equal((await stranger.get(base + path)).status, 404, path)
  }
  const changes = ['/postback/resume', '/postback/tests', '/postback/replays', `/postbacks/${id}/replay`]
  for (const path of changes) {
    assert.equal((await reader.post(base + path)).status, 403, path)
    assert.equal((await stranger.post(base + path)).status, 404, path)
  }
  assert.equal((await reader.put(`${base}/postback`, { url: 'https://example.com/' })).status, 403)
  assert.equal((await stranger.put(`${base}/postback`, { url: 'https://example.com/' })).status, 404)
  assert.equal((await stranger.delete(`${base}/postback`)).status, 404)
})
