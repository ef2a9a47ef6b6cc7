// The path of money against a model of it, under random clicks, reports, confirmations, decisions and changes.
//
// Every run is another one. One that fails prints its seed and its steps; "npm run test:all" makes many more of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type History, PLOTS } from '../../../test/money/plots.ts'
import { start, steps } from '../../../test/money/random.ts'
import { REGRESSIONS } from '../../../test/money/regressions.ts'
import { takeSteps } from '../../../test/money/run.ts'
import { openNewDatabase } from '../../../test/databases.ts'
import type { Database } from '../../db/open.ts'
import { checkLedger } from '../ledger/check.ts'
import { HISTORIES } from '../../../test/tier.ts'

/** Histories that run at once, each in a database of its own, since each has its own time. */
const AT_ONCE = 4
const CONNECTIONS = 6

let databases: Database[]
before(async () => {
  databases = await Promise.all(Array.from({ length: AT_ONCE }, () => openNewDatabase('money_model', CONNECTIONS)))
})
after(() => Promise.all(databases.map((database) => database.close())))

async function inEachDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  await Promise.all(databases.map(work))
  for (const database of databases) assert.deepEqual(await checkLedger(database), [])
}

const check = (database: Database, histories: fc.Arbitrary<History>, numRuns: number) =>
  fc.assert(
    fc.asyncProperty(histories, ({ begin, steps: all }) => takeSteps(database, begin, all)),
    { numRuns },
  )

const checkAll = (histories: fc.Arbitrary<History>, numRuns: number) =>
  inEachDatabase((database) => check(database, histories, Math.ceil((numRuns * HISTORIES) / AT_ONCE)))

test('what went wrong once', async () => {
  const left = Object.values(REGRESSIONS)
  await inEachDatabase(async (database) => {
    for (let history = left.shift(); history !== undefined; history = left.shift())
      await check(database, fc.constant(history), 1)
  })
})

for (const [name, histories] of Object.entries(PLOTS)) test(name, () => checkAll(histories, 8))

test('whatever is clicked, reported, confirmed and decided', () =>
  checkAll(fc.record({ begin: start(), steps: steps(1, 1, 30) }), 12))

test('whatever happens at once, as if one thing had happened after the other', () =>
  checkAll(fc.record({ begin: start(), steps: steps(3, 1, 12) }), 16))
