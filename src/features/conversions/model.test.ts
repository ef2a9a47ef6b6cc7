// The path of money against a model of it, under random clicks, reports, confirmations, decisions and changes.
//
// Every run is another one. One that fails prints its seed and its steps; "npm run test:faults" makes many more of them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type History, PLOTS } from '../../../test/money/plots.ts'
import { start, steps } from '../../../test/money/random.ts'
import { takeSteps } from '../../../test/money/run.ts'
import { makeDatabase } from '../../../test/world.ts'
import type { Database } from '../../db/open.ts'
import { checkLedger } from '../ledger/check.ts'

const TIMES = process.env['OFFERDECK_FAULT_ROUNDS'] === '30' ? 30 : 1
const CONNECTIONS = 20

describe('conversions, caps and money are what the model says', { concurrency: 4 }, () => {
  let database: Database
  before(async () => {
    database = await makeDatabase('money_model', CONNECTIONS)
  })
  after(() => database.close())

  const check = async (histories: fc.Arbitrary<History>, numRuns: number) => {
    const run = ({ begin, steps: all }: History) => takeSteps(database, begin, all)
    await fc.assert(fc.asyncProperty(histories, run), { numRuns: numRuns * TIMES })
    assert.deepEqual(await checkLedger(database), [])
  }
  for (const [name, histories] of Object.entries(PLOTS)) test(name, () => check(histories, 8))

  test('whatever is clicked, reported, confirmed and decided', () =>
    check(fc.record({ begin: start(), steps: steps(1, 1, 30) }), 15))

  test('whatever happens at once, as if one thing had happened after the other', () =>
    check(fc.record({ begin: start(), steps: steps(3, 1, 12) }), 20))
})
