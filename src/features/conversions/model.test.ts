// The path of money against a model of it, under random clicks, reports, confirmations, decisions and changes.
import { test } from 'node:test'
import fc from 'fast-check'
import { start, steps } from '../../../test/money/deeds.ts'
import { takeSteps } from '../../../test/money/run.ts'
import { useWorld } from '../../../test/world.ts'

// The same runs every time, so that a change is judged by what it changes; "npm run test:faults" looks for new ones.
const IS_HUNT = process.env['OFFERDECK_FAULT_ROUNDS'] === '30'
const RUNS = IS_HUNT ? { numRuns: 500 } : { numRuns: 25, seed: 20_261_115 }

const world = useWorld('money_model')

test('whatever is clicked, reported, confirmed and decided, conversions, caps and money are what the model says', async () => {
  await fc.assert(
    fc.asyncProperty(start, steps(1, 30), (begin, all) => takeSteps(world, begin, all)),
    RUNS,
  )
})

test('whatever happens at once comes out as if one thing had happened after the other', async () => {
  await fc.assert(
    fc.asyncProperty(start, steps(3, 12), (begin, all) => takeSteps(world, begin, all)),
    RUNS,
  )
})
