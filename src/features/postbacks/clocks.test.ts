// Machines whose clocks are wrong: the database's time decides when a postback is sent, and which worker has it.
import assert from 'node:assert/strict'
import { afterEach, mock, test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { createLane, putPostbacks } from '../../../test/postback-world.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { trustApp } from '../apps/trust.ts'
import { finishClaims, reapExpired, renewLeases } from './claims.ts'
import { claimReady, makeReady } from './queue.ts'
import { DEFAULTS, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('clocks')
afterEach(() => mock.timers.reset())

/** What the database would say, whatever our own clock says. */
const trueNow = () => performance.timeOrigin + performance.now()
const shiftClock = (ms: number) => mock.timers.enable({ apis: ['Date'], now: Math.round(trueNow() + ms) })
const claim = () => claimReady(world.database.db, { limit: 500, capacity: 4_096 })

test('what an API node reports is sent at once, also where its clock is a minute wrong, and dated by the database', async () => {
  const { db } = world.database
  const receiver = await startReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK'))
  const [offerId = 0] = await world.createOffers({})
  const { appId, live } = await world.createApp()
  await trustApp(db, TESTER, appId, [offerId])
  const url = `http://127.0.0.1:${receiver.port}/`
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, method: 'POST', url })
  for (const ms of [60_000, -60_000]) {
    shiftClock(ms)
    const { status } = await world.report(live, { userId: `clock${ms}`, offerId })
    assert.equal(status, 201)
    const { rows } = await world.database.pool.query("SELECT state, due_at <= now() AS is_due FROM postback_queue WHERE app_id = $1", [appId]) // prettier-ignore
    assert.deepEqual(rows, [{ state: 'ready', is_due: true }], `${ms} ms`)
    const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
    const before = receiver.requests.length
    const worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
    try {
      await until(() => receiver.requests.length > before)
      const { head } = receiver.requests.at(-1)!
      const [, seconds] = /webhook-timestamp: (\d+)/i.exec(head) ?? []
      assert.ok(Math.abs(Number(seconds) * 1_000 - trueNow()) < 45_000, `sent as of ${seconds}, ${ms} ms wrong`)
    } finally {
      await worker.close()
    }
    mock.timers.reset()
  }
  await receiver.close()
})

test('a worker half a minute ahead takes nothing from another, nor does one behind keep what is not its own', async () => {
  const { db, pool } = world.database
  const lane = await createLane(world, { width: 64 })
  await putPostbacks(db, lane, 40)
  const { claims } = await claim()
  assert.equal(claims.length, 40)
  shiftClock(30_000)
  assert.equal(await reapExpired(db), 0)
  assert.equal((await claim()).claims.length, 0)
  mock.timers.reset()
  shiftClock(-60_000)
  await renewLeases(db, claims)
  const { rows } = await pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM min(lease_until) - now())::float8 AS seconds FROM postback_queue WHERE app_id = $1',
    [lane],
  )
  const { seconds } = rows[0]!
  assert.ok(seconds > 5 && seconds <= 20, `a lease of ${seconds} s`)
})

test('a failed attempt waits by the database’s clock', async () => {
  const { db, pool } = world.database
  const lane = await createLane(world, { width: 64 })
  await putPostbacks(db, lane, 1)
  const { claims } = await claim()
  shiftClock(60_000)
  await finishClaims(
    db,
    claims.map((claimed) => ({
      attemptId: claimed.postback_id, claimed, settingsVersion: 1, startedAt: new Date(), durationMs: 1, ok: false,
      waitMs: 30_000, phase: null, status: 500, error: 'no', remoteAddress: null, request: '', response: '',
    })), // prettier-ignore
  )
  assert.equal(await makeReady(db), 0, 'it is not due for a minute’s mistake')
  const { rows } = await pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM postback_queue WHERE app_id = $1',
    [lane],
  )
  assert.ok(rows[0]!.seconds > 5 && rows[0]!.seconds <= 30, `${rows[0]!.seconds} s`)
})
