import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { countApis } from './count-apis.ts'

const world = useWorld('count_apis')

test('PROCESSES=auto starts one API process for each core, as far as they fit into memory with the offers', async () => {
  const count = async (cores: number, availableMb: number) =>
    (await countApis('auto', world.database, { cores, availableBytes: availableMb * 1_000_000 })).apis
  assert.deepEqual([await count(4, 100_000), await count(4, 4 * 512), await count(4, 100)], [4, 3, 1])
  await world.createOffers({}, {})
  assert.equal(await count(4, 4 * 512), 2, 'there is memory for three, and their worker, if there were no offers')
  assert.deepEqual(await countApis(7, world.database), { apis: 7, why: null })
})
