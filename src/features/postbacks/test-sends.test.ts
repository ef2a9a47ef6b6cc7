// How often test sends may be started.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp, visit } from '../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { DEFAULTS, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('test_sends')

test('test sends are limited to twenty runs a minute for an app, by its key and from the dashboard together', async () => {
  const { appId, live } = await world.createApp()
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: 'https://example.com/' })
  const visitor = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const byPage = () => visitor.post(`/apps/${appId}/postback/tests`, { scenarios: ['approved'] })
  const byKey = () => world.get('/v1/postback-tests', live, { method: 'POST', payload: { scenarios: ['approved'] } })
  for (let i = 0; i < 10; i++) assert.deepEqual([(await byPage()).status, (await byKey()).status], [200, 201])
  const refused = await byKey()
  assert.deepEqual([refused.status, refused.body.error?.code], [429, 'RATE_LIMIT_EXCEEDED'])
  assert.equal((await byPage()).status, 429)
})
