// What happens between the steps of a visitor: times that pass, limits that are reached, several steps at once, reversals,
// and what the publisher changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSteps } from '../../../test/locker-steps.ts'
import { TESTER } from '../../../test/tester.ts'
import { useWorld } from '../../../test/world.ts'
import { changeApp } from '../apps/apps.ts'
import { problemOf } from './admission.ts'
import { changeLocker, findLocker, takeDownLocker } from './lockers.ts'
import type { LockerInput, LockerState } from './schema.ts'

const world = useWorld('locker_steps')
const TARGET = 'https://files.example.com/secret-4711'
const LINK: Partial<LockerInput> = { link: { target_url: TARGET } }

const create = (input: Partial<LockerInput> = {}) => createSteps(world, input)
const offer = async (more: object = {}) => (await world.createOffers({ ...more }))[0] ?? 0
/** Moves times of the unlocks of a locker. */
const move = (lockerId: number, column: 'expires_at' | 'opened_at', to: string) =>
  world.database.pool.query(`UPDATE locker_unlocks SET ${column} = now() + $2::interval WHERE locker_id = $1`, [lockerId, to]) // prettier-ignore
const counted = async (lockerId: number) => (await findLocker(world.database.db, { lockerId }))?.opened

// Times

test('an unlock that ends while its page is open is not opened any more, and the page says so', async () => {
  const { lockerId, visit, open, start, unlocked } = await create(LINK)
  const [first, second] = [await offer(), await offer()]
  const { known } = await unlocked(first)
  await move(lockerId, 'expires_at', '0')
  assert.equal((await open(known)).details['locker'], 'locked')
  const { data } = await visit(known)
  assert.deepEqual([data.is_unlocked, data.ended, data.offers_done], [false, 'expired', 0])
  assert.equal(await counted(lockerId), 0)
  await world.confirm(second, await start(data, second))
  assert.equal((await visit(known)).data.ended, null)
  assert.equal((await open(known)).data.target_url, TARGET)
  await move(lockerId, 'opened_at', '-61 seconds')
  assert.equal((await visit(known)).data.ended, 'opened')
})

test('an opening whose answer was lost is repeated, also when the unlock ends meanwhile', async () => {
  const { lockerId, visit, open, unlocked } = await create({ ...LINK, unlocked_minutes: 1 })
  const { known } = await unlocked(await offer())
  assert.equal((await open(known)).status, 200)
  await move(lockerId, 'expires_at', '0')
  assert.equal((await visit(known)).data.is_unlocked, true)
  assert.equal((await open(known)).status, 200)
  assert.equal(await counted(lockerId), 1)
  await move(lockerId, 'opened_at', '-61 seconds')
  assert.equal((await open(known)).details['locker'], 'locked')
})

test('a link ends at its time, a date at midnight UTC, wherever the server is', async (t) => {
  const zone = process.env['TZ']
  t.after(() => (zone === undefined ? delete process.env['TZ'] : (process.env['TZ'] = zone)))
  process.env['TZ'] = 'America/Los_Angeles'
  const credential = { kind: 'reward', expiresAtMs: Infinity } as Parameters<typeof problemOf>[1]
  const midnight = Date.parse('2031-03-01T00:00:00Z')
  for (const expires_at of [
    '2031-03-01',
    ' 2031-03-01',
    '2031-03-01 ',
    '2031-02-28T16:00:00-08:00',
    '2031-03-01 00:00Z',
  ]) {
    const { lockerId } = await create({ link: { target_url: TARGET, expires_at } })
    const locker = await findLocker(world.database.db, { lockerId })
    const problems = [midnight - 1, midnight].map((nowMs) => problemOf(locker, credential, nowMs))
    assert.deepEqual(problems, [null, 'expired'], expires_at)
  }
})

test('a link that ends or is used up between unlock and opening says which, and uses no unlock up', async () => {
  const steps = await create(LINK)
  const { appId, lockerId, open, visit, unlocked } = steps
  const { known } = await unlocked(await offer())
  const change = (link: object) => changeLocker(world.database.db, TESTER, world.config, { appId, lockerId }, { name: 'Locker', link: { target_url: TARGET, ...link } }) // prettier-ignore
  await change({ expires_at: new Date(Date.now() - 1_000).toISOString() })
  assert.deepEqual([(await open(known)).details['locker'], (await visit(known)).details['locker']], ['expired', 'expired']) // prettier-ignore
  await change({ click_limit: 1 })
  const other = (await unlocked(await offer())).known
  assert.equal((await open(other)).status, 200)
  assert.deepEqual([(await open(known)).details['locker'], (await visit(known)).details['locker']], ['full', 'full'])
  await change({ click_limit: 2 })
  assert.equal((await open(known)).status, 200)
})

test('a proof is redeemed once, and a server that asks again hears of it at any later time', async () => {
  const { lockerId, visit, redeem, unlocked } = await create()
  const { known, proof } = await unlocked(await offer())
  assert.equal((await redeem(proof)).data.redeemed, true)
  const late = (await visit(known)).data.proof
  assert.notEqual(late, proof)
  const { db, pool } = world.database
  const before = await findLocker(db, { lockerId })
  assert.ok(before)
  // By a server whose clock is an hour ahead: the one of the database counts.
  const now = Date.now
  Date.now = () => now() + 3_600_000
  try {
    assert.equal((await redeem(proof)).data.redeemed, false)
    assert.equal((await redeem(late)).data.redeemed, true)
  } finally {
    Date.now = now
  }
  const never = (await visit(known)).data.proof
  await pool.query(`UPDATE locker_proofs SET expires_at = date_trunc('second', now()) - interval '1 hour' WHERE redeemed_at IS NULL AND unlock_id IN (SELECT unlock_id FROM locker_unlocks WHERE locker_id = $1)`, [lockerId]) // prettier-ignore
  assert.equal((await redeem(never)).status, 400)
})

// Several steps at once

test('two who open at once under a limit of one: one person twice counts once, of two the second is refused', async () => {
  const twice = await create({ link: { target_url: TARGET, click_limit: 1 } })
  const offerId = await offer()
  const { known } = await twice.unlocked(offerId)
  const both = await Promise.all([twice.open(known), twice.open(known)])
  assert.deepEqual([both.map(({ status }) => status), await counted(twice.lockerId)], [[200, 200], 1])
  const two = await create({ link: { target_url: TARGET, click_limit: 1 } })
  const visitors = [(await two.unlocked(offerId)).known, (await two.unlocked(offerId)).known]
  const answers = await Promise.all(visitors.flatMap((one) => [two.open(one), two.open(one)]))
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual([statuses.toSorted((a, b) => a - b), statuses[0] === statuses[1]], [[200, 200, 400, 400], true])
  assert.equal(await counted(two.lockerId), 1)
})

/** While a transaction of another client has locked these rows. */
async function whileLocked(query: string, id: string | number, work: () => Promise<void>): Promise<void> {
  const client = await world.database.pool.connect()
  try {
    await client.query('BEGIN')
    await client.query(query, [id])
    await work()
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

test('a reversal takes nothing back that is unlocked, and neither waits for a redemption nor holds one up', async () => {
  const { lockerId, visit, redeem, arrive, start, unlocked } = await create()
  const offerId = await offer()
  const reverse = (clickId: string) => world.confirm(offerId, clickId, { status: 'reversed' })
  const conversion = 'SELECT FROM conversions WHERE click_id = $1 FOR UPDATE'
  const proofs = 'SELECT FROM locker_proofs JOIN locker_unlocks USING (unlock_id) WHERE locker_id = $1 FOR UPDATE'
  // A redemption is under way, then a reversal.
  const one = await unlocked(offerId)
  await whileLocked(proofs, lockerId, async () => assert.equal((await reverse(one.clickId)).outcome, 'reversed'))
  assert.equal((await redeem(one.proof)).data.redeemed, true)
  // A reversal is under way, then a redemption.
  const two = await unlocked(offerId)
  await whileLocked(conversion, two.clickId, async () => assert.equal((await redeem(two.proof)).data.redeemed, true))
  assert.equal((await reverse(two.clickId)).outcome, 'reversed')
  // A reversal is under way, then an unlock.
  const { state, ...known } = await arrive()
  const clickId = await start(state, offerId)
  await world.confirm(offerId, clickId)
  await whileLocked(conversion, clickId, async () => assert.equal((await visit(known)).data.is_unlocked, true))
  await reverse(clickId)
  // Both at once: the proof is redeemed once, whoever is first.
  const three = await unlocked(offerId)
  const [first, reversed, second] = await Promise.all([redeem(three.proof), reverse(three.clickId), redeem(three.proof)]) // prettier-ignore
  assert.deepEqual([first, second].map(({ data }) => data.redeemed).toSorted((a, b) => Number(a) - Number(b)), [false, true]) // prettier-ignore
  assert.equal(reversed.outcome, 'reversed')
  for (const seen of [one.known, two.known, known, three.known])
    assert.equal((await visit(seen)).data.is_unlocked, true)
})

test('a link that is unlocked is opened after its conversion was reversed, once', async () => {
  const { lockerId, visit, open, unlocked } = await create(LINK)
  const offerId = await offer()
  const { known, clickId } = await unlocked(offerId)
  await world.confirm(offerId, clickId, { status: 'reversed' })
  assert.equal((await open(known)).data.target_url, TARGET)
  await move(lockerId, 'opened_at', '-61 seconds')
  assert.deepEqual([(await open(known)).status, (await visit(known)).data.is_unlocked], [400, false])
})

// What the publisher changes

test('a disabled locker gives out no proof and redeems those it gave before; one that is taken down redeems none', async () => {
  const { appId, lockerId, redeem, visit, unlocked } = await create()
  const { db } = world.database
  const { known, proof } = await unlocked(await offer())
  const change = (enabled: boolean) => changeLocker(db, TESTER, world.config, { appId, lockerId }, { name: 'Locker', enabled }) // prettier-ignore
  await change(false)
  assert.equal((await visit(known)).details['locker'], 'disabled')
  await takeDownLocker(db, TESTER, lockerId, { reason: 'malware' })
  assert.equal((await redeem(proof)).details['locker'], 'taken_down')
  await takeDownLocker(db, TESTER, lockerId, { reason: null })
  assert.equal((await redeem(proof)).data.redeemed, true)
  await change(true)
  assert.equal((await visit(known)).data.is_unlocked, true)
})

test('any goal of an offer counts as the offer; where reward counts, each goal is worth its own', async () => {
  const goals = [{ name: 'Install', payout: '0.1' }, { name: 'Reach level 20', payout: '5' }] // prettier-ignore
  const offerId = await offer({ payout: undefined, goals, category: 'game' })
  const state = async (input: Partial<LockerInput>, goal: string): Promise<LockerState> => {
    const { visit, arrive, start } = await create({ categories: ['game'], ...input })
    const { state: first, ...known } = await arrive()
    await world.confirm(offerId, await start(first, offerId), { goal })
    return (await visit(known)).data
  }
  assert.equal((await state({ needed_offers: 1 }, 'Install')).is_unlocked, true)
  const cheap = await state({ needed_reward: 400 }, 'Install')
  assert.deepEqual([cheap.is_unlocked, cheap.reward_done], [false, 10])
  assert.equal((await state({ needed_reward: 400 }, 'Reach level 20')).is_unlocked, true)
})

test('reward in a currency that was replaced counts by its payout at the rate of the new one', async () => {
  const { appId, visit, arrive, start } = await create({ needed_reward: 500 })
  const { db } = world.database
  const [first, second] = [await offer({ payout: '1' }), await offer({ payout: '2' })]
  const { state, ...known } = await arrive()
  await world.confirm(first, await start(state, first))
  const done = async () => {
    const { data } = await visit(known)
    return [data.reward_done, data.currency, data.is_unlocked]
  }
  assert.deepEqual(await done(), [100, 'Coins', false])
  const to = async (currency: string, rateMicros: number) => {
    await changeApp(db, TESTER, appId, { currency, rateMicros })
    await world.app.refresh()
  }
  await to('Coins', 50_000_000) // what was credited stays
  assert.deepEqual(await done(), [100, 'Coins', false])
  await to('Gems', 2_000_000)
  assert.deepEqual(await done(), [2, 'Gems', false])
  await world.confirm(second, await start((await visit(known)).data, second))
  assert.deepEqual(await done(), [6, 'Gems', false])
  await to('Points', 200_000_000)
  assert.deepEqual(await done(), [600, 'Points', true])
})
