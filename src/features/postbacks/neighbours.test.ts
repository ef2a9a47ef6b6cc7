// A running worker and publishers' servers that misbehave: no other app waits for them, and settings saved meanwhile
// count.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { until } from '../../../test/installation.ts'
import { publisherOf, readLane, setLane } from '../../../test/postback-world.ts'
import { answer, hang, type Receiver, type ReceivedRequest, startReceiver } from '../../../test/receiver.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker, type Worker } from '../../worker.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { trustApp } from '../apps/trust.ts'
import { readReplay, startReplay } from './replays.ts'
import { DEFAULTS, type PostbackSettings, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

let offerId: number
let worker: Worker
const receivers: Receiver[] = []
after(async () => {
  for (const receiver of receivers) await receiver.close() // what hangs ends with it, and the worker waits for that
  await worker.close()
})
const world = useWorld('neighbours', async () => {
  ;[offerId] = (await world.createOffers({})) as [number]
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
})

async function receive(behave = answer(200)): Promise<Receiver> {
  const receiver = await startReceiver(behave)
  receivers.push(receiver)
  return receiver
}

const TEMPLATE = '/?u={user_id}&s={status}&c={conversion_id}'
const save = (appId: number, receiver: Receiver, more: Partial<PostbackSettings> = {}) =>
  saveSettings(world.database.db, TESTER, SECRET_KEY, appId, {
    ...DEFAULTS,
    url: `http://127.0.0.1:${receiver.port}${TEMPLATE}`,
    ...more,
  })

async function createApp(receiver: Receiver, more: Partial<PostbackSettings> = {}, publisherId?: number) {
  const app = await world.createApp(publisherId === undefined ? {} : { publisherId, name: 'Second' })
  await trustApp(world.database.db, TESTER, app.appId, [offerId])
  await save(app.appId, receiver, more)
  return app
}

async function report(credentials: IssuedCredentials, ...userIds: string[]): Promise<string[]> {
  const replies = await Promise.all(userIds.map((userId) => world.report(credentials, { userId, offerId })))
  return replies.map(({ body }) => body.data.conversion.conversion_id)
}

const list = async (credentials: IssuedCredentials) =>
  (await world.get('/v1/postbacks?limit=100', credentials)).body.data.postbacks
const users = (count: number) => Array.from({ length: count }, (_, i) => `user${i}`)
const userAndStatus = ({ head }: ReceivedRequest) => /u=(\w+)&s=(\w+)/.exec(head)?.slice(1).join(' ') ?? head

test("a new URL is not paused by the old one's 410, whether that came late or was asked after the save", async () => {
  const { db } = world.database
  const [old, fresh] = [await receive(), await receive()]
  const { appId, live } = await createApp(old)
  await report(live, 'first')
  await until(async () => (await list(live))[0]?.state === 'delivered')
  old.behave = hang
  await report(live, 'late')
  await until(() => old.requests.length === 2)
  await save(appId, fresh)
  const gone = answer(410)
  gone(old.requests[1]!.socket, old.requests[1]!)
  old.behave = gone
  await report(live, 'stale') // by the settings of a second ago, if the worker has them still
  await until(async () => (await list(live)).every(({ attempts, state }) => attempts === 1 && state !== 'sending'))
  assert.equal((await list(live)).at(-2)?.last_status, 410)
  const { paused_at, failures } = await readLane(db, appId)
  assert.deepEqual([paused_at, failures], [null, 0])
  for (const { postback_id, state } of await list(live))
    if (state !== 'delivered') await world.get(`/v1/postbacks/${postback_id}/replay`, live, { method: 'POST' })
  await until(async () => (await list(live)).every(({ state }) => state === 'delivered'))
  assert.ok(fresh.requests.map(userAndStatus).includes('late approved'))
})

test('while the lane of one app is locked and its attempt ends, the postbacks of another go out', async () => {
  const { db } = world.database
  const [stuck, free] = [await receive(hang), await receive()]
  const [one, other] = [await createApp(stuck), await createApp(free)]
  await report(one.live, 'stuck')
  await until(() => stuck.requests.length === 1)
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('postback_lanes').select('app_id').where('app_id', '=', one.appId).forUpdate().execute()
    answer(503)(stuck.requests[0]!.socket, stuck.requests[0]!)
    await report(other.live, ...users(30))
    await until(async () => {
      const { rows } = await sql<{ delivered: number; waiting: number }>`
        SELECT (SELECT count(*) FROM postbacks WHERE app_id = ${other.appId} AND state = 'delivered') AS delivered,
          (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock') AS waiting`.execute(
        trx,
      )
      assert.equal(rows[0]?.waiting, 0, 'a transaction waits for the lane')
      return rows[0]?.delivered === 30
    })
    assert.equal((await list(one.live))[0]?.last_status, 503, 'what came of the attempt is written')
  })
  await until(async () => (await readLane(db, one.appId)).failures === 1)
})

test('an event that the app no longer asks for blocks no later one, also when it was under way', async () => {
  const receiver = await receive(answer(500))
  const { appId, live } = await createApp(receiver, { events: ['pending', 'approved'] })
  const click = async (userId: string) => (await world.click(offerId, live, `userId=${userId}`)).clickId
  const [waiting, underWay] = [await click('waiting'), await click('underway')]
  await world.confirm(offerId, waiting, { status: 'pending' })
  await until(async () => (await list(live))[0]?.last_status === 500)
  receiver.behave = hang
  await world.confirm(offerId, underWay, { status: 'pending' })
  await until(() => receiver.requests.length === 2)
  await save(appId, receiver, { events: ['approved', 'reversed'] })
  await until(async () => (await list(live)).some(({ state }) => state === 'dead'))
  receiver.behave = answer(200)
  for (const clickId of [waiting, underWay]) await world.confirm(offerId, clickId, { status: 'approved' })
  answer(500, { 'retry-after': '3600' })(receiver.requests[1]!.socket, receiver.requests[1]!)
  await until(async () => (await list(live)).filter(({ state }) => state === 'delivered').length === 2)
  const all = receiver.requests.map(userAndStatus).toSorted()
  assert.deepEqual(all, ['underway approved', 'underway pending', 'waiting approved', 'waiting pending'])
  const pending = (await list(live)).filter(({ status }) => status === 'pending')
  assert.deepEqual(pending.map(({ state }) => state), ['dead', 'dead']) // prettier-ignore
})

test('a replay of which many are refused holds up nothing live, and opens no circuit', async () => {
  const { db } = world.database
  const receiver = await receive()
  const { appId, live } = await createApp(receiver)
  await report(live, ...users(99))
  await until(
    async () => (await list(live)).length === 99 && (await list(live)).every((one) => one.state === 'delivered'),
  )
  const refused = new Set((await list(live)).slice(-40).map(({ conversion_id }) => conversion_id)) // the first of the replay
  receiver.behave = (socket, request) => {
    const [, id = ''] = /c=([\w-]+)/.exec(request.head) ?? []
    answer(refused.has(id) ? 422 : 200)(socket, request)
  }
  const isSound = async () => {
    const { failures, open_until } = await readLane(db, appId)
    assert.deepEqual([failures, open_until], [0, null])
  }
  const replayId = await startReplay(db, TESTER, appId, {})
  const untilSound = (isSo: () => boolean | Promise<boolean>) => until(async () => (await isSound(), isSo()))
  await untilSound(() => receiver.requests.length > 120)
  await report(live, 'live')
  await untilSound(() => receiver.requests.map(userAndStatus).includes('live approved'))
  await untilSound(async () => (await readReplay(db, replayId)).state === 'done' && receiver.requests.length >= 199)
  await untilSound(async () => (await list(live)).every(({ state }) => state !== 'sending'))
})

test('a postback sent twice, because a kept-alive connection was closed, is logged as such', async () => {
  const receiver = await receive()
  const { live } = await createApp(receiver)
  await report(live, 'first')
  await until(async () => (await list(live))[0]?.state === 'delivered')
  receiver.behave = (socket, request) => (request.connection === 1 ? socket.destroy() : answer(200)(socket, request))
  await report(live, 'again')
  await until(async () => (await list(live)).every(({ state }) => state === 'delivered'))
  assert.deepEqual(receiver.requests.map(userAndStatus), ['first approved', 'again approved', 'again approved'])
  const [again] = await list(live)
  const { tries } = (await world.get(`/v1/postbacks/${again?.postback_id}`, live)).body.data.postback
  assert.equal(tries.length, 1)
  assert.match(tries[0]?.request ?? '', /Sent twice: the kept-alive connection was closed/)
})

test('a request that its macros make too long is not sent; the log says why, and stores nothing of it', async () => {
  const receiver = await receive()
  const url = `http://127.0.0.1:${receiver.port}/?${'a={user_id}&'.repeat(120)}`
  const { live } = await createApp(receiver, { url })
  await report(live, 'x'.repeat(150))
  await until(async () => (await list(live))[0]?.attempts === 1 && (await list(live))[0]?.state === 'queued')
  const [found] = await list(live)
  assert.match(found?.last_error ?? '', /characters once its macros are filled in; 16384 can be sent/)
  const { tries } = (await world.get(`/v1/postbacks/${found?.postback_id}`, live)).body.data.postback
  assert.deepEqual([tries[0]?.request, receiver.connections()], ['', 0])
})

test('four publishers whose servers hang leave room for a fifth', async () => {
  const { db } = world.database
  const slow: number[] = []
  for (let i = 0; i < 8; i++) {
    const publisherId = i % 2 === 0 ? undefined : await publisherOf(db, slow.at(-1) ?? 0)
    const { appId, live } = await createApp(await receive(hang), {}, publisherId)
    await setLane(db, appId, { width: 64, paused_at: new Date(), pause_reason: 'operator' })
    await report(live, ...users(70))
    slow.push(appId)
  }
  await sql`UPDATE postback_lanes SET paused_at = NULL, pause_reason = NULL WHERE app_id = ANY (${slow}::bigint[])`.execute(
    db,
  )
  const held = async () => {
    const { rows } =
      await sql`SELECT FROM postback_queue WHERE state = 'sending' AND app_id = ANY (${slow}::bigint[])`.execute(db)
    return rows.length
  }
  let [before, same] = [0, 0]
  await until(async () => {
    const now = await held()
    same = now === before && now >= 400 ? same + 1 : 0
    before = now
    return same === 20 // nothing more is claimed
  })
  assert.ok(before <= 448, `${before} of 512 are held`)
  const fifth = await receive()
  const { live } = await createApp(fifth)
  await report(live, 'quick')
  await until(() => fifth.requests.length === 1)
})

test('the worker collects the statistics of partitioned tables, which autovacuum does not', async () => {
  const isAnalyzed = async () => {
    const { rows } = await sql<{ is: boolean }>`
      SELECT last_analyze IS NOT NULL AS is FROM pg_stat_user_tables WHERE relname = 'postback_attempts'`.execute(
      world.database.db,
    )
    return rows[0]?.is === true
  }
  await until(isAnalyzed)
})
