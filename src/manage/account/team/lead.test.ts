import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, publisherOfApp, Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { isLeading, listPeople, type Role } from '../../../features/accounts/people.ts'

const world = useWorld('team_lead')

/** Two owners, and no other: each does this to the other, at the same moment. */
async function clash(publisherId: number | null, [lead, lesser]: [Role, Role], isDisabling: boolean) {
  const people = [await createPerson(world, lead, publisherId), await createPerson(world, lead, publisherId)]
  const visitors = await Promise.all(people.map(({ email }) => new Visitor(world).signIn(email)))
  const base = publisherId === null ? '/operators' : `/publishers/${publisherId}`
  const change = isDisabling ? { disabled: true } : { role: lesser }
  const answers = await Promise.all(
    visitors.map((visitor, i) => visitor.patch(`${base}/people/${people.at(i - 1)?.id}`, change)),
  )
  const left = (await listPeople(world.database.db, { publisherId }, 100)).filter(isLeading)
  return { succeeded: answers.filter(({ status }) => status === 200).length, left: left.length }
}

test('two owners who keep out or demote each other do not both succeed', async () => {
  for (let round = 0; round < 6; round++) {
    const { appId } = await world.createApp()
    const publisherId = await publisherOfApp(world, appId)
    const outcome = await clash(publisherId, ['publisher_owner', 'publisher_developer'], round % 2 === 0)
    assert.deepEqual(outcome, { succeeded: 1, left: 1 })
  }
})

test('nor do two operators: the network always has one', async () => {
  for (let round = 0; round < 6; round++) {
    await world.database.db.updateTable('people').set({ disabled_at: new Date() }).where('role', '=', 'operator').execute() // prettier-ignore
    const outcome = await clash(null, ['operator', 'operator_reader'], round % 2 === 0)
    assert.deepEqual(outcome, { succeeded: 1, left: 1 })
  }
})

test('an operator may keep out the only owner of a publisher', async () => {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const owner = await createPerson(world, 'publisher_owner', publisherId)
  const operator = await new Visitor(world).signIn((await createPerson(world, 'operator')).email)
  const path = `/publishers/${publisherId}/people/${owner.id}`
  assert.equal((await operator.patch(path, { disabled: true })).status, 200)
})
