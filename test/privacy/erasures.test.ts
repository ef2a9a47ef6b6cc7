// Erasures one by one: what they wait for, what comes meanwhile and afterwards, and what the database refuses.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type pg from 'pg'
import { Spool } from '../../src/db/spool.ts'
import { createErasedFinder, isPseudonym } from '../../src/features/apps/erased-users.ts'
import { type Click, Clicks } from '../../src/features/clicks/clicks.ts'
import { applyCommands } from '../../src/features/conversions/apply-commands.ts'
import { checkLedger } from '../../src/features/ledger/check.ts'
import { createLocker } from '../../src/features/lockers/lockers.ts'
import type { LockerState } from '../../src/features/lockers/schema.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { countWaitingPostbacks, listErasures, POSTBACK_WAIT_MS, requestErasure, statusOf } from '../../src/features/users/erasures.ts' // prettier-ignore
import { readBalance } from '../../src/features/users/balances.ts'
import { uuid7 } from '../../src/lib/uuid7.ts'
import { dieAt } from '../crash.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { untilLockIsAwaited } from '../waiting.ts'
import { findTexts, readWhole } from '../whole-database.ts'
import { BROWSER, SECRET_KEY } from '../world.ts'
import { newPerson, type Person, secretsOf, type Story, useStories } from './story.ts'

const { world, publisher, begin } = useStories('erasures')

const ask = (story: Story, person: Person, now = new Date()) =>
  requestErasure(world.database.db, TESTER, SECRET_KEY, story.user(person), now)

const latest = async (story: Story) => {
  const [erasure] = await listErasures(world.database.db, story.appId, undefined, 1)
  return { ...erasure!, status: statusOf(erasure!) }
}

/** All passes of what is due. */
async function erase(from = Date.now()): Promise<void> {
  for (let pass = 0; pass < 4; pass++) await eraseUsers(world.database.db, new Date(from + pass * (SETTLE_MS + 1)))
}

const query = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  (await world.database.pool.query<T>(text, values)).rows

const statusesOf = async (story: Story, clickId: string) =>
  (await query<{ status: string }>('SELECT status FROM conversions WHERE app_id = $1 AND click_id = $2', [story.appId, clickId])).map(({ status }) => status) // prettier-ignore

test('a user who is not known is not erased, and two requests are one', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  assert.equal(await ask(story, newPerson()), null)
  await story.click(person, story.offers[0] ?? 0)
  const [first, second] = [await ask(story, person), await ask(story, person)]
  assert.deepEqual([first?.isNew, second?.isNew, second?.erasure.erasure_id], [true, false, first?.erasure.erasure_id])
  await story.settle()
  await erase()
  assert.equal((await latest(story)).status, 'done')
  assert.equal(await ask(story, person), null)
  await assert.rejects(ask(story, newPerson(first?.erasure.pseudonym)), /already erased/)
})

test('postbacks that wait are delivered with the user’s ID first, for three days at most', async () => {
  const story = await begin()
  const [person, other] = story.people as [Person, Person]
  for (const one of [person, other]) {
    await story.click(one, story.offers[0] ?? 0)
    await story.confirm(one, 0)
  }
  const now = Date.now()
  await ask(story, person, new Date(now))
  await ask(story, other, new Date(now))
  assert.equal(await countWaitingPostbacks(world.database.db, story.user(person)), 1)
  await eraseUsers(world.database.db, new Date(now))
  assert.equal((await latest(story)).status, 'waiting')
  publisher.received.length = 0
  await story.deliver()
  assert.ok(publisher.received.some((url) => url.includes(encodeURIComponent(person.userId))))
  await story.confirm(other, 0, { status: 'reversed' }) // waits
  await eraseUsers(world.database.db, new Date(now + 11_000))
  const [erasures] = [await listErasures(world.database.db, story.appId, undefined, 2)]
  assert.deepEqual(erasures.map(statusOf), ['waiting', 'settling'])
  await erase(now + POSTBACK_WAIT_MS)
  publisher.received.length = 0
  await story.deliver()
  assert.equal(publisher.received.length, 1)
  assert.match(publisher.received[0] ?? '', /user=erased-/)
  assert.ok(!publisher.received.some((url) => url.includes(encodeURIComponent(other.userId))))
})

test('a click out of a spool is recorded for the pseudonym, and its confirmation is paid once', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  const offerId = story.offers[0] ?? 0
  await story.click(person, offerId)
  const [row] = await query<Click>('SELECT *, clicked_at::text FROM clicks WHERE click_id = $1', [person.clicks[0]?.clickId]) // prettier-ignore
  await ask(story, person)
  const spooled: Click = { ...row!, click_id: uuid7(Date.now()), clicked_at: new Date().toISOString(), user_id: person.userId } // prettier-ignore
  const spool = new Spool<Click>(join(world.dataDir, `late-${story.appId}`))
  await spool.append(spooled)
  await story.settle()
  await erase()
  const clicks = new Clicks(world.database, spool, createErasedFinder(world.database.db, SECRET_KEY), () => {})
  await until(async () => (await clicks.replaySpool(), (await query('SELECT FROM clicks WHERE click_id = $1', [spooled.click_id])).length === 1)) // prettier-ignore
  await clicks.close()
  const { pseudonym } = await latest(story)
  person.clicks.push({ offerId, clickId: spooled.click_id })
  for (const i of [0, 1, 1]) await story.confirm(person, i)
  const conversions = await query<{ user_id: string }>(`SELECT user_id FROM conversions WHERE app_id = $1 AND status <> 'rejected'`, [story.appId]) // prettier-ignore
  assert.deepEqual(conversions, [{ user_id: pseudonym }])
  assert.deepEqual(findTexts(await readWhole(world.database.pool), secretsOf(person)), [])
})

test('a user who comes back is a new one, also before the last pass', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  const offerId = story.offers[0] ?? 0
  const complete = async () => {
    await story.click(person, offerId)
    await story.confirm(person, person.clicks.length - 1)
  }
  await complete()
  await story.deliver()
  const now = Date.now()
  await ask(story, person, new Date(now))
  await eraseUsers(world.database.db, new Date(now))
  await world.app.refresh()
  await complete() // of the same goal, which the pseudonym has
  await story.deliver()
  await erase(now)
  const { more_pseudonyms: more, status } = await latest(story)
  assert.deepEqual([more.length, status], [1, 'done'])
  await complete()
  const users = await query<{ user_id: string }>('SELECT user_id FROM conversions WHERE app_id = $1 ORDER BY conversion_id', [story.appId]) // prettier-ignore
  assert.deepEqual(users.map(({ user_id }) => isPseudonym(user_id)), [true, true, false]) // prettier-ignore
  assert.equal(await readBalance(world.database.db, story.user(person)), 1_000_000) // of the last one only
  assert.deepEqual(await checkLedger(world.database), [])
})

test('a confirmation that found its user before the erasure does not pay the click again', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  const offerId = story.offers[0] ?? 0
  await story.click(person, offerId)
  await story.confirm(person, 0)
  const clickId = person.clicks[0]?.clickId ?? ''
  await story.deliver()
  await ask(story, person)
  const [offer] = await query<{ advertiser_id: number }>('SELECT advertiser_id FROM offers WHERE offer_id = $1', [offerId]) // prettier-ignore
  const call = { inboundId: uuid7(Date.now()), receivedAt: new Date(), advertiserId: offer!.advertiser_id, method: 'GET', query: '', body: '', isCut: false, ip: null, clickId, attempts: 1, before: null } // prettier-ignore
  const command = { kind: 'confirmation' as const, advertiserId: offer!.advertiser_id, clickId, goal: null, transactionId: 'another', amountMicros: null, status: 'approved' as const, country: null, isAgain: false, call } // prettier-ignore
  // Holds the lock that both wait for; the erasure waits for it first.
  const { db, pool } = world.database
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query('LOCK TABLE erasure_moves IN EXCLUSIVE MODE') // the erasure has its lock, and waits here
  const erasing = eraseUsers(db, new Date())
  await untilLockIsAwaited(db)
  const applying = applyCommands(db, [command], new Date())
  await until(async () => (await query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`)).length === 1) // prettier-ignore
  await holder.query('ROLLBACK')
  holder.release()
  await erasing
  const [outcome] = await applying
  assert.equal(outcome?.kind, 'duplicate')
  assert.ok(outcome?.conversion && isPseudonym(outcome.conversion.userId))
  assert.deepEqual(await statusesOf(story, clickId), ['approved'])
})

test('a worker that dies anywhere loses nothing, and the next one ends it', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  for (const what of ['click', 'confirm', 'ask', 'debit', 'ticket', 'ban', 'deliver'] as const)
    await story.do({ what, who: 0, n: 0 })
  await story.settle()
  const money = `SELECT sum(payout_micros) AS payout, count(*) AS count FROM conversions WHERE app_id = $1`
  const before = await query(money, [story.appId])
  const now = Date.now()
  await ask(story, person, new Date(now))
  for (let statement = 1; statement < 120; statement += 7)
    await dieAt(world.database, statement, ({ db }) => eraseUsers(db, new Date(now)))
  await erase(now)
  assert.equal((await latest(story)).status, 'done')
  assert.deepEqual(findTexts(await readWhole(world.database.pool), secretsOf(person)), [])
  assert.deepEqual(await query(money, [story.appId]), before)
  assert.deepEqual(await checkLedger(world.database), [])
})

test('in an erasure only what names the person can be changed, and only of its user', async () => {
  const story = await begin()
  const [person, other] = story.people as [Person, Person]
  for (const one of [person, other]) {
    await story.click(one, story.offers[0] ?? 0)
    await story.confirm(one, 0)
    await story.debit(one)
  }
  const asked = await ask(story, person)
  const { erasure_id: id, pseudonym } = asked!.erasure
  const conversion = `WHERE app_id = ${story.appId} AND user_id = '${person.userId}'`
  const others = `WHERE app_id = ${story.appId} AND user_id = '${other.userId}'`
  const event = (where: string) => `WHERE conversion_id IN (SELECT conversion_id FROM conversions ${where})`
  const attempt = async (statement: string, erasure: string | number = id) => {
    const client = await world.database.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT set_config('offerdeck.erasure', $1, true)`, [String(erasure)])
      assert.notEqual((await client.query(statement)).rowCount, 0, statement)
      return 'changed'
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'OD001', String(error))
      return 'refused'
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
  const erased = `user_id = '${pseudonym}', ip = NULL, aff_sub = NULL, aff_sub2 = NULL, aff_sub3 = NULL, aff_sub4 = NULL`
  assert.equal(await attempt(`UPDATE conversions SET ${erased} ${conversion}`), 'changed')
  assert.equal(await attempt(`UPDATE user_entries SET user_id = '${pseudonym}', note = NULL ${conversion}`), 'changed')
  for (const statement of [
    `UPDATE conversions SET ${erased}, payout_micros = 5 ${conversion}`,
    `UPDATE conversions SET ${erased}, status = 'reversed', sequence = 2, event_id = gen_random_uuid(), reversed_at = now() ${conversion}`,
    `UPDATE conversions SET user_id = 'somebody' ${conversion}`,
    `UPDATE conversions SET user_id = '${pseudonym}' ${conversion}`, // and keeps the rest
    `UPDATE conversions SET ${erased} ${others}`,
    `DELETE FROM conversions ${conversion}`,
    `UPDATE user_entries SET amount_steps = 5 ${conversion}`,
    `UPDATE user_entries SET user_id = '${pseudonym}', note = NULL, amount_steps = -5 ${conversion}`,
    `UPDATE user_entries SET user_id = '${pseudonym}', note = NULL ${others}`,
    `DELETE FROM user_entries ${conversion}`,
    `UPDATE conversion_events SET ip = NULL ${event(conversion)}`, // its conversion is not erased yet
    `UPDATE conversion_events SET payout_micros = 5 ${event(conversion)}`,
    `UPDATE ledger_entries SET amount_micros = 5`,
    `UPDATE audit_log SET subject = '${pseudonym}'`,
    `UPDATE event_feed SET app_id = 5`,
  ])
    assert.equal(await attempt(statement), 'refused', statement)
  for (const no of ['', id + 1_000, 'addresses'])
    assert.equal(await attempt(`UPDATE conversions SET ${erased} ${conversion}`, no), 'refused')
  assert.equal(await attempt(`UPDATE conversion_events SET ip = NULL ${event(conversion)}`, 'addresses'), 'changed')
  assert.equal(await attempt(`UPDATE conversion_events SET payout_micros = 5 ${event(conversion)}`, 'addresses'), 'refused') // prettier-ignore
  assert.equal(await attempt(`UPDATE conversion_events SET aff_sub = NULL ${event(conversion)}`, 'addresses'), 'refused') // prettier-ignore
  await erase()
  assert.equal(await attempt(`UPDATE conversions SET ${erased} ${others}`), 'refused')
})

test('what processes remember of an erased user goes: sub-IDs are kept anew, completed offers are shown', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  const offerId = story.offers[0] ?? 0
  await story.click(person, offerId)
  await story.confirm(person, 0)
  await world.app.refresh()
  const isListed = async () => {
    const { body } = await world.get(`/v1/offers?limit=100&${story.query(person)}`, story.live)
    return body.data.offers.some(({ offer_id }) => offer_id === offerId)
  }
  assert.equal(await isListed(), false)
  await story.deliver()
  await ask(story, person)
  await erase()
  await world.app.refresh()
  assert.equal(await isListed(), true)
  const kept = await query('SELECT FROM user_contexts WHERE app_id = $1 AND user_id = $2', [story.appId, person.userId])
  assert.equal(kept.length, 1)
})

test('a visitor of lockers is a user, too', async () => {
  const { appId } = await begin()
  const { db } = world.database
  // Of the many offers here, this one alone.
  const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'Locker', min_payout: 400 })
  const [offerId = 0] = await world.createOffers({ hold: '0s', payout: 800 })
  const visit = async (more: object = {}) => {
    const answer = await world.app.server.inject({ method: 'POST', url: `/locker/v1/lockers/${lockerId}/visits`, payload: more, headers: { 'user-agent': BROWSER } }) // prettier-ignore
    return (JSON.parse(answer.body) as { data: LockerState }).data
  }
  const { visitor, key, offers } = await visit()
  await world.confirm(offerId, (await world.follow(offers.find((one) => one.offer_id === offerId)?.link ?? '')).clickId)
  await visit({ visitor, key })
  assert.equal((await query('SELECT FROM locker_unlocks WHERE visitor_id = $1', [visitor])).length, 1)
  await query('DELETE FROM postback_queue WHERE app_id = $1', [appId])
  await requestErasure(db, TESTER, SECRET_KEY, { appId, isTest: false, userId: `visitor-${visitor}` }, new Date())
  await erase()
  assert.deepEqual(findTexts(await readWhole(world.database.pool), [visitor ?? '']), [])
})
