// Rate limits over several Redis servers: under Sentinel, whose master dies, and in a cluster.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { createRedisLimiter, type RateLimiter } from '../../src/http/rate-limit.ts'
import { until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { RedisServer, startRedisCluster } from '../redis-servers.ts'
import { testLong } from '../tier.ts'

const PATIENT_MS = 5_000

async function open(url: string): Promise<RateLimiter> {
  const limiter = await createRedisLimiter(url, () => {}, PATIENT_MS)
  after(() => limiter.close())
  return limiter
}

/** Whether both count together: one sees what the other took. */
async function share(one: RateLimiter, other: RateLimiter, key: string): Promise<boolean> {
  const { remaining } = await one.take(key, 1_000)
  return (await other.take(key, 1_000)).remaining === remaining - 1
}

testLong('under Sentinel: two nodes share an allowance, also after the master died', async () => {
  const master = await RedisServer.start()
  const replica = await RedisServer.start('--replicaof', `127.0.0.1 ${master.port}`)
  const sentinels = [1, 2, 3].map(() => RedisServer.startSentinel('offers', master, 2))
  const watchers = await Promise.all(sentinels)
  after(() => Promise.all([master, replica, ...watchers].map((server) => server.stop())))
  for (const watcher of watchers)
    await until(() => /num-slaves\n1\n/.test(watcher.ask('SENTINEL', 'MASTER', 'offers')) && /num-other-sentinels\n2\n/.test(watcher.ask('SENTINEL', 'MASTER', 'offers'))) // prettier-ignore
  const url = `redis+sentinel://${watchers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/offers`
  const [one, other] = [await open(url), await open(url)]
  await until(() => share(one, other, 'before'))
  assert.notEqual(master.ask('GET', 'offerdeck:rate:before'), '')
  await master.stop()
  await until(() => replica.ask('ROLE').startsWith('master'))
  await until(() => share(one, other, 'after'))
  assert.notEqual(replica.ask('GET', 'offerdeck:rate:after'), '')
})

testLong('in a cluster: two nodes share allowances, wherever their keys are', async () => {
  const servers = await startRedisCluster()
  after(() => Promise.all(servers.map((server) => server.stop())))
  const url = `redis+cluster://${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}`
  const [one, other] = [await open(url), await open(url)]
  for (let i = 0; i < 30; i++) await until(() => share(one, other, `key ${i}`))
  for (const server of servers) assert.notEqual(server.ask('DBSIZE'), '0')
})

testLong('Sentinels and clusters that are not there keep no node from starting', async () => {
  const port = await freePort()
  for (const url of [`redis+sentinel://127.0.0.1:${port}/offers`, `redis+cluster://127.0.0.1:${port}`]) {
    const limiter = await createRedisLimiter(url, () => {}, 100)
    assert.equal((await limiter.take('key', 10)).remaining, 9)
    await limiter.close()
  }
})
