import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBelow, readCost, startExplained } from '../../../test/explain.ts'
import { until } from '../../../test/installation.ts'
import { TESTER } from '../../../test/tester.ts'
import { type Reply, useWorld } from '../../../test/world.ts'
import { banUser } from '../apps/bans.ts'
import { changeRewardSettings } from '../apps/reward-settings.ts'
import { entriesOf, readBalance } from './balances.ts'
import { rollUpBalances } from './rollup.ts'

const world = useWorld('balances')
type Keys = Parameters<typeof world.report>[0]

const keepBalances = async (appId: number, keepsBalance: boolean) => {
  await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance })
  await world.app.refresh()
}

async function createApp(more = {}) {
  const app = await world.createApp(more)
  await keepBalances(app.appId, true)
  return app
}

const userOf = async (keys: Keys, userId: string, query = '') => {
  const { status, body } = await world.get(`/v1/users/${encodeURIComponent(userId)}${query}`, keys)
  assert.equal(status, 200)
  return body.data as unknown as User
}
type Entry = { entry_id: number; kind: string; amount: number; conversion_id: string | null; note: string | null }
type User = { user_id: string; balance: number; currency: string; keeps_balance: boolean; entries: Entry[]; next_cursor: string | null } // prettier-ignore

const debit = (keys: Keys, userId: string, key: string | null, payload: object): Promise<Reply> =>
  world.get(`/v1/users/${encodeURIComponent(userId)}/debits`, keys, {
    method: 'POST',
    payload,
    headers: key === null ? {} : { 'idempotency-key': key },
  })

/** Completes offers as a user of a live app; returns what the advertiser confirms again with. */
async function complete(keys: Keys, userId: string, ...payouts: string[]) {
  const offers = await world.createOffers(...payouts.map((payout) => ({ payout, hold: '0s' })))
  const confirmed = []
  for (const offerId of offers) {
    const { clickId } = await world.click(offerId, keys, `userId=${encodeURIComponent(userId)}`)
    const { outcome, conversion_id } = await world.confirm(offerId, clickId)
    assert.equal(outcome, 'approved')
    confirmed.push({ offerId, clickId, conversionId: conversion_id })
  }
  return confirmed
}

test('rewards are added to the balance of the user, and reversals taken back', async () => {
  const { live, test: testKeys } = await createApp({ currency: 'Gems', rateMicros: 33_333_300 })
  const [first] = await complete(live, 'u', '1.5', '0.25')
  assert.deepEqual(await userOf(live, 'u').then(({ entries: _entries, ...user }) => user), {
    user_id: 'u',
    balance: 58.3332, // 49.9999 + 8.3333
    currency: 'Gems',
    keeps_balance: true,
    next_cursor: null,
  })
  await world.confirm(first?.offerId ?? 0, first?.clickId ?? '', { status: 'reversed' })
  await world.confirm(first?.offerId ?? 0, first?.clickId ?? '', { status: 'reversed' })
  const { balance, entries } = await userOf(live, 'u')
  assert.equal(balance, 8.3333)
  assert.deepEqual(
    entries.map(({ kind, amount }) => [kind, amount]),
    [['reversal', -49.9999], ['reward', 8.3333], ['reward', 49.9999]],
  ) // prettier-ignore
  assert.equal(entries[0]?.conversion_id, first?.conversionId)
  assert.equal((await userOf(testKeys, 'u')).balance, 0)
  assert.equal((await userOf(live, 'somebody else')).balance, 0)
})

test('the user of another app is another one', async () => {
  const [one, other] = [await createApp(), await createApp()]
  await complete(one.live, 'u', '1')
  assert.deepEqual([(await userOf(one.live, 'u')).balance, (await userOf(other.live, 'u')).balance], [100, 0])
  assert.match((await debit(other.live, 'u', 'k', { amount: 1 })).text, /too small/)
})

test('test users have balances of their own', async () => {
  const { live, test: testKeys } = await createApp()
  const [offerId = 0] = await world.createOffers({ payout: '2' })
  assert.equal((await world.report(testKeys, { userId: 'u', offerId })).body.data.conversion.status, 'approved')
  assert.equal((await userOf(testKeys, 'u')).balance, 200)
  assert.equal((await userOf(live, 'u')).balance, 0)
  assert.equal((await debit(live, 'u', 'order-1', { amount: 1 })).status, 400)
  assert.equal((await debit(testKeys, 'u', 'order-1', { amount: 1 })).status, 201)
})

test('a debit takes its amount once for each key', async () => {
  const { live } = await createApp()
  await complete(live, 'u', '1')
  const order = { amount: 30.5, note: 'Order 7' }
  const first = await debit(live, 'u', 'order-7', order)
  assert.equal(first.status, 201)
  const { data } = first.body as unknown as { data: { entry: Entry; balance: number; currency: string } }
  assert.deepEqual([data.entry.kind, data.entry.amount, data.entry.note, data.balance], ['debit', -30.5, 'Order 7', 69.5]) // prettier-ignore
  const again = await debit(live, 'u', 'order-7', order)
  assert.deepEqual([again.status, again.body.data], [200, first.body.data])
  assert.equal((await userOf(live, 'u')).balance, 69.5)
  for (const [userId, other] of [['u', { ...order, amount: 30 }], ['u', { amount: 30.5 }], ['v', order]] as const) {
    const { status, text } = await debit(live, userId, 'order-7', other)
    assert.equal(status, 400)
    assert.match(text, /was used for another request/)
  } // prettier-ignore
})

test('a debit needs a key, an amount that can be counted, and a balance that is large enough', async () => {
  const { live } = await createApp()
  await complete(live, 'u', '1')
  assert.match((await debit(live, 'u', null, { amount: 1 })).text, /Idempotency-Key/i)
  for (const amount of [0, -1, 0.00001, 1e15, '5'])
    assert.equal((await debit(live, 'u', 'k', { amount })).status, 400, String(amount))
  const { status, body } = await debit(live, 'u', 'k', { amount: 100.0001 })
  assert.deepEqual(
    [status, body.error.code, body.error.message, body.error.details],
    [400, 'INVALID_REQUEST', 'The balance of this user is too small.', { amount: 'amount is 100.0001 Coins, and the balance is 100 Coins.' }],
  ) // prettier-ignore
  assert.equal((await debit(live, 'u', 'k', { amount: 100 })).status, 201)
})

test('fifty debits at once never take more than there is', async () => {
  const { live } = await createApp()
  await complete(live, 'u', '1')
  const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => debit(live, 'u', `order-${i}`, { amount: 7 })))
  assert.equal(replies.filter(({ status }) => status === 201).length, 14)
  assert.equal(replies.filter(({ text }) => text.includes('too small')).length, 36)
  assert.equal((await userOf(live, 'u')).balance, 2)
  const same = await Promise.all(Array.from({ length: 10 }, () => debit(live, 'u', 'one order', { amount: 1 })))
  assert.deepEqual(
    same.map(({ status }) => status).toSorted((a, b) => a - b),
    [...Array<number>(9).fill(200), 201],
  )
  assert.equal((await userOf(live, 'u')).balance, 1)
})

test('one key for two users at once is a debit of one of them', async () => {
  const { live } = await createApp()
  await Promise.all([complete(live, 'a', '1'), complete(live, 'b', '1')])
  const replies = await Promise.all(['a', 'b'].map((userId) => debit(live, userId, 'order', { amount: 1 })))
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400],
  )
})

test('the reversal of what was spent leaves a debt, and debits are refused until it is made up for', async () => {
  const { live } = await createApp()
  const [first] = await complete(live, 'u', '1')
  assert.equal((await debit(live, 'u', 'all', { amount: 100 })).status, 201)
  await world.confirm(first?.offerId ?? 0, first?.clickId ?? '', { status: 'reversed' })
  assert.equal((await userOf(live, 'u')).balance, -100)
  assert.match((await debit(live, 'u', 'more', { amount: 0.0001 })).text, /the balance is -100 Coins/)
  await complete(live, 'u', '1.5')
  assert.equal((await debit(live, 'u', 'more', { amount: 50 })).status, 201)
})

test('only what is approved while balances are on counts, and what was given is taken back at any time', async () => {
  const app = await world.createApp()
  const [before] = await complete(app.live, 'u', '1')
  assert.equal((await userOf(app.live, 'u')).keeps_balance, false)
  assert.match((await debit(app.live, 'u', 'k', { amount: 1 })).text, /keeps no balances/)
  await keepBalances(app.appId, true)
  const [during] = await complete(app.live, 'u', '2')
  await world.confirm(before?.offerId ?? 0, before?.clickId ?? '', { status: 'reversed' })
  assert.equal((await userOf(app.live, 'u')).balance, 200)
  assert.equal((await debit(app.live, 'u', 'paid', { amount: 10 })).status, 201)
  await keepBalances(app.appId, false)
  await complete(app.live, 'u', '4')
  assert.deepEqual([(await userOf(app.live, 'u')).balance, (await userOf(app.live, 'u')).keeps_balance], [190, false])
  assert.equal((await debit(app.live, 'u', 'paid', { amount: 10 })).status, 200) // asked for again: it was recorded
  await world.confirm(during?.offerId ?? 0, during?.clickId ?? '', { status: 'reversed' })
  assert.equal((await userOf(app.live, 'u')).balance, -10)
})

test('a banned user keeps the balance, and cannot spend it', async () => {
  const { live, appId } = await createApp()
  await complete(live, 'u', '1')
  await banUser(world.database.db, TESTER, { appId, userId: 'u', reason: 'opened a hundred accounts' })
  await world.app.refresh()
  assert.equal((await userOf(live, 'u')).balance, 100)
  assert.match((await debit(live, 'u', 'k', { amount: 1 })).text, /This user is banned/)
})

test('any user ID can be in the path', async () => {
  const { live } = await createApp()
  const [offerId = 0] = await world.createOffers({ payout: '1' })
  for (const userId of ['a/b', 'ä ö?&#%2F', '🎲'.repeat(256), '%', 'debits', "x'; --"]) {
    const { clickId } = await world.click(offerId, live, `userId=${encodeURIComponent(userId)}`)
    await world.confirm(offerId, clickId)
    const user = await userOf(live, userId)
    assert.deepEqual([user.user_id, user.balance], [userId, 100])
    assert.equal((await debit(live, userId, userId.slice(0, 50), { amount: 100 })).status, 201)
  }
  assert.equal((await world.get(`/v1/users/${'x'.repeat(257)}`, live)).status, 400)
  assert.equal((await world.get('/v1/users/%20', live)).status, 400)
})

test('entries come newest first, in pages', async () => {
  const { live } = await createApp()
  await complete(live, 'u', '1', '2', '3')
  const first = await userOf(live, 'u', '?limit=2')
  const second = await userOf(live, 'u', `?limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.entries, ...second.entries].map(({ amount }) => amount), [300, 200, 100]) // prettier-ignore
  assert.deepEqual([first.balance, second.balance, second.next_cursor], [600, 600, null])
})

test('no program can change or delete an entry', async () => {
  const { live } = await createApp()
  await complete(live, 'u', '1')
  const { pool } = world.database
  await assert.rejects(pool.query('UPDATE user_entries SET amount_steps = 1'), /never changed or deleted/)
  await assert.rejects(pool.query('DELETE FROM user_entries'), /never changed or deleted/)
  await assert.rejects(pool.query('TRUNCATE user_entries'), /never changed or deleted/)
})

const readEntered = async (appId: number, userId: string) => {
  const { rows } = await world.database.pool.query<{ steps: number }>(
    'SELECT sum(amount_steps)::bigint AS steps FROM user_entries WHERE app_id = $1 AND user_id = $2', [appId, userId]) // prettier-ignore
  return rows[0]?.steps
}

test('an entry that has its ID and no commit yet is not left out of the sums', async () => {
  const { appId } = await world.createApp()
  const { db, pool } = world.database
  const user = { appId, isTest: false, userId: 'late' }
  const INSERT =
    'INSERT INTO user_entries (entry_id, app_id, is_test, user_id, kind, amount_steps, key, note, created_at)'
  const entry = (key: string, note: string) => `${INSERT} OVERRIDING SYSTEM VALUE VALUES
    (nextval('user_entries_entry_id_seq'), ${appId}, false, 'late', 'debit', -1, '${key}', ${note}, now())`
  const [gate, late] = [await pool.connect(), await pool.connect()]
  await gate.query('SELECT pg_advisory_lock(7)')
  const inserting = late.query(entry('late', `'n' || pg_advisory_xact_lock(7)::text`)) // waits, with its ID
  const isWaiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`
  await until(async () => (await pool.query(isWaiting)).rowCount === 1)
  await pool.query(entry('behind it', 'NULL'))
  await rollUpBalances(db, 100)
  assert.equal(await readBalance(db, user), -1)
  await gate.query('SELECT pg_advisory_unlock(7)')
  await inserting
  for (const client of [gate, late]) client.release()
  assert.equal(await readBalance(db, user), -2)
  await Promise.all([1, 2, 3].map(() => rollUpBalances(db)))
  assert.deepEqual([await readBalance(db, user), await readEntered(appId, 'late')], [-2, -2])
})

test('the entries of a busy user of long ago are found without walking through those of others since', async () => {
  const { appId } = await world.createApp()
  const { pool } = world.database
  const add = (userId: string, count: number) =>
    pool.query(`INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, key, created_at)
      SELECT ${appId}, false, ${userId}, 'debit', -1, gen_random_uuid(), now() FROM generate_series(1, ${count}) n`)
  await add(`'busy'`, 4_000)
  await add(`'other-' || n % 1000`, 6_000)
  await pool.query('ANALYZE user_entries')
  const { sql: text, parameters } = entriesOf(
    world.database.db,
    { appId, isTest: false, userId: 'busy' },
    null,
    21,
  ).compile()
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE) ${text}`, [...parameters])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /user_entries_user/)
  assert.doesNotMatch(plan, /Rows Removed by Filter/)

  const user = { appId, isTest: false, userId: 'busy' }
  const isSummed = 'SELECT entry_id = (SELECT max(entry_id) FROM user_entries) AS yes FROM user_balances_rollup'
  await until(async () => {
    await rollUpBalances(world.database.db)
    return (await pool.query<{ yes: boolean }>(isSummed)).rows[0]?.yes === true
  })
  const explained = await startExplained(world)
  const before = await readCost(explained, () => readBalance(explained.db, user))
  await add(`'busy'`, 3) // behind the sums
  assertBelow(30, 'a balance of 4,000 entries', before)
  assertBelow(30, 'a balance of 4,003 entries', await readCost(explained, () => readBalance(explained.db, user)))
  await explained.close()
  assert.equal(await readBalance(world.database.db, user), -4_003)
})
