// A ban outlasts an erasure: nothing of what a banned user clicked or completed before is paid to the pseudonym.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { banUser, liftBan, listBans } from '../../src/features/apps/bans.ts'
import { applyCommands } from '../../src/features/conversions/apply-commands.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { listErasures, requestErasure } from '../../src/features/users/erasures.ts'
import { exportUser } from '../../src/features/users/export.ts'
import { visit } from '../people.ts'
import { TESTER } from '../tester.ts'
import { findTexts, readWhole } from '../whole-database.ts'
import { SECRET_KEY } from '../world.ts'
import { type Person, type Story, useStories } from './story.ts'

const { world, begin } = useStories('banned')

const ask = (story: Story, person: Person, now = new Date()) =>
  requestErasure(world.database.db, TESTER, SECRET_KEY, story.user(person), now)

const pseudonymOf = async ({ appId }: Story) =>
  (await listErasures(world.database.db, appId, undefined, 1))[0]?.pseudonym ?? ''

/** All passes of what is due. */
async function erase(from = Date.now()): Promise<void> {
  for (let pass = 0; pass < 4; pass++) await eraseUsers(world.database.db, new Date(from + pass * (SETTLE_MS + 1)))
}

const query = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  (await world.database.pool.query<T>(text, values)).rows

test('a banned user who was erased is still banned', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  await story.click(person, story.offers[0] ?? 0)
  const { db } = world.database
  await banUser(db, TESTER, { appId: story.appId, userId: person.userId, reason: 'several accounts' })
  await ask(story, person)
  await erase()
  await world.app.refresh()
  const { body } = await world.get(`/v1/offers?userId=${encodeURIComponent(person.userId)}`, story.live)
  assert.equal(body.data.total, 0)
  const left = findTexts(await readWhole(world.database.pool), [person.userId]).map((text) => text.split(':')[0])
  assert.deepEqual(new Set(left.filter((table) => table !== 'api_requests')), new Set(['audit_log', 'banned_users'])) // but for what was just asked
})

const OFFER = { plain: 0, goals: 1, held: 2 }

/** A click that is not confirmed yet, one of two goals, and a conversion that is held. */
async function beginMoney(story: Story, person: Person): Promise<void> {
  for (const place of Object.values(OFFER)) await story.click(person, story.offers[place] ?? 0)
  await story.confirm(person, OFFER.held)
  await story.deliver()
}

/** Confirmations of what was clicked before, also by another transaction, and the end of the hold. */
async function endMoney(story: Story, person: Person): Promise<void> {
  for (const txn_id of [`first-${person.userId}`, `second-${person.userId}`])
    for (const place of [OFFER.plain, OFFER.goals]) await story.confirm(person, place, { txn_id })
  await story.confirm(person, OFFER.goals, { goal: 'level', txn_id: `level-${person.userId}` })
  const held = await query<{ id: string }>(`SELECT conversion_id AS id FROM conversions WHERE status = 'pending' AND hold_until IS NOT NULL AND click_id = $1`, [person.clicks[OFFER.held]?.clickId]) // prettier-ignore
  await applyCommands(world.database.db, held.map(({ id }) => ({ kind: 'release' as const, conversionId: id })), new Date(Date.now() + 2 * 86_400_000)) // prettier-ignore
}

const outcomesOf = async (person: Person) =>
  (await query<{ outcome: string }>(`SELECT DISTINCT concat_ws(' ', status, status_reason) AS outcome FROM conversions WHERE click_id = ANY ($1) ORDER BY 1`, [person.clicks.map(({ clickId }) => clickId)])).map(({ outcome }) => outcome) // prettier-ignore

const bansOf = (userId: string) => listBans(world.database.db, { userId }, 10)

for (const where of ['here', 'everywhere'])
  test(`a user who was banned ${where} and erased is paid nothing, until the ban is lifted`, async () => {
    const story = await begin()
    const [person] = story.people as [Person]
    await beginMoney(story, person)
    const { db } = world.database
    const appId = where === 'here' ? story.appId : null
    await banUser(db, TESTER, { appId, userId: person.userId, reason: 'several accounts' })
    await story.confirm(person, OFFER.plain)
    await ask(story, person)
    await erase()
    await endMoney(story, person)
    assert.deepEqual(await outcomesOf(person), ['rejected fraud'])
    const pseudonym = await pseudonymOf(story)
    await world.app.refresh()
    const debit = await world.get(`/v1/users/${pseudonym}/debits`, story.live, { method: 'POST', payload: { amount: 1 }, headers: { 'idempotency-key': `debit of ${pseudonym}` } }) // prettier-ignore
    assert.match(JSON.stringify(debit.body), /banned/)
    const [ban] = await bansOf(person.userId)
    await liftBan(db, TESTER, ban?.ban_id ?? 0)
    assert.deepEqual(await bansOf(pseudonym), [])
    await story.confirm(person, OFFER.plain, { txn_id: `third-${person.userId}` })
    assert.deepEqual(await outcomesOf(person), ['approved', 'rejected fraud'])
  })

test('of two bans of an erased user each is lifted alone', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  await beginMoney(story, person)
  const { db } = world.database
  for (const appId of [story.appId, null]) await banUser(db, TESTER, { appId, userId: person.userId, reason: 'bots' })
  await ask(story, person)
  await erase()
  const [ban] = await bansOf(person.userId)
  await liftBan(db, TESTER, ban?.ban_id ?? 0)
  await endMoney(story, person)
  assert.deepEqual(await outcomesOf(person), ['rejected fraud'])
})

test('a ban between the request and the end of an erasure counts for all that is erased', async () => {
  const story = await begin()
  const [person, other] = story.people as [Person, Person]
  const now = Date.now()
  for (const one of [person, other]) {
    await beginMoney(story, one)
    await ask(story, one, new Date(now))
  }
  const ban = ({ userId }: Person) => banUser(world.database.db, TESTER, { appId: story.appId, userId, reason: 'bots' })
  await ban(person)
  await eraseUsers(world.database.db, new Date(now))
  await ban(other)
  await endMoney(story, other) // before the next pass
  await erase(now)
  await endMoney(story, person)
  for (const one of [person, other]) assert.deepEqual(await outcomesOf(one), ['rejected fraud'])
})

test('a ban leads a publisher from a pseudonym to nobody', async () => {
  const story = await begin()
  const [person] = story.people as [Person]
  await beginMoney(story, person)
  const reason = `${person.userId} has several accounts`
  await banUser(world.database.db, TESTER, { appId: null, userId: person.userId, reason })
  await ask(story, person)
  await erase()
  const pseudonym = await pseudonymOf(story)
  const { publisher_id } = await world.database.db.selectFrom('apps').select('publisher_id').where('app_id', '=', story.appId).executeTakeFirstOrThrow() // prettier-ignore
  const owner = await visit(world, 'publisher_owner', publisher_id)
  const path = `/apps/${story.appId}/users/${pseudonym}`
  const page = await owner.get<{ ban: { is_everywhere: boolean } | null }>(path)
  assert.equal(page.data.ban?.is_everywhere, false)
  for (const { text } of [page, await owner.post(`${path}/export`)]) assert.ok(!text.includes(person.userId))
  for await (const record of exportUser(world.database.db, { ...story.user(person), userId: pseudonym }, 'operator'))
    assert.ok(!JSON.stringify(record).includes(person.userId), record.kind)
})
