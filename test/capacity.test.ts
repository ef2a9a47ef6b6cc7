// docs/capacity.md: its plan follows from its own figures, and a click takes on disk what the page says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareWithPage, fillDay } from '../bench/capacity/click-day.ts'
import { readAssumed, readMeasured, readPage, replan } from '../bench/capacity/page.ts'
import { seedOffers } from '../src/features/offers/seed.ts'
import { OFFERS } from '../bench/partitions.ts'
import { useWorld } from './world.ts'

const world = useWorld('capacity')
const DAY_MS = 86_400_000

test('the plan on the page of capacity follows from its figures', () => {
  const page = readPage()
  assert.equal(replan(page), page, 'run npm run bench -- --only plan')
})

test('a figure that is changed changes the plan', () => {
  const page = readPage()
  const { replicas } = readAssumed(page)
  const other = page.replace(/^(\| replicas +\| +)\d+/m, `$1${replicas + 1}`)
  assert.equal(readAssumed(other).replicas, replicas + 1)
  assert.notEqual(replan(other), other)
})

test('a click takes as many bytes on disk as the page of capacity says', async () => {
  const { database } = world
  await seedOffers(database.db, OFFERS)
  const dayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const day = await fillDay(database, dayMs, 20_000, () => 0)
  assert.deepEqual(compareWithPage(readMeasured(readPage()), day), [])
})
