import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { App } from '../../app.ts'
import { type Database, openPool } from '../../db/open.ts'
import { isSpoolEmpty, until } from '../../../test/installation.ts'
import { PostgresProxy } from '../../../test/postgres-proxy.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'

let appId: number
let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('contexts', async () => {
  ;({ appId, live, test: testMode } = await world.createApp())
})

async function ask(query: string, credentials = live, app: App = world.app): Promise<number> {
  const headers = { 'x-api-key': credentials.api_key, 'x-api-secret': credentials.api_secret }
  return (await app.server.inject({ url: `/v1/offers?${query}`, headers })).statusCode
}

async function keptFor(userId: string, isTest = false) {
  const row = await world.database.db
    .selectFrom('user_contexts')
    .selectAll()
    .where('app_id', '=', appId)
    .where('user_id', '=', userId)
    .where('is_test', '=', isTest)
    .executeTakeFirst()
  return row && [row.aff_sub, row.aff_sub2, row.aff_sub3, row.aff_sub4]
}

/** Once nothing waits in the spool, which takes what a busy machine does not write within a second. */
async function settledFor(userId: string, isTest = false) {
  await until(() => isSpoolEmpty(world.dataDir))
  return keptFor(userId, isTest)
}

/** How often PostgreSQL wrote a row of contexts, counted in the write-ahead log's terms: a version of a row is a write. */
async function versionOf(userId: string): Promise<string> {
  const { rows } = await world.database.pool.query<{ xmin: string }>(
    'SELECT xmin::text FROM user_contexts WHERE user_id = $1',
    [userId],
  )
  return rows[0]?.xmin ?? ''
}

test('sub-IDs are in the database when the answer arrives, or on the way there in the spool', async () => {
  assert.equal(await ask('userId=a&aff_sub=1&aff_sub2=2&aff_sub3=3&aff_sub4=4'), 200)
  assert.deepEqual(await settledFor('a'), ['1', '2', '3', '4'])
})

test('a new set replaces the old one, it is never merged', async () => {
  await ask('userId=b&aff_sub=1&aff_sub2=2')
  await ask('userId=b&aff_sub3=3')
  assert.deepEqual(await settledFor('b'), [null, null, '3', null])
})

test('a request that carries none, or only empty ones, changes nothing', async () => {
  await ask('userId=c&aff_sub=1')
  await ask('userId=c')
  await ask('userId=c&aff_sub=&aff_sub4=')
  assert.deepEqual(await settledFor('c'), ['1', null, null, null])
  await ask('userId=never')
  assert.equal(await settledFor('never'), undefined)
})

test('a request that fails keeps nothing', async () => {
  assert.equal(await ask('userId=d&aff_sub=1&limit=0'), 400)
  assert.equal(await settledFor('d'), undefined)
})

test('an answer of 304 keeps them, too', async () => {
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  const url = '/v1/offers?userId=e&aff_sub=1'
  const { headers: first } = await world.app.server.inject({ url, headers })
  await ask('userId=e&aff_sub=2')
  const { statusCode } = await world.app.server.inject({
    url,
    headers: { ...headers, 'if-none-match': String(first['etag']) },
  })
  assert.equal(statusCode, 304)
  assert.deepEqual(await settledFor('e'), ['1', null, null, null])
})

test('test and live credentials are kept apart, and so are apps', async () => {
  const other = await world.createApp()
  await ask('userId=f&aff_sub=live')
  await ask('userId=f&aff_sub=test', testMode)
  await ask('userId=f&aff_sub=other', other.live)
  assert.deepEqual(
    [await settledFor('f'), await settledFor('f', true)],
    [
      ['live', null, null, null],
      ['test', null, null, null],
    ],
  )
})

test('an unchanged set is not written again; a changed one is', async () => {
  await ask('userId=g&aff_sub=1')
  await settledFor('g')
  const first = await versionOf('g')
  await ask('userId=g&aff_sub=1')
  assert.deepEqual([await settledFor('g'), await versionOf('g')], [['1', null, null, null], first])
  await ask('userId=g&aff_sub=2')
  await settledFor('g')
  assert.notEqual(await versionOf('g'), first)
})

test('many at once are all kept; of several for one user the last one counts', async () => {
  const statuses = await Promise.all(Array.from({ length: 600 }, (_, i) => ask(`userId=many-${i % 200}&aff_sub=${i}`)))
  assert.ok(statuses.every((status) => status === 200))
  await until(() => isSpoolEmpty(world.dataDir))
  const { rows } = await world.database.pool.query<{ user_id: string; aff_sub: string }>(
    "SELECT user_id, aff_sub FROM user_contexts WHERE user_id LIKE 'many-%'",
  )
  assert.equal(rows.length, 200)
  for (const { user_id, aff_sub } of rows) assert.equal(Number(aff_sub), 400 + Number(user_id.slice(5)))
})

test('a set that is written late does not replace one that came after it', async () => {
  const { pool } = world.database
  const straight = pool.query.bind(pool)
  const due = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const query = (...args: unknown[]) => {
    const write = () => Reflect.apply(straight, undefined, args) as Promise<unknown>
    if (!JSON.stringify(args).includes('came-first')) return write()
    due.resolve()
    return goOn.promise.then(write)
  }
  const slow = new Proxy(pool, {
    get(target, name) {
      const value: unknown = name === 'query' ? query : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const app = await world.start({}, { ...world.database, pool: slow })
  try {
    const first = ask('userId=late&aff_sub=came-first', live, app)
    await due.promise
    await ask('userId=late&aff_sub=came-second', live, app)
    await sleep(100)
    goOn.resolve()
    await first
    assert.deepEqual(await settledFor('late'), ['came-second', null, null, null])
  } finally {
    await app.close()
  }
})

test('with a second process, a set that the other one replaced is written again', async () => {
  const other = await world.start()
  try {
    await ask('userId=h&aff_sub=1')
    await ask('userId=h&aff_sub=2', live, other)
    await ask('userId=h&aff_sub=1')
    await until(async () => (await keptFor('h'))?.[0] === '1') // by way of the spool, where the start has kept it waiting
    await ask('userId=h&aff_sub=2', live, other)
    await until(async () => (await keptFor('h'))?.[0] === '2')
  } finally {
    await other.close()
  }
})

test('any text of up to 45 characters comes back as it was sent', async () => {
  const text = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 45 })
    .filter((one) => !one.includes('\0') && Array.from(one).length <= 45)
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      assert.equal(await ask(`userId=i&aff_sub=${encodeURIComponent(value)}`), 200)
      await until(async () => (await keptFor('i'))?.[0] === value) // by way of the spool, where the machine is busy
      assert.deepEqual(await keptFor('i'), [value, null, null, null])
    }),
    { numRuns: 60 },
  )
})

const spooled = () =>
  readdirSync(join(world.dataDir, 'spool'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  )

/** A database that is unavailable on demand: nothing listens at its address then. */
function switchable(): { database: Database; goDown: () => void; comeBack: () => void } {
  const nowhere = openPool({ host: '/nonexistent', user: 'x' }, 1)
  const { pool } = world.database
  let isDown = false
  const proxy = new Proxy(pool, {
    get(target, name, receiver) {
      const from = isDown && (name === 'query' || name === 'connect') ? nowhere.pool : target
      const value: unknown = Reflect.get(from, name, receiver)
      return typeof value === 'function' ? value.bind(from) : value
    },
  })
  return {
    database: { ...world.database, pool: proxy },
    goDown: () => void (isDown = true),
    comeBack: () => void (isDown = false),
  }
}

test('while the database is unavailable the list answers, sub-IDs go to the spool, and are replayed when it is back', async () => {
  const { database, goDown, comeBack } = switchable()
  const app = await world.start({}, database)
  try {
    goDown()
    assert.equal(await ask('userId=down&aff_sub=spooled', live, app), 200)
    assert.equal(await ask('userId=down2&aff_sub=spooled', live, app), 200)
    assert.equal(await keptFor('down'), undefined)
    assert.ok(spooled().length > 0)
    comeBack()
    await until(() => spooled().length === 0)
    assert.deepEqual(
      [await keptFor('down'), await keptFor('down2')],
      [
        ['spooled', null, null, null],
        ['spooled', null, null, null],
      ],
    )
  } finally {
    await app.close()
  }
})

test('a replayed set does not replace a newer one, and a torn last line is passed over', async () => {
  await ask('userId=newer&aff_sub=new')
  await settledFor('newer')
  const old = {
    appId,
    isTest: false,
    userId: 'newer',
    subIds: ['old', null, null, null],
    seenAtMs: Date.now() - 60_000,
  }
  const fresh = { ...old, userId: 'fresh' }
  const orphan = join(world.dataDir, 'spool', 'contexts', 'of-a-process-that-is-gone')
  mkdirSync(orphan, { recursive: true })
  writeFileSync(join(orphan, '000000000.jsonl'), `${JSON.stringify(old)}\n${JSON.stringify(fresh)}\n{"appId":1,"use`)
  await until(async () => (await keptFor('fresh')) !== undefined)
  assert.deepEqual(await settledFor('newer'), ['new', null, null, null])
})

test('a database that does not answer holds no request until its queries time out: the sub-IDs go to the spool', async () => {
  const proxy = await PostgresProxy.open(world)
  const app = await world.start({}, proxy.database)
  try {
    proxy.freeze()
    const query = proxy.database.pool.query('SELECT 1').then(
      () => 'an answer',
      () => 'given up',
    )
    assert.equal(await Promise.race([ask('userId=frozen&aff_sub=spooled', live, app), query]), 200)
    proxy.restore()
    await until(async () => (await keptFor('frozen'))?.[0] === 'spooled')
  } finally {
    await app.close()
    await proxy.close()
  }
})

test("of sub-IDs that came to two nodes the later ones count, whatever the nodes' clocks say", async () => {
  const second = await world.start()
  try {
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
    await ask('userId=clocks&aff_sub=earlier').finally(() => mock.timers.reset())
    await ask('userId=clocks&aff_sub=later', live, second)
    assert.deepEqual(await settledFor('clocks'), ['later', null, null, null])
  } finally {
    await second.close()
  }
})

test('an unchanged set is noted again after a day, so that it is not forgotten', async () => {
  const { db } = world.database
  const url = 'userId=daily&aff_sub=1'
  await ask(url)
  const isRemembered = async () => {
    const version = await versionOf('daily')
    await db
      .updateTable('user_contexts')
      .set({ seen_at: new Date(0) })
      .where('user_id', '=', 'daily')
      .execute()
    const old = await versionOf('daily')
    await ask(url)
    return version !== '' && (await versionOf('daily')) === old
  }
  await until(isRemembered) // once it is the only process
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 25 * 3_600_000 })
  await ask(url).finally(() => mock.timers.reset())
  const kept = await db.selectFrom('user_contexts').select('seen_at').where('user_id', '=', 'daily').executeTakeFirst()
  assert.ok(Number(kept?.seen_at) > 0)
})
