import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { until } from '../../../../test/installation.ts'
import { useWorld } from '../../../../test/world.ts'
import { recordLeak } from '../../../features/apps/leaks.ts'
import type { App, AppList } from './schema.ts'

const world = useWorld('manage_credentials')
const { createOwned, auditOf } = createOwnedApps(world)

test('a new secret works at once; the old one for its grace, or until it is ended', async () => {
  const { base, visitor, live, appId } = await createOwned()
  const rotated = await visitor.post<{ api_secret: string; old_secret_expires_at: string }>(
    `${base}/credentials/live/rotate`,
    { grace_hours: 24 },
  )
  const renewed = { api_key: live.api_key, api_secret: rotated.data.api_secret }
  const graceMs = Date.parse(rotated.data.old_secret_expires_at) - Date.now()
  assert.ok(graceMs > 23.9 * 3_600_000 && graceMs < 24.1 * 3_600_000)
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', renewed)).status, 200)
  const ended = await visitor.post<{ ended: number }>(`${base}/credentials/live/end-old-secret`)
  assert.equal(ended.data.ended, 1)
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)
  assert.equal((await world.get('/v1/offers?userId=u', renewed)).status, 200)
  await visitor.post(`${base}/credentials/live/rotate`, { grace_hours: 0 })
  assert.equal((await world.get('/v1/offers?userId=u', renewed)).status, 401)
  assert.equal((await visitor.post(`${base}/credentials/live/rotate`, { grace_hours: 169 })).status, 400)
  assert.equal((await visitor.post(`${base}/credentials/other/rotate`, { grace_hours: 1 })).status, 400)
  assert.deepEqual(
    (await auditOf(appId)).map(({ action, details }) => [action, details]),
    [
      ['app.rotate_secret', { mode: 'live', grace_hours: 24 }],
      ['app.end_old_secret', { mode: 'live', ended: 1 }],
      ['app.rotate_secret', { mode: 'live', grace_hours: 0 }],
    ],
  )
})

test('a new signing secret is shown once, with the time until which the old one also signs', async () => {
  const { base, visitor, test: before } = await createOwned()
  const path = `${base}/credentials/test/signing-secret/rotate`
  const { data } = await visitor.post<{ api_key: string; signing_secret: string }>(path, { grace_hours: 2 })
  assert.equal(data.api_key, before.api_key)
  assert.match(data.signing_secret, /^whsec_/)
  assert.notEqual(data.signing_secret, before.signing_secret)
  const shown = await visitor.get<Static<typeof App>>(base)
  assert.deepEqual(
    shown.data.credentials.map(({ old_signing_secret_expires_at: until }) => until === null),
    [true, false],
  )
  assert.ok(!shown.text.includes(data.signing_secret))
})

test('a key has an end when it is given one, and none again', async () => {
  const { base, visitor, live } = await createOwned()
  const expiryOf = async () => (await visitor.get<Static<typeof App>>(base)).data.credentials[0]?.expires_at
  const path = `${base}/credentials/live/expiry`
  assert.equal((await visitor.put(path, { expires_at: '2099-01-01T00:00:00Z' })).status, 200)
  assert.equal(await expiryOf(), '2099-01-01T00:00:00.000Z')
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  const past = await visitor.put(path, { expires_at: '2020-01-01T00:00:00Z' })
  assert.deepEqual([past.status, Object.keys(past.error.details ?? {})], [400, ['expires_at']])
  assert.equal((await visitor.put(path, { expires_at: 'soon' })).status, 400)
  assert.equal((await visitor.put(path, {})).status, 200)
  assert.equal(await expiryOf(), null)
})

test('a revoked app answers no request, and gets no new secret', async () => {
  const { base, visitor, live, test: testKeys } = await createOwned()
  assert.equal((await visitor.post(`${base}/revoke`)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)
  assert.equal((await world.get('/v1/offers?userId=u', testKeys)).status, 401)
  const { status, error } = await visitor.post(`${base}/credentials/live/rotate`, { grace_hours: 0 })
  assert.equal(status, 400)
  assert.match(error.message, /is permanently revoked/)
})

test('one key is revoked, the other one goes on; with both the app is revoked', async () => {
  const { base, visitor, live, test: testKeys, appId, publisherId } = await createOwned()
  const status = async (keys: typeof live) => (await world.get('/v1/offers?userId=u', keys)).status
  const isRevoked = async () => {
    const { data } = await visitor.get<Static<typeof AppList>>(`/publishers/${publisherId}/apps`)
    return data.apps[0]?.revoked_at !== null
  }
  assert.equal((await visitor.post(`${base}/credentials/live/revoke`)).status, 200)
  assert.deepEqual([await status(live), await status(testKeys), await isRevoked()], [401, 200, false])
  assert.equal((await visitor.post(`${base}/credentials/live/rotate`, { grace_hours: 0 })).status, 400)
  assert.equal((await visitor.post(`${base}/credentials/test/rotate`, { grace_hours: 24 })).status, 200)
  assert.deepEqual(
    (await auditOf(appId)).map(({ action, details }) => [action, details]),
    [
      ['app.revoke_key', { mode: 'live' }],
      ['app.rotate_secret', { mode: 'test', grace_hours: 24 }],
    ],
  )
  assert.equal((await visitor.post(`${base}/credentials/test/revoke`)).status, 200)
  assert.deepEqual([await status(live), await status(testKeys), await isRevoked()], [401, 401, true])
  assert.equal((await visitor.post(`${base}/credentials/other/revoke`)).status, 400)
})

test('a leak is shown at its key, until every secret of that time is gone', async () => {
  const { base, visitor, appId, test: testKeys } = await createOwned()
  const leaks = async () => (await visitor.get<Static<typeof App>>(base)).data.credentials.map(({ leak }) => leak)
  const isOver = async () => (await leaks())[1]?.is_over
  assert.deepEqual(await leaks(), [null, null])
  await recordLeak(world.database.db, testKeys.api_key, 'https://shop.example')
  await world.database.db
    .updateTable('credentials')
    .set({ secret_leaked_at: new Date(Date.now() - 5_000) }) // secrets know their age to the second
    .where('api_key', '=', testKeys.api_key)
    .execute()
  await world.database.db
    .updateTable('api_secrets')
    .set({ created_at: new Date(Date.now() - 60_000) })
    .where('api_key', 'in', (is) => is.selectFrom('credentials').select('api_key').where('app_id', '=', appId))
    .execute()
  const [live, leaked] = await leaks()
  assert.deepEqual([live, leaked?.origin, leaked?.is_over], [null, 'https://shop.example', false])
  await visitor.post(`${base}/credentials/live/rotate`, { grace_hours: 0 })
  assert.equal(await isOver(), false)
  await visitor.post(`${base}/credentials/test/rotate`, { grace_hours: 1 })
  assert.equal(await isOver(), false)
  await visitor.post(`${base}/credentials/test/end-old-secret`)
  assert.equal(await isOver(), true)
})

test('it is shown how much of the allowance is used, and when a key was used', async () => {
  const { base, visitor, live } = await createOwned()
  const read = async () => (await visitor.get<Static<typeof App>>(base)).data.credentials
  const [unused] = await read()
  assert.deepEqual([unused?.allowance, unused?.first_used_at], [{ limit: 1_000_000, used: 0, resets_at: null }, null])
  await world.get('/v1/offers?userId=u', live)
  await world.get('/v1/offers?userId=u', live)
  await until(async () => (await read())[0]?.first_used_at !== null)
  const [used, other] = await read()
  assert.equal(used?.allowance.used, 2)
  assert.equal(other?.first_used_at, null)
})
