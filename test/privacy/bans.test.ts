// Bans and erasures: a ban outlasts an erasure, and one that was lifted leaves nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { banUser, liftBan, listBans } from '../../src/features/apps/bans.ts'
import { eraseUsers, SETTLE_MS } from '../../src/features/users/erase.ts'
import { listErasures, requestErasure, statusOf } from '../../src/features/users/erasures.ts'
import { TESTER } from '../tester.ts'
import { findTexts, readWhole } from '../whole-database.ts'
import { SECRET_KEY } from '../world.ts'
import { type Person, type Story, useStories } from './story.ts'

const { world, begin } = useStories('privacy_bans')

const ask = (story: Story, person: Person) =>
  requestErasure(world.database.db, TESTER, SECRET_KEY, story.user(person), new Date())

async function erase(): Promise<void> {
  const now = Date.now()
  for (let pass = 0; pass < 3; pass++) await eraseUsers(world.database.db, new Date(now + pass * (SETTLE_MS + 1)))
}

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

test('a ban that is lifted after the erasure can be erased, too, and so can one of a user who did nothing else', async () => {
  const story = await begin()
  const [person, banned, other] = story.people as [Person, Person, Person]
  const { db } = world.database
  await story.click(person, story.offers[0] ?? 0)
  await banUser(db, TESTER, { appId: story.appId, userId: person.userId, reason: 'several accounts' })
  await story.settle()
  await ask(story, person)
  await erase()
  assert.equal(await ask(story, person), null) // the ban stays
  const [ban] = await listBans(db, { appId: story.appId, userId: person.userId }, 1)
  await liftBan(db, TESTER, ban?.ban_id ?? 0)
  for (const one of [banned, other]) await story.banAndLift(one)
  for (const one of [person, banned]) {
    assert.equal((await ask(story, one))?.isNew, true)
    await erase()
    const [erasure] = await listErasures(db, story.appId, undefined, 1)
    assert.equal(statusOf(erasure!), 'done')
    assert.deepEqual(findTexts(await readWhole(world.database.pool), [one.userId]), [])
    assert.equal(await ask(story, one), null)
  }
  // A user of the same ID in test mode was never banned, and a ban in another app says nothing about this one.
  const { appId } = await world.createApp()
  for (const user of [
    { ...story.user(other), isTest: true },
    { ...story.user(other), appId },
  ])
    assert.equal(await requestErasure(db, TESTER, SECRET_KEY, user, new Date()), null)
})
