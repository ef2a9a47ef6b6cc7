import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { buildApp } from '../app.ts'
import { buildWorker } from '../worker.ts'
import { createFeedOf } from '../../test/feed-rows.ts'
import { until } from '../../test/installation.ts'
import { createDeal } from '../../test/conversion-rows.ts'
import { PostgresProxy } from '../../test/postgres-proxy.ts'
import { freePort } from '../../test/ports.ts'
import { SECRET_KEY, useWorld } from '../../test/world.ts'
import { openMetrics } from './open-metrics.ts'

const TOKEN = 'a token for Prometheus'
const world = useWorld('metrics')

/** A process with its own way to the database, and what Prometheus reads from it. */
async function startMeasured() {
  const proxy = await PostgresProxy.open(world)
  const { database } = proxy
  const port = await freePort()
  const config = { ...world.config, metricsPort: port, metricsToken: TOKEN }
  const metrics = await openMetrics(config, database.pool)
  const options = { config, secretKey: SECRET_KEY, database, log: world.log, metrics }
  const worker = await buildWorker(options)
  const app = await buildApp(options)
  after(async () => {
    await app.close()
    await worker.close()
    await metrics.close()
    await proxy.close()
  })
  const ask = (path: string, token = TOKEN) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const read = async () => new Map((await (await ask('/metrics')).text()).split('\n').flatMap(sampleOf))
  return { proxy, app, ask, read }
}

/** A line of the format of Prometheus. */
function sampleOf(line: string): [string, number][] {
  const match = /^(\w+(?:\{.*\})?) (\S+)$/.exec(line)
  return match === null ? [] : [[match[1] as string, Number(match[2])]]
}

test('Prometheus reads requests, queues, lanes and feeds, and goes on reading while the database is unavailable', async () => {
  const deal = await createDeal(world)
  const feedId = await createFeedOf(world, deal)
  await world.database.pool.query(
    `UPDATE feeds SET is_paused = false, failures = 3, troubled_at = now(), due_at = now() + interval '1 day'`,
  )
  const { proxy, app, ask, read } = await startMeasured()

  const { live } = await world.createApp()
  await app.refresh()
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  for (const url of ['/v1/offers?userId=u', '/api/v1/offers?userId=u', '/v1/offers', '/nowhere/42'])
    await app.server.inject({ url, headers })
  const figures = await read()
  const requests = (route: string, status: number) =>
    figures.get(`offerdeck_http_requests_total{method="GET",route="${route}",status="${status}"}`)
  assert.deepEqual([requests('/v1/offers', 200), requests('/v1/offers', 400)], [2, 1])
  assert.equal(figures.get('offerdeck_http_request_duration_seconds_count{method="GET",route="/v1/offers"}'), 3)
  assert.equal([...figures.keys()].some((name) => name.includes('nowhere/42')), false) // prettier-ignore
  assert.ok((figures.get('offerdeck_catalogue_offers') ?? 0) > 0)
  assert.ok((figures.get('nodejs_eventloop_lag_p99_seconds') ?? 0) > 0)
  assert.equal(figures.get(`offerdeck_feed_failures{feed_id="${feedId}",feed="Feed"}`), 3)
  assert.equal(figures.get(`offerdeck_feed_has_problem{feed_id="${feedId}",feed="Feed"}`), 1)
  assert.equal(figures.get('offerdeck_database_up'), 1)
  assert.equal(figures.get('offerdeck_task_failures{part="worker",task="running feeds"}'), 0)

  const names = new Set(
    [...(await (await ask('/metrics')).text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? ''),
  )
  const table = readFileSync('docs/operations.md', 'utf8').match(/(?<=^\| figure.*\n.*\n)(\|.*\n)+/m)?.[0] ?? ''
  const documented = [...table.matchAll(/(?<=^\|[^|]*`)\w+(?=`)/gm)].map(([name]) => `offerdeck_${name}`)
  names.add('offerdeck_process_restarts_total') // of a supervisor: see serving/processes.test.ts
  assert.deepEqual(documented.toSorted(), [...names].filter((name) => name.startsWith('offerdeck_')).toSorted())
  for (const file of ['deploy/prometheus/alerts.yml', 'deploy/grafana/offerdeck.json'])
    for (const [used] of readFileSync(file, 'utf8').matchAll(/\b(offerdeck|nodejs|process)_[a-z0-9_]+[a-z0-9]\b/g))
      assert.ok(names.has(used.replace(/_bucket$/, '')), `${file} names ${used}, which there is not`)

  proxy.cut()
  await until(async () => (await read()).get('offerdeck_database_up') === 0)
  await until(async () => ((await read()).get('offerdeck_catalogue_age_seconds') ?? 0) > 0.5)
  const without = await read()
  assert.equal(without.get('offerdeck_postbacks_queued'), undefined)
  assert.ok((without.get('offerdeck_catalogue_offers') ?? 0) > 0)
  await until(async () =>
    [...(await read())].some(([name, failures]) => name.startsWith('offerdeck_task_failures') && failures > 0),
  )

  assert.equal((await ask('/healthz')).status, 200)
  assert.equal((await ask('/')).status, 404)
  assert.equal((await ask('/metrics', 'another token, not this one')).status, 401)
  const atApi = (token: string) =>
    app.server.inject({ url: '/metrics', headers: { authorization: `Bearer ${token}` } }).then((r) => r.statusCode)
  assert.deepEqual([await atApi(TOKEN), await atApi(''), await atApi(`${TOKEN} `)], [200, 401, 401])
})
