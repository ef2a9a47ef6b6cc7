import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { createClient } from 'redis'
import { freePort } from '../../test/ports.ts'
import { createMemoryLimiter, createRedisLimiter, type RateLimiter } from './rate-limit.ts'
import { createLimitKeeper, createSharedLimiter, type Take } from './shared-limit.ts'

let port: number
let redis: ChildProcess
const warnings: string[] = []

async function startRedis(): Promise<void> {
  redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  })
  const probe = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 20 } })
  probe.on('error', () => {})
  await probe.connect()
  await probe.ping()
  probe.destroy()
}

before(async () => {
  port = await freePort()
  await startRedis()
})
after(() => redis.kill('SIGKILL'))

// A busy machine may keep Redis from answering within its usual budget, which is not what is tested here.
const connect = (budgetMs = 5_000) =>
  createRedisLimiter(`redis://127.0.0.1:${port}`, (message) => warnings.push(message), budgetMs)

async function takeMany(limiter: RateLimiter, key: string, count: number, limit: number): Promise<number> {
  let allowed = 0
  for (let i = 0; i < count; i++) if (!(await limiter.take(key, limit)).exceeded) allowed++
  return allowed
}

test('a clock that is set back makes no caller wait longer than a window', () => {
  let now = 10_000_000
  const limiter = createMemoryLimiter(() => now)
  const take = () => limiter.take('k', 1) as { resetAtMs: number; exceeded: boolean }
  take()
  now -= 3_600_000
  assert.deepEqual([take().exceeded, take().resetAtMs - now], [false, 60_000])
})

test('in memory a window starts with the first request and ends after 60 s', () => {
  let now = 1_000_000
  const limiter = createMemoryLimiter(() => now)
  const take = () => limiter.take('k', 2) as { remaining: number; resetAtMs: number; exceeded: boolean }
  assert.deepEqual(take(), { limit: 2, remaining: 1, resetAtMs: 1_060_000, exceeded: false })
  now += 59_999
  assert.deepEqual(take(), { limit: 2, remaining: 0, resetAtMs: 1_060_000, exceeded: false })
  assert.equal(take().exceeded, true)
  now += 1
  assert.deepEqual(take(), { limit: 2, remaining: 1, resetAtMs: 1_120_000, exceeded: false })
})

test('looking at an allowance takes nothing of it', () => {
  const limiter = createMemoryLimiter()
  assert.equal(limiter.peek('k', 5).remaining, 5)
  void limiter.take('k', 5)
  assert.equal(limiter.peek('k', 5).remaining, 4)
  assert.equal(limiter.peek('k', 5).remaining, 4)
})

test('the memory of a limiter is bounded, however many IP addresses come', () => {
  const limiter = createMemoryLimiter()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 1_000_000; i++) void limiter.take(`address:${i}`, 100)
  assert.ok(process.memoryUsage().heapUsed - before < 200_000_000)
})

test('one process counts for others: exactly, and while it is frozen they count on by themselves', async () => {
  const keep = createLimitKeeper()
  let frozen = Promise.withResolvers<void>()
  frozen.resolve()
  const ask = (takes: Take[]) => frozen.promise.then(() => keep(takes))
  const said: string[] = []
  const limiters = [0, 1].map(() => createSharedLimiter(ask, (message) => said.push(message), 20))
  const [first] = limiters as [RateLimiter]
  const taken = await Promise.all(Array.from({ length: 150 }, async (_, i) => limiters[i % 2]?.take('shared', 100)))
  assert.equal(taken.filter((one) => one?.exceeded === false).length, 100)
  assert.equal(new Set(taken.map((one) => one?.remaining)).size, 100)
  assert.equal(await takeMany(first, 'more', 10, 20), 10)
  for (const outage of [1, 2]) {
    frozen = Promise.withResolvers<void>()
    let [allowed, asked] = [0, 0]
    for (let i = 0; i < 15; i++) {
      const answer = first.take(`outage ${outage}`, 10)
      if (answer instanceof Promise) asked++
      if (!(await answer).exceeded) allowed++
    }
    assert.deepEqual([allowed, asked, said.length], [10, 1, outage], 'only the first waits')
    assert.equal(await takeMany(first, 'more', 15, 20), outage === 1 ? 10 : 0, 'it goes on from the last answer')
    frozen.resolve()
    while (!(first.take('thawed', 1_000_000) instanceof Promise)) await new Promise(setImmediate)
    assert.equal(await takeMany(first, 'more', 1, 20), 0)
  }
})

test('with Redis, two processes share one allowance exactly, also when they ask at the same time', async () => {
  const limiters = await Promise.all([connect(), connect()])
  const taken = await Promise.all(Array.from({ length: 150 }, async (_, i) => limiters[i % 2]?.take('shared', 100)))
  assert.equal(taken.filter((one) => one?.exceeded === false).length, 100)
  assert.deepEqual(
    new Set(taken.map((one) => one?.remaining)).size,
    100,
    'each remaining count once, and 0 for the rest',
  )
  await Promise.all(limiters.map((limiter) => limiter.close()))
})

test('Redis frozen: it is not waited for, the limit still holds, and Redis counts again once it thaws', async () => {
  const limiter = await connect(200)
  assert.equal(await takeMany(limiter, 'frozen', 60, 100), 60)
  redis.kill('SIGSTOP')
  try {
    let [allowed, asked] = [0, 0]
    for (let i = 0; i < 60; i++) {
      const answer = limiter.take('frozen', 100)
      if (answer instanceof Promise) asked++
      if (!(await answer).exceeded) allowed++
    }
    assert.equal(allowed, 40, 'the count goes on from what Redis said last')
    assert.ok(asked <= 3, 'after the first the breaker is open')
  } finally {
    redis.kill('SIGCONT')
  }
  for (const deadline = Date.now() + 60_000; ; await new Promise(setImmediate)) {
    const answer = limiter.take('thawed', 1_000_000)
    await answer
    if (answer instanceof Promise) break
    assert.ok(Date.now() < deadline, 'Redis is not asked again')
  }
  assert.equal(await takeMany(limiter, 'frozen', 30, 100), 0, 'what was counted meanwhile still counts')
  await limiter.close()
})

test('Redis gone: the limit holds within the process, one warning is given, and Redis is used again when it is back', async () => {
  const limiter = await connect()
  warnings.length = 0
  assert.equal(await takeMany(limiter, 'gone', 10, 20), 10)
  const ended = once(redis, 'exit')
  redis.kill('SIGKILL')
  await ended
  assert.equal(await takeMany(limiter, 'gone', 30, 20), 10)
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /Redis does not answer .*each process counts/)
  await startRedis() // empty: it has forgotten what it counted
  for (const deadline = Date.now() + 60_000; ; await new Promise(setImmediate)) {
    const answer = limiter.take('back', 1_000_000)
    await answer
    if (answer instanceof Promise) break
    assert.ok(Date.now() < deadline, 'Redis is not used again')
  }
  assert.equal(await takeMany(limiter, 'gone', 30, 20), 0, 'a Redis that forgot gives no one a fresh allowance')
  await limiter.close()
})

test('a Redis that was never there does not keep the limiter from starting', async () => {
  const unreachable = await createRedisLimiter(`redis://127.0.0.1:${await freePort()}`, () => {})
  assert.equal(await takeMany(unreachable, 'k', 30, 20), 20)
  await unreachable.close()
})
