// What is deleted of lockers as time passes, and what never comes back by it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { createLocker, findLocker, listLockers, takeDownLocker } from './lockers.ts'
import { forgetOldUnlocks } from './old-unlocks.ts'
import { reportLocker } from './reports.ts'
import type { LockerInput, LockerState } from './schema.ts'

const world = useWorld('old_unlocks')
const KEEP_DAYS = 90
const YEAR_MINUTES = 525_600

const inDays = (days: number) =>
  forgetOldUnlocks(world.database.db, new Date(Date.now() + days * 86_400_000), KEEP_DAYS)

async function post<T>(url: string, payload: object, headers: Record<string, string> = {}) {
  const { statusCode, body } = await world.app.server.inject({ method: 'POST', url, payload, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
  return { status: statusCode, data: (JSON.parse(body) as { data: T }).data }
}

/** A locker that one visitor has unlocked. */
async function createUnlocked(input: Partial<LockerInput> = {}, test = false) {
  const app = await world.createApp()
  const lockerId = await createLocker(world.database.db, TESTER, world.config, app.appId, { name: 'Locker', ...input })
  const [offerId = 0] = await world.createOffers({})
  const visit = async (more: object = {}) =>
    (await post<LockerState>(`/locker/v1/lockers/${lockerId}/visits`, { ...more, test })).data
  const { visitor, key, offers } = await visit()
  const link = offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
  await world.confirm(offerId, (await world.follow(link)).clickId)
  const keys = test ? app.test : app.live
  const redeem = (proof: string | null) =>
    post<{ redeemed: boolean } | undefined>(`/v1/lockers/${lockerId}/redeem`, { proof }, { 'x-api-key': keys.api_key, 'x-api-secret': keys.api_secret }) // prettier-ignore
  const again = () => visit({ visitor, key })
  const unlocks = async () => (await listLockers(world.database.db, world.config, app, 1))[0]?.unlocks
  return { lockerId, again, redeem, unlocks, unlocked: await again() }
}

async function count(table: string, lockerId: number): Promise<number> {
  const from = table === 'locker_proofs' ? 'locker_proofs JOIN locker_unlocks USING (unlock_id)' : table
  const { rows } = await world.database.pool.query<{ n: number }>(`SELECT count(*)::integer AS n FROM ${from} WHERE locker_id = $1`, [lockerId]) // prettier-ignore
  return rows[0]?.n ?? 0
}

test('a proof that was not redeemed is deleted a day after it expired, and cannot be redeemed any more', async () => {
  const { lockerId, unlocked, redeem, again } = await createUnlocked({ unlocked_minutes: YEAR_MINUTES })
  await inDays(1)
  assert.equal(await count('locker_proofs', lockerId), 1)
  await inDays(1.1)
  assert.equal(await count('locker_proofs', lockerId), 0)
  assert.equal((await redeem(unlocked.proof)).status, 400)
  const { proof } = await again()
  assert.notEqual(proof, unlocked.proof)
  assert.equal((await redeem(proof)).data?.redeemed, true)
})

test('a redeemed proof is kept as long as its unlock, and stays redeemed', async () => {
  const { lockerId, unlocked, redeem } = await createUnlocked({ unlocked_minutes: YEAR_MINUTES })
  assert.equal((await redeem(unlocked.proof)).data?.redeemed, true)
  await inDays(365 + KEEP_DAYS - 1)
  assert.equal((await redeem(unlocked.proof)).data?.redeemed, false)
  await inDays(365 + KEEP_DAYS + 1)
  assert.equal(await count('locker_proofs', lockerId), 0)
  assert.equal((await redeem(unlocked.proof)).status, 400)
})

test('an unlock is deleted long after it expired; its conversions unlock nothing again, and it still counts', async () => {
  const { lockerId, again, unlocks } = await createUnlocked({ unlocked_minutes: 60 })
  assert.equal(await unlocks(), 1)
  await inDays(KEEP_DAYS - 1)
  assert.equal(await count('locker_unlocks', lockerId), 1)
  await inDays(KEEP_DAYS + 1)
  assert.equal(await count('locker_unlocks', lockerId), 0)
  const { is_unlocked, proof, offers_done } = await again()
  assert.deepEqual([is_unlocked, proof, offers_done], [false, null, 0])
  assert.equal(await unlocks(), 1)
})

test('unlocks of tests are not counted, and many at once are all counted', async () => {
  const { lockerId, unlocks } = await createUnlocked({}, true)
  assert.equal(await unlocks(), 0)
  const insert = () => world.database.pool.query(`INSERT INTO locker_unlocks (unlock_id, locker_id, is_test, visitor_id, expires_at) SELECT gen_random_uuid(), $1, false, 'v', now() FROM generate_series(1, 300)`, [lockerId]) // prettier-ignore
  await Promise.all([insert(), insert(), insert(), insert()])
  assert.equal(await unlocks(), 1_200)
  await inDays(KEEP_DAYS + 2) // in more than two steps
  assert.equal(await count('locker_unlocks', lockerId), 0)
  assert.equal(await unlocks(), 1_200)
})

test('closed reports are deleted after a time, open ones never', async () => {
  const { lockerId } = await createUnlocked()
  const report = async () =>
    reportLocker(world.database.db, (await findLocker(world.database.db, { lockerId }))!, { reason: 'scam' })
  await report()
  const { rows } = await world.database.pool.query<{ id: number }>('SELECT max(report_id) AS id FROM locker_reports')
  await takeDownLocker(world.database.db, TESTER, lockerId, { reason: null, seenReportId: rows[0]?.id ?? 0 })
  await report()
  await inDays(KEEP_DAYS - 1)
  assert.equal(await count('locker_reports', lockerId), 2)
  await inDays(KEEP_DAYS + 1)
  assert.equal(await count('locker_reports', lockerId), 1)
  await inDays(10 * KEEP_DAYS)
  assert.equal(await count('locker_reports', lockerId), 1)
})

test('a proof that has expired by the database’s clock is refused, whatever the server’s clock says', async () => {
  const { lockerId, unlocked, redeem } = await createUnlocked()
  await world.database.pool.query(`UPDATE locker_proofs SET expires_at = now() - interval '1 second' WHERE unlock_id IN (SELECT unlock_id FROM locker_unlocks WHERE locker_id = $1)`, [lockerId]) // prettier-ignore
  assert.equal((await redeem(unlocked.proof)).status, 400)
})
