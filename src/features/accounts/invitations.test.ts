import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { acceptInvitation, findInvitation, inviteFirstOperator, listInvitations } from './invitations.ts'
import { listPeople } from './people.ts'

const world = useWorld('invitations')

test('servers that start at once leave one set-up link, and none once it was used', async () => {
  const { db } = world.database
  const now = new Date()
  const start = () => inviteFirstOperator(db, SECRET_KEY, now)
  const tokens = await Promise.all(Array.from({ length: 6 }, start))
  assert.equal((await listInvitations(db, { publisherId: null }, now)).length, 1)
  const found = await Promise.all(tokens.map((token) => findInvitation(db, SECRET_KEY, token ?? '', now)))
  const open = tokens.filter((_, i) => found[i] !== null)
  assert.equal(open.length, 1)

  const person = {
    token: open[0] ?? '',
    name: 'Olga',
    email: 'olga@example.com',
    password: 'a good long password',
    ip: '192.0.2.1',
  }
  await Promise.all([acceptInvitation(db, SECRET_KEY, person, now), ...Array.from({ length: 6 }, start)])
  // Whichever came first: the link was used and is the last one, or was void before it was used.
  const [people, links] = [
    await listPeople(db, { publisherId: null }, 10),
    await listInvitations(db, { publisherId: null }, now),
  ]
  assert.equal(people.length + links.length, 1)
})
