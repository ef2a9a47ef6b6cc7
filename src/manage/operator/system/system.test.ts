import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { PIXEL } from '../../../../test/images.ts'
import { until } from '../../../../test/installation.ts'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { after, createLane, NOW, HOUR, putPostbacks } from '../../../../test/postback-world.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { loadConfig } from '../../../config.ts'
import { SETTINGS } from '../../../settings.ts'
import { Node } from '../../../db/nodes.ts'
import { VERSION } from '../../../lib/project.ts'
import type { System } from './schema.ts'
import { presentSettings } from './settings.ts'

const world = useWorld('manage_system')
type Shown = Static<typeof System>

test('the page shows versions, size and partitions', async () => {
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<Shown>('/system')
  assert.equal(data.node.version, process.versions.node)
  assert.match(data.database.version, /^\d+\.\d+/)
  assert.ok(data.database.bytes > 1_000_000 && data.database.connections > 0)
  assert.ok(Math.abs(data.database.clock_ahead_ms) < 60_000)
  assert.deepEqual(data.partitions.map(({ table }) => table), ['api_requests', 'clicks', 'inbound_calls', 'postback_attempts']) // prettier-ignore
  assert.match(data.partitions[0]?.newest_day ?? '', /^20\d\d-\d\d-\d\d$/)
  assert.deepEqual([data.rate_limits, data.has_mail], ['memory', false])
})

test('every node is shown until it takes its leave; one that was killed is said to be gone', async () => {
  const { db } = world.database
  const reader = await visit(world, 'operator_reader')
  const read = async () => (await reader.get<Shown>('/system')).data.nodes
  /** A node says that it is there right after its start. */
  const shows = async (count: number) => {
    await until(async () => (await read()).length === count)
    return (await read()).map(({ part, is_here, version, host }) => [part, is_here, version, host])
  }
  const api = ['api', true, VERSION, hostname()]
  assert.deepEqual(await shows(1), [api])
  const second = await world.start()
  assert.deepEqual(await shows(2), [api, api])
  await second.close()
  assert.deepEqual(await shows(1), [api])
  const minuteAgo = new Date(Date.now() - HOUR / 60)
  await new Node(db, 'worker', minuteAgo).beat(minuteAgo)
  assert.deepEqual(await shows(2), [api, ['worker', false, VERSION, hostname()]])
  await new Node(db, 'worker').beat()
  assert.deepEqual(await shows(2), [['worker', true, VERSION, hostname()], api], 'another one took its place')
})

test('queues are counted: what waits, what is due, and what the disk holds for the database', async () => {
  const appId = await createLane(world)
  await putPostbacks(world.database.db, appId, 2)
  await putPostbacks(world.database.db, appId, 1, { dueAt: after(HOUR, NOW) })
  const failing = await createLane(world, { open_until: new Date(Date.now() + HOUR) })
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
  const { appId } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  assert.equal((await owner.get('/system')).status, 404)
})

test("an uploaded image is the network's logo, on every page as it comes, until it is removed", async () => {
  const operator = await visit(world, 'operator')
  const { path } = (await operator.post<{ path: string }>('/images', { content: PIXEL.toString('base64') })).data
  const set = (logo: string | null) => operator.put('/system/logo', { path: logo })
  const shown = async () => {
    const icons = ['/sign-in', '/join', '/network'].map(async (page) => {
      const { body } = await world.app.server.inject(page)
      return /rel="icon" href="([^"]*)"/.exec(body)?.[1]
    })
    return [(await operator.get<Shown>('/system')).data.logo, ...new Set(await Promise.all(icons))]
  }
  assert.deepEqual(await shown(), [null, '/icon.svg'])
  assert.equal((await set(path)).status, 200)
  assert.deepEqual(await shown(), [path, path])
  for (const wrong of ['', '/icon.svg', `/images/${'0'.repeat(32)}.png`, path.slice(8), `https://x.test${path}`, `/imagex/${path.slice(8)}`])
    assert.match((await set(wrong)).error.details?.['path'] ?? '', /no such image/i, wrong) // prettier-ignore
  assert.deepEqual(await shown(), [path, path])
  assert.equal((await set(null)).status, 200)
  assert.deepEqual(await shown(), [null, '/icon.svg'])
  const { entries } = (await operator.get<{ entries: { action: string; subject: string }[] }>('/audit?action=logo.'))
    .data
  assert.deepEqual(entries.map(({ action, subject }) => [action, subject]), [['logo.remove', 'network'], ['logo.set', path.slice(8)]]) // prettier-ignore
})
