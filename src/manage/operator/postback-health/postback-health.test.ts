import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { visit } from '../../../../test/people.ts'
import { after, before, HOUR, createLane, MINUTE, NOW, publisherOf, putAttempt, putPostbacks, readLane } from '../../../../test/postback-world.ts' // prettier-ignore
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { removeSettings } from '../../../features/postbacks/settings.ts'
import type { LaneList } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('postback_health')
type Shown = Static<typeof LaneList>

test('lanes of all apps are shown with their health, those that need attention first', async () => {
  const { db } = world.database
  const well = await createLane(world)
  const failing = await createLane(world, { failures: 3, failing_since: before(HOUR) })
  const waiting = await createLane(world, {
    failures: 9,
    failing_since: before(HOUR),
    open_until: after(HOUR, new Date()),
  })
  const paused = await createLane(world, { paused_at: NOW, pause_reason: 'gone' })
  const [one = '', two = ''] = await putPostbacks(db, well, 3, { state: 'delivered', attempts: 1 })
  for (let ms = 1; ms <= 20; ms++) await putAttempt(db, ms % 2 === 0 ? one : two, { duration_ms: ms * 100 })
  await putPostbacks(db, failing, 1, { state: 'delivered', attempts: 1 })
  await putPostbacks(db, failing, 2, { attempts: 1, lastError: 'The server answered 500, not 2xx.' })
  await putPostbacks(db, failing, 1, { state: 'dead', attempts: 5 })
  await putPostbacks(db, failing, 1, { state: 'dead', createdAt: before(48 * HOUR) })
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<Shown>('/postback-lanes')
  const order = data.lanes.map(({ app_id }) => app_id)
  assert.deepEqual(order, [paused, waiting, failing, well])
  assert.deepEqual(data.lanes.map(({ state }) => state), ['paused', 'waiting', 'failing', 'ok']) // prettier-ignore
  assert.deepEqual([data.total, data.counts], [4, { ok: 1, failing: 1, waiting: 1, paused: 1 }])
  const lane = data.lanes[2]
  assert.deepEqual(
    [lane?.queued, lane?.dead, lane?.delivered_24h, lane?.failed_24h, lane?.last_error],
    [2, 2, 1, 3, 'The server answered 500, not 2xx.'],
  )
  assert.ok(lane?.oldest_due_at)
  assert.deepEqual(data.lanes.map(({ p95_ms }) => p95_ms), [null, null, null, 1900]) // prettier-ignore
  const { data: some } = await reader.get<Shown>('/postback-lanes?state=paused')
  assert.deepEqual(some.lanes.map(({ app_id }) => app_id), [paused]) // prettier-ignore
})

test('a lane is paused and resumed by an operator, and the log knows it', async () => {
  const { db } = world.database
  const appId = await createLane(world, { failures: 9, failing_since: before(HOUR), open_until: after(MINUTE) })
  const operator = await visit(world, 'operator')
  assert.equal((await operator.post(`/postback-lanes/${appId}/pause`)).status, 200)
  assert.equal((await readLane(db, appId)).pause_reason, 'operator')
  assert.equal((await operator.post(`/postback-lanes/${appId}/pause`)).status, 409)
  assert.equal((await operator.post(`/postback-lanes/${appId}/resume`)).status, 200)
  const lane = await readLane(db, appId)
  assert.deepEqual([lane.paused_at, lane.failures, lane.open_until], [null, 0, null])
  const entries = await listAuditEntries(db, { publisherId: await publisherOf(db, appId) }, 10)
  const byOperator = entries.filter(({ who }) => who !== TESTER.email)
  assert.deepEqual(byOperator.map(({ action }) => action), ['postback_lane.resume', 'postback_lane.pause']) // prettier-ignore
})

test('what the operator holds back, the publisher cannot let go, by resuming or by saving', async () => {
  const { db } = world.database
  const appId = await createLane(world, { paused_at: NOW, pause_reason: 'failing' })
  const operator = await visit(world, 'operator')
  const owner = await visit(world, 'publisher_owner', await publisherOf(db, appId))
  const reason = async () => (await readLane(db, appId)).pause_reason
  assert.equal((await operator.post(`/postback-lanes/${appId}/pause`)).status, 200, 'also where failures paused it')
  const { status, error } = await owner.post(`/apps/${appId}/postback/resume`)
  assert.deepEqual([status, /paused these postbacks/.test(error.message)], [409, true])
  assert.equal(
    (await owner.put(`/apps/${appId}/postback`, { url: 'https://example.com/{transaction_id}' })).status,
    200,
  )
  assert.equal(await reason(), 'operator')
  assert.equal((await owner.delete(`/apps/${appId}/postback`)).status, 200)
  assert.equal(
    (await owner.put(`/apps/${appId}/postback`, { url: 'https://example.com/{transaction_id}' })).status,
    200,
  )
  assert.equal(await reason(), 'operator')
  const url = 'https://example.com/{transaction_id}'
  assert.equal((await operator.put(`/apps/${appId}/postback`, { url, timeout_ms: 5_000 })).status, 200)
  assert.equal(await reason(), 'operator', 'nor by a save of their own')
  assert.equal((await operator.post(`/apps/${appId}/postback/resume`)).status, 200)
  assert.equal(await reason(), null)
})

test('a lane without a URL cannot be resumed; one that never had a URL does not exist', async () => {
  const appId = await createLane(world)
  await removeSettings(world.database.db, TESTER, appId)
  const operator = await visit(world, 'operator')
  const { status, error } = await operator.post(`/postback-lanes/${appId}/resume`)
  assert.deepEqual([status, /no postback URL/.test(error.message)], [409, true])
  const { appId: bare } = await world.createApp()
  assert.equal((await operator.post(`/postback-lanes/${bare}/pause`)).status, 404)
  assert.equal((await operator.post('/postback-lanes/999999/pause')).status, 404)
})

test('operators who only look, and publishers, pause nothing', async () => {
  const appId = await createLane(world)
  const reader = await visit(world, 'operator_reader')
  assert.equal((await reader.post(`/postback-lanes/${appId}/pause`)).status, 403)
  const owner = await visit(world, 'publisher_owner', await publisherOf(world.database.db, appId))
  assert.equal((await owner.post(`/postback-lanes/${appId}/pause`)).status, 404)
  assert.equal((await owner.get('/postback-lanes')).status, 404)
})
