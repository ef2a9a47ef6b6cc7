// A part of the traces: of each flow all that came after the click, or nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../test/installation.ts'
import { useCollector } from '../../test/otlp-collector.ts'
import { SECRET_KEY, useWorld } from '../../test/world.ts'
import { buildApp } from '../app.ts'
import { runFeed } from '../features/feeds/run.ts'
import { createFeedOf } from '../../test/feed-rows.ts'
import { createDeal } from '../../test/conversion-rows.ts'
import { openTracing } from './open-tracing.ts'
import { isRecorded, spanOfRequest } from './trace-ids.ts'

const world = useWorld('sampling')
const collector = useCollector()
const RATIO = 0.5

test('a click and its confirmation are recorded together, or neither is', async () => {
  const tracing = openTracing({ endpoint: collector.url, headers: {}, serviceName: 'offerdeck', ratio: RATIO }, 'api', world.log) // prettier-ignore
  const { config, database, log } = world
  const app = await buildApp({ config, secretKey: SECRET_KEY, database, log, tracing })
  const own = world.app
  world.app = app
  after(() => (world.app = own))
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const flows: { click: string; call: string }[] = []
  for (let i = 0; i < 30; i++) {
    const { clickId, headers } = await world.click(offerId, live, `userId=u${i}`)
    const query = new URLSearchParams({ click_id: clickId, token: world.tokenOf(offerId) }).toString()
    const confirmed = await app.server.inject(`/postback?${query}`)
    assert.equal(confirmed.statusCode, 200)
    flows.push({ click: String(headers['x-request-id']), call: String(confirmed.headers['x-request-id']) })
  }
  await app.close()
  await tracing.close()
  const countOf = (id: string) => collector.spans.filter(({ traceId }) => traceId === spanOfRequest(id).traceId).length
  for (const { click, call } of flows)
    assert.deepEqual([countOf(click), countOf(call)], isRecorded(click, RATIO) ? [2, 2] : [0, 0], click)
  const recorded = flows.filter(({ click }) => isRecorded(click, RATIO)).length
  assert.ok(recorded > 0 && recorded < flows.length)
})

test('a run of a feed is recorded with its outcome, whatever part of the requests is', async () => {
  const tracing = openTracing({ endpoint: collector.url, headers: {}, serviceName: 'offerdeck', ratio: 0 }, 'worker', world.log) // prettier-ignore
  const feedId = await createFeedOf(world, await createDeal(world))
  const open = async () => {
    throw Object.assign(new Error('no way there'), { code: 'ECONNREFUSED' })
  }
  const runner = { db: world.database.db, secretKey: SECRET_KEY, open, traceRun: tracing.traceFeedRun }
  const runId = await runFeed(runner, { id: null, email: 'schedule', ip: null }, feedId).catch(() => null)
  await until(() => collector.named('feed run').length > 0)
  await tracing.close()
  const [span] = collector.named('feed run')
  assert.deepEqual([span?.attributes['offerdeck.feed_id'], span?.attributes['offerdeck.outcome'], span?.status.code], [feedId, 'failed', 2]) // prettier-ignore
  assert.ok(runId === null || span?.attributes['offerdeck.feed_run_id'] === runId)
})
