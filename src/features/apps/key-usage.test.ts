import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { openPool } from '../../db/open.ts'
import { KeyUsage } from './key-usage.ts'

const world = useWorld('key_usage')
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

test('the first use is recorded at once, later ones once a minute', async () => {
  let now = START
  const usage = new KeyUsage(() => now)
  const apiKey = 'pk_a'
  const useAt = async (seconds: number) => {
    now = at(seconds).getTime()
    await usage.write(world.database.db)
    usage.note({ apiKey })
    await usage.write(world.database.db)
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

test('the last use never moves back in time when two processes record it', async () => {
  let now = at(100).getTime()
  const [one, other] = [new KeyUsage(() => now), new KeyUsage(() => now)]
  one.note({ apiKey: 'pk_b' })
  now = at(130).getTime()
  other.note({ apiKey: 'pk_b' })
  await other.write(world.database.db)
  await one.write(world.database.db)
  assert.equal((await useOf('pk_b')).last.getTime(), at(130).getTime())
})

test('a use that could not be written is written later', async () => {
  const usage = new KeyUsage(() => START)
  usage.note({ apiKey: 'pk_c' })
  const offline = openPool(world.connection('no_such_database'), 1)
  await assert.rejects(usage.write(offline.db))
  await offline.close()
  await usage.write(world.database.db)
  assert.deepEqual(await useOf('pk_c'), { first: at(0), last: at(0) })
})
