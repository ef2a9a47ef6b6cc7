// The path of money against a model of it, under random clicks, reports, confirmations, decisions and changes.
//
// Every run is another one. One that fails prints its seed and its steps; "npm run test:all" makes many more of them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type History, PLOTS } from '../../../test/money/plots.ts'
import { start, steps } from '../../../test/money/random.ts'
import { REGRESSIONS } from '../../../test/money/regressions.ts'
import { takeSteps } from '../../../test/money/run.ts'
import { openNewDatabase } from '../../../test/databases.ts'
import type { Database } from '../../db/open.ts'
import { checkLedger } from '../ledger/check.ts'
import { HISTORIES } from '../../../test/tier.ts'

/** Tests that run at once, each in a database of its own: every history has its own time. */
const AT_ONCE = 4
const CONNECTIONS = 6

describe('conversions, caps and money are what the model says', { concurrency: AT_ONCE }, () => {
  const free: Database[] = []
  before(async () => {
    for (let i = 0; i < AT_ONCE; i++) free.push(await openNewDatabase('money_model', CONNECTIONS))
  })
  after(() => Promise.all(free.map((database) => database.close())))

  const check = async (histories: fc.Arbitrary<History>, numRuns: number) => {
    const database = free.pop() ?? assert.fail('more tests run at once than there are databases')
    try {
      const run = ({ begin, steps: all }: History) => takeSteps(database, begin, all)
      await fc.assert(fc.asyncProperty(histories, run), { numRuns: numRuns * HISTORIES })
      assert.deepEqual(await checkLedger(database), [])
    } finally {
      free.push(database)
    }
  }
  test('what went wrong once', async () => {
    for (const history of Object.values(REGRESSIONS)) await check(fc.constant(history), 1 / HISTORIES)
  })

  for (const [name, histories] of Object.entries(PLOTS)) test(name, () => check(histories, 7))

  test('whatever is clicked, reported, confirmed and decided', () =>
    check(fc.record({ begin: start(), steps: steps(1, 1, 30) }), 12))

  test('whatever happens at once, as if one thing had happened after the other', () =>
    check(fc.record({ begin: start(), steps: steps(3, 1, 12) }), 15))
})
