// Credentials of feeds: where they are sent, and how they are changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { type Shown, useManagedFeeds } from '../../../../test/upstreams/managed-feeds.ts'
import { Upstream } from '../../../../test/upstreams/server.ts'
import type { CreatedFeed } from './schema.ts'

const { operator, auditOf, addFeed } = useManagedFeeds('manage_feed_credentials')

test('credentials are never shown, and never sent to another host than the one they are for', async () => {
  const { one, upstream, request, feedId } = await addFeed()
  const secrets = Object.values(upstream.source.credentials).filter((value) => value !== 'acme')
  const texts = [
    (await operator.get(one)).text,
    (await operator.get('/feeds')).text,
    JSON.stringify(await auditOf(feedId)),
  ]
  for (const secret of secrets) for (const text of texts) assert.ok(!text.includes(secret))
  const thief = await new Upstream('lootably').open()
  const elsewhere = { ...request, url: thief.source.request.url }
  for (const answer of [await operator.patch(one, { request: elsewhere }), await operator.post('/feeds/sample', { feed_id: feedId, request: elsewhere, credentials: {} })]) // prettier-ignore
    assert.deepEqual([answer.status, answer.error.details?.['credentials']], [400, 'The request now goes to another host: enter the credentials again.']) // prettier-ignore
  assert.equal(thief.asked.length, 0)
  const sample = await operator.post<{ answer: { data: { offers: unknown[] } } }>('/feeds/sample', { feed_id: feedId, request, credentials: {} }) // prettier-ignore
  assert.equal(sample.data.answer.data.offers.length, 10)
  upstream.trouble = (_, response) => (upstream.send(response, 403, {}), true)
  const refused = await operator.post('/feeds/sample', { feed_id: feedId, request, credentials: {} })
  assert.deepEqual([refused.status, refused.error.message], [400, 'The upstream refused the credentials (HTTP 403). Check the key.']) // prettier-ignore
})

test('a credential that names the host takes no other credential elsewhere', async () => {
  const { upstream, request } = await addFeed()
  const { mapping, credentials } = upstream.source
  const port = new URL(request.url).port
  const named = { ...request, url: request.url.replace(`127.0.0.1:${port}`, `{where}:${port}`) }
  const body = {
    name: 'Feed of a host that is named',
    request: named,
    mapping,
    credentials: { ...credentials, where: '127.0.0.1' },
    settings: { share_percent: 50 },
  }
  const { data, status, text } = await operator.post<Static<typeof CreatedFeed>>('/feeds', body)
  assert.equal(status, 200, text)
  const feedId = data.feed.feed_id
  const before = upstream.asked.length
  const given = { credentials: { where: 'thief.localhost' } }
  for (const answer of [await operator.patch(`/feeds/${feedId}`, given), await operator.post('/feeds/sample', { feed_id: feedId, request: named, ...given })]) // prettier-ignore
    assert.deepEqual([answer.status, answer.error?.details?.['credentials']], [400, 'The request now goes to another host: enter the credentials again.']) // prettier-ignore
  assert.equal(upstream.asked.length, before)
  const all = { credentials: { ...credentials, where: 'thief.localhost' } }
  assert.equal((await operator.patch(`/feeds/${feedId}`, all)).status, 200)
})

test('a feed that moves to another host leaves its credentials behind, also when it needs none there at first', async () => {
  const { one, upstream, request } = await addFeed()
  const elsewhere = { ...request, url: request.url.replace('127.0.0.1', 'thief.localhost') }
  const { json: _json, ...bare } = elsewhere
  await operator.patch(one, { request: { ...bare, json: {} } })
  const { status } = await operator.patch(one, { request: elsewhere })
  assert.equal(status, 400)
  assert.equal(upstream.asked.length, 0)
})

test('credentials are added and removed by name; one that the request needs stays', async () => {
  const { one } = await addFeed()
  const added = await operator.patch<Shown>(one, { credentials: { app_id: '4711' } })
  assert.deepEqual(added.data.credentials, ['key', 'placement', 'app_id'])
  const removed = await operator.patch<Shown>(one, { remove_credentials: ['app_id'] })
  assert.deepEqual(removed.data.credentials, ['key', 'placement'])
  const { status, error } = await operator.patch(one, { remove_credentials: ['key'] })
  assert.deepEqual([status, error.details?.['credentials']], [400, 'The request needs {key}, and there is no such credential.']) // prettier-ignore
  assert.deepEqual((await operator.get<Shown>(one)).data.credentials, ['key', 'placement'])
})
