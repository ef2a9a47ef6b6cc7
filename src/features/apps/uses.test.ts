import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { openPool } from '../../db/open.ts'
import { CredentialUses } from './uses.ts'

const world = useWorld('uses')
const START = Date.UTC(2026, 0, 1)
const at = (seconds: number) => new Date(START + seconds * 1000)

async function useOf(apiKey: string) {
  const { first_used_at: first, last_used_at: last } = await world.database.db
    .selectFrom('credential_uses')
    .selectAll()
    .where('api_key', '=', apiKey)
    .executeTakeFirstOrThrow()
  return { first, last }
}

test('the first use is noted at once, later ones once a minute', async () => {
  let now = START
  const uses = new CredentialUses(() => now)
  const apiKey = 'pk_a'
  const useAt = async (seconds: number) => {
    now = at(seconds).getTime()
    await uses.write(world.database.db)
    uses.note({ apiKey })
    await uses.write(world.database.db)
  }
  await useAt(0)
  assert.deepEqual(await useOf(apiKey), { first: at(0), last: at(0) })
  await useAt(59)
  assert.deepEqual(await useOf(apiKey), { first: at(0), last: at(0) })
  await useAt(60)
  assert.deepEqual(await useOf(apiKey), { first: at(0), last: at(60) })
  await useAt(119)
  assert.deepEqual(await useOf(apiKey), { first: at(0), last: at(60) })
})

test('what two processes note never goes back in time', async () => {
  let now = at(100).getTime()
  const [one, other] = [new CredentialUses(() => now), new CredentialUses(() => now)]
  one.note({ apiKey: 'pk_b' })
  now = at(130).getTime()
  other.note({ apiKey: 'pk_b' })
  await other.write(world.database.db)
  await one.write(world.database.db)
  assert.equal((await useOf('pk_b')).last.getTime(), at(130).getTime())
})

test('a use that could not be written is written later', async () => {
  const uses = new CredentialUses(() => START)
  uses.note({ apiKey: 'pk_c' })
  const offline = openPool(world.connection('no_such_database'), 1)
  await assert.rejects(uses.write(offline.db))
  await offline.close()
  await uses.write(world.database.db)
  assert.deepEqual(await useOf('pk_c'), { first: at(0), last: at(0) })
})
