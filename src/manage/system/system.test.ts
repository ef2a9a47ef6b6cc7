import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { publisherOfApp, visit } from '../../../test/people.ts'
import { after, makeLane, NOW, HOUR, putPostbacks } from '../../../test/postback-world.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { loadConfig, SETTINGS } from '../../config.ts'
import type { System } from './schema.ts'
import { presentSettings } from './settings.ts'

const world = useWorld('manage_system')
type Shown = Static<typeof System>

test('the page tells versions, size, partitions and the processes that serve', async () => {
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<Shown>('/system')
  assert.equal(data.node.version, process.versions.node)
  assert.match(data.database.version, /^\d+\.\d+/)
  assert.ok(data.database.bytes > 1_000_000 && data.database.connections > 0)
  assert.ok(Math.abs(data.database.clock_ahead_ms) < 60_000)
  assert.deepEqual(data.partitions.map(({ table }) => table), ['clicks', 'inbound_calls', 'postback_attempts']) // prettier-ignore
  assert.match(data.partitions[0]?.newest_day ?? '', /^20\d\d-\d\d-\d\d$/)
  assert.deepEqual([data.processes.length, data.rate_limits, data.has_mail], [1, 'memory', false])
  const second = await world.start()
  try {
    assert.equal((await reader.get<Shown>('/system')).data.processes.length, 2)
  } finally {
    await second.close()
  }
})

test('queues are counted: what waits, what is due, and what the disk holds for the database', async () => {
  const appId = await makeLane(world)
  await putPostbacks(world.database.db, appId, 2)
  await putPostbacks(world.database.db, appId, 1, { dueAt: after(HOUR, NOW) })
  const failing = await makeLane(world, { open_until: new Date(Date.now() + HOUR) })
  await putPostbacks(world.database.db, failing, 1)
  const folder = join(world.dataDir, 'spool', 'clicks', '1-1-x')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'owner.lock'), '')
  const operator = await visit(world, 'operator')
  const { data } = await operator.get<Shown>('/system')
  assert.deepEqual([data.queues.postbacks_queued, data.queues.postbacks_due, data.queues.postbacks_sending], [4, 2, 0])
  assert.deepEqual([data.queues.waiting_events, data.queues.unmatched_calls, data.queues.spool_files], [0, 0, 0])
  assert.ok(data.queues.oldest_due_at !== null)
})

test('every setting is shown, and no secret', async () => {
  const operator = await visit(world, 'operator')
  const { data, text } = await operator.get<Shown>('/system')
  assert.deepEqual(data.settings.map(({ name }) => name), SETTINGS.map(({ name }) => name)) // prettier-ignore
  assert.equal(text.includes(SECRET_KEY), false)
  const config = loadConfig({
    SECRET_KEY,
    DATABASE_URL: 'postgres://me:hunter2@db/x',
    REDIS_URL: 'redis://:hunter2@redis:6379',
    SMTP_URL: 'smtp://me:hunter2@mail:587',
    POSTBACK_PROXY: 'http://me:hunter2@proxy:3128',
    TRUST_PROXY: '10.0.0.0/8,127.0.0.1',
  })
  const shown = new Map(presentSettings(config).map(({ name, value }) => [name, value]))
  for (const name of ['SECRET_KEY', 'DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'POSTBACK_PROXY'])
    assert.equal(shown.get(name), 'set')
  assert.deepEqual([shown.get('TRUST_PROXY'), shown.get('TLS_CERT'), shown.get('DEMO')], ['10.0.0.0/8, 127.0.0.1', 'not set', 'off']) // prettier-ignore
})

test('a publisher does not see it', async () => {
  const { appId } = await world.makeApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  assert.equal((await owner.get('/system')).status, 404)
})
