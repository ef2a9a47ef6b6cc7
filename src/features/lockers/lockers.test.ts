// Lockers through the door: what unlocks, and each way to cheat.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { banUser, liftBan, listBans } from '../apps/bans.ts'
import { createLocker, findLocker, takeDownLocker } from './lockers.ts'
import { signProof } from './proofs.ts'
import type { LockerInput, LockerState } from './schema.ts'

const world = useWorld('lockers')
const TARGET = 'https://files.example.com/secret-4711'

type Known = { visitor: string; key: string }
type Answer<T> = { status: number; data: T; details: Record<string, string>; text: string }

async function post<T>(path: string, payload: object, headers: Record<string, string> = {}): Promise<Answer<T>> {
  const { statusCode, body } = await world.app.server.inject({ method: 'POST', url: path, payload, headers: { 'user-agent': BROWSER, ...headers } }) // prettier-ignore
  const { data, error } = JSON.parse(body) as { data: T; error?: { details: Record<string, string> | null } }
  return { status: statusCode, data, details: error?.details ?? {}, text: body }
}

async function createOne(input: Partial<LockerInput> = {}) {
  const app = await world.createApp()
  const lockerId = await createLocker(world.database.db, TESTER, world.config, app.appId, { name: 'Locker', ...input })
  const { slug } = (await findLocker(world.database.db, { lockerId }))!
  const visit = (more: object = {}) => post<LockerState>(`/locker/v1/lockers/${lockerId}/visits`, more)
  return { ...app, lockerId, slug: slug ?? '', visit }
}

const knownOf = ({ visitor, key }: LockerState): Known => ({ visitor, key })

/** Follows the link of an offer as the page shows it; returns the click. */
async function start(state: LockerState, offerId: number): Promise<string> {
  const link = state.offers.find(({ offer_id }) => offer_id === offerId)?.link
  assert.ok(link, `offer ${offerId} is shown`)
  return (await world.follow(link)).clickId
}

const redeem = (lockerId: number, proof: string, keys: { api_key: string; api_secret: string }) =>
  post<{ redeemed: boolean; visitor_id: string }>(`/v1/lockers/${lockerId}/redeem`, { proof }, { 'x-api-key': keys.api_key, 'x-api-secret': keys.api_secret }) // prettier-ignore

test('a conversion unlocks for its visitor, and the proof is redeemed once', async () => {
  const { lockerId, visit, live } = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data: first } = await visit()
  assert.deepEqual([first.is_unlocked, first.proof], [false, null])
  await world.confirm(offerId, await start(first, offerId))
  const { data: after } = await visit(knownOf(first))
  assert.equal(after.is_unlocked, true)
  const proof = after.proof ?? ''
  const [one, two] = await Promise.all([redeem(lockerId, proof, live), redeem(lockerId, proof, live)])
  assert.deepEqual(
    [one, two].map(({ data }) => data.redeemed).toSorted((a, b) => Number(a) - Number(b)),
    [false, true],
  )
  assert.equal(one.data.visitor_id, first.visitor)
  assert.equal((await redeem(lockerId, proof, live)).data.redeemed, false)
  const next = (await visit(knownOf(first))).data.proof ?? ''
  assert.notEqual(next, proof)
  assert.equal((await redeem(lockerId, next, live)).data.redeemed, true)
})

test('an unlock gives 50 proofs at most, also in its last minute and to many who ask at once', async () => {
  const { lockerId, visit, live } = await createOne({ unlocked_minutes: 1 })
  const [offerId = 0] = await world.createOffers({})
  const { data } = await visit()
  await world.confirm(offerId, await start(data, offerId))
  const known = knownOf(data)
  const proofs = await Promise.all(Array.from({ length: 10 }, async () => (await visit(known)).data.proof))
  assert.deepEqual(new Set(proofs), new Set([proofs[0]]), 'nobody collects proofs')
  assert.equal(typeof proofs[0], 'string', 'whoever asks at the same time is unlocked, too')
  let count = 0
  for (let proof = proofs[0]; typeof proof === 'string'; proof = (await visit(known)).data.proof) {
    assert.equal((await redeem(lockerId, proof, live)).data.redeemed, true)
    count++
  }
  assert.equal(count, 50)
})

test('a banned visitor keeps the conversion and unlocks nothing, and a proof from before is not redeemed', async () => {
  const { appId, lockerId, visit, live } = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data } = await visit()
  const { db } = world.database
  await world.confirm(offerId, await start(data, offerId))
  const proof = (await visit(knownOf(data))).data.proof ?? ''
  await banUser(db, TESTER, { appId, userId: `visitor-${data.visitor}`, reason: 'fraud' })
  await world.app.refresh()
  assert.equal((await visit(knownOf(data))).details['locker'], 'banned')
  assert.equal((await redeem(lockerId, proof, live)).status, 400)
  const [ban] = await listBans(db, { appId }, 1)
  await liftBan(db, TESTER, ban?.ban_id ?? 0)
  await world.app.refresh()
  assert.equal((await visit(knownOf(data))).data.is_unlocked, true)
  assert.equal((await redeem(lockerId, proof, live)).data.redeemed, true)
})

test('proofs that are guessed, changed, of another locker, app or mode, or expired are refused', async () => {
  const { appId, lockerId, visit, live, test: testKeys } = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data } = await visit()
  await world.confirm(offerId, await start(data, offerId))
  const proof = (await visit(knownOf(data))).data.proof ?? ''
  const parts = proof.split('.')
  const changed = (place: number, value: string) => parts.with(place, value).join('.')
  const other = await createOne()
  const sibling = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Sibling' })
  const nowS = Math.floor(Date.now() / 1000)
  const made = (expiresAtS: number, secret: string, proofId = parts[4] ?? '') => signProof(secret, { lockerId, visitorId: data.visitor, proofId, expiresAtS }) // prettier-ignore
  for (const [why, wrong] of Object.entries({
    garbage: 'locker.v1.x',
    'another visitor': changed(3, '0'.repeat(32)),
    'a longer life': changed(5, String(Number(parts[5]) + 1)),
    'another app’s secret': made(nowS + 60, other.live.signing_secret),
    expired: made(nowS - 1, live.signing_secret),
    'never issued': made(nowS + 60, live.signing_secret, '01990000-0000-7000-8000-000000000000'),
  }))
    assert.equal((await redeem(lockerId, wrong, live)).status, 400, why)
  assert.equal((await redeem(sibling, proof, live)).status, 400)
  assert.equal((await redeem(lockerId, proof, testKeys)).status, 400)
  assert.equal((await redeem(lockerId, proof, other.live)).status, 404)
  assert.equal((await redeem(lockerId, proof, live)).data.redeemed, true)
})

test('another visitor’s ID, a key of another app, and a locker that is not of the visitor’s app prove nothing', async () => {
  const { visit } = await createOne()
  const other = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data } = await visit()
  await world.confirm(offerId, await start(data, offerId))
  const stranger = (await visit()).data
  assert.equal((await visit({ visitor: data.visitor, key: stranger.key })).status, 400)
  assert.equal((await visit({ visitor: data.visitor })).status, 400)
  assert.equal((await other.visit(knownOf(data))).status, 400)
  assert.equal((await visit(knownOf(stranger))).data.is_unlocked, false)
  assert.equal((await visit({ ...knownOf(data), test: true })).status, 400)
})

test('nothing but a standing conversion through this locker unlocks', async () => {
  const { appId, visit, live, test: testKeys } = await createOne()
  const [first = 0, second = 0, third = 0] = await world.createOffers({}, {}, {})
  const { data } = await visit()
  const userId = `visitor-${data.visitor}`
  const isOpen = async () => (await visit(knownOf(data))).data.is_unlocked
  const elsewhere = await world.click(first, live, `userId=${userId}`) // a link of the API, without the locker
  await world.confirm(first, elsewhere.clickId)
  await world.report(testKeys, { userId, offerId: second })
  const sibling = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Sibling' })
  const there = await post<LockerState>(`/locker/v1/lockers/${sibling}/visits`, knownOf(data))
  await world.confirm(second, await start(there.data, second))
  assert.equal(await isOpen(), false)
  const rejected = await start(data, third)
  await world.confirm(third, rejected, { status: 'rejected' })
  assert.equal(await isOpen(), false)
})

test('a pending conversion counts where the locker says so, and a reversal before it is seen takes it back', async () => {
  const strict = await createOne()
  const lenient = await createOne({ counts_pending: true })
  const [offerId = 0] = await world.createOffers({})
  for (const { visit, expected } of [
    { ...strict, expected: false },
    { ...lenient, expected: true },
  ]) {
    const { data } = await visit()
    await world.confirm(offerId, await start(data, offerId), { status: 'pending' })
    const seen = (await visit(knownOf(data))).data
    assert.deepEqual([seen.is_unlocked, seen.pending], [expected, expected ? 0 : 1])
  }
  const { data } = await strict.visit()
  const clickId = await start(data, offerId)
  await world.confirm(offerId, clickId)
  await world.confirm(offerId, clickId, { status: 'reversed' })
  assert.equal((await strict.visit(knownOf(data))).data.is_unlocked, false)
})

test('an unlock stays when its conversion is reversed, ends by the database’s clock, and the next needs a new one', async () => {
  const { lockerId, visit } = await createOne({ unlocked_minutes: 60, categories: ['video'] })
  const [first = 0, second = 0] = await world.createOffers({ category: 'video' }, { category: 'video' })
  const { data } = await visit()
  const clickId = await start(data, first)
  await world.confirm(first, clickId)
  const isOpen = async () => (await visit(knownOf(data))).data.is_unlocked
  assert.deepEqual(await Promise.all([isOpen(), isOpen(), isOpen()]), [true, true, true])
  const { pool } = world.database
  assert.equal((await pool.query('SELECT FROM locker_unlocks WHERE locker_id = $1', [lockerId])).rows.length, 1)
  await world.confirm(first, clickId, { status: 'reversed' })
  assert.equal(await isOpen(), true)
  await pool.query("UPDATE locker_unlocks SET expires_at = now() - interval '1 second' WHERE locker_id = $1", [
    lockerId,
  ])
  assert.equal(await isOpen(), false)
  await world.confirm(second, await start((await visit(knownOf(data))).data, second))
  assert.equal(await isOpen(), true)
})

test('n different offers, or a reward, are needed; and only offers that fit are shown', async () => {
  const three = await createOne({ needed_offers: 2, categories: ['game'], min_payout: 0.5, max_payout: 3 })
  const [game = 0, second = 0, dear = 0, survey = 0] = await world.createOffers(
    { category: 'game', payout: undefined, goals: [{ name: 'A', payout: '1' }, { name: 'B', payout: '1' }] },
    { category: 'game', payout: '1' },
    { category: 'game', payout: '9' },
    { category: 'survey', payout: '1' },
  ) // prettier-ignore
  const { data } = await three.visit()
  const shown = data.offers.map(({ offer_id }) => offer_id)
  assert.deepEqual([game, second, dear, survey].map((id) => shown.includes(id)), [true, true, false, false]) // prettier-ignore
  const clickId = await start(data, game)
  await world.confirm(game, clickId, { goal: 'A' })
  await world.confirm(game, clickId, { goal: 'B' })
  const half = (await three.visit(knownOf(data))).data
  assert.deepEqual([half.is_unlocked, half.offers_done], [false, 1])
  await world.confirm(second, await start(half, second))
  assert.equal((await three.visit(knownOf(data))).data.is_unlocked, true)
  const rich = await createOne({ needed_reward: 150 })
  const { data: poor } = await rich.visit()
  await world.confirm(second, await start(poor, second))
  const some = (await rich.visit(knownOf(poor))).data
  assert.deepEqual([some.is_unlocked, some.reward_done], [false, 100])
  await world.confirm(survey, await start(some, survey))
  assert.equal((await rich.visit(knownOf(poor))).data.is_unlocked, true)
})

test('a locker in test mode unlocks by test conversions, with a proof of the test secret alone', async () => {
  const { lockerId, visit, live, test: testKeys } = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data } = await visit({ test: true })
  await world.confirm(offerId, await start(data, offerId))
  const { data: after } = await visit({ ...knownOf(data), test: true })
  assert.equal(after.is_unlocked, true)
  assert.equal((await redeem(lockerId, after.proof ?? '', live)).status, 400)
  assert.equal((await redeem(lockerId, after.proof ?? '', testKeys)).data.redeemed, true)
})

test('a locker that is disabled or taken down answers nothing', async () => {
  const off = await createOne({ enabled: false })
  assert.equal((await off.visit()).details['locker'], 'disabled')
  const { lockerId, slug, visit } = await createOne({ link: { target_url: TARGET } })
  await takeDownLocker(world.database.db, TESTER, lockerId, { reason: 'phishing' })
  assert.equal((await visit()).details['locker'], 'taken_down')
  assert.equal((await world.app.server.inject(`/l/${slug}`)).statusCode, 410)
  await takeDownLocker(world.database.db, TESTER, lockerId, { reason: null })
  assert.equal(
    (await world.app.server.inject({ url: `/l/${slug}`, headers: { 'user-agent': BROWSER } })).statusCode,
    200,
  )
  const content = await createOne()
  const [offerId = 0] = await world.createOffers({})
  const { data } = await content.visit()
  await world.confirm(offerId, await start(data, offerId))
  const proof = (await content.visit(knownOf(data))).data.proof ?? ''
  await takeDownLocker(world.database.db, TESTER, content.lockerId, { reason: 'malware' })
  assert.equal((await redeem(content.lockerId, proof, content.live)).details['locker'], 'taken_down')
  await takeDownLocker(world.database.db, TESTER, content.lockerId, { reason: null })
  assert.equal((await redeem(content.lockerId, proof, content.live)).data.redeemed, true)
})

test('hundreds of pages behind one IP address can ask', async () => {
  const ask = async () => (await world.app.server.inject({ url: '/locker?locker=0', remoteAddress: '198.51.100.7' })).statusCode // prettier-ignore
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 400 }, ask))), new Set([404]))
})
