// The path of money against a model of it, under random clicks, reports, confirmations, decisions and changes.
import { test } from 'node:test'
import fc from 'fast-check'
import { start, steps } from '../../../test/money/deeds.ts'
import { takeSteps } from '../../../test/money/run.ts'
import { useWorld } from '../../../test/world.ts'

const RUNS = 30

const world = useWorld('money_model')

test('whatever is clicked, reported, confirmed and decided, conversions, caps and money are what the model says', async () => {
  await fc.assert(
    fc.asyncProperty(start, steps(1, 30), (begin, all) => takeSteps(world, begin, all)),
    { numRuns: RUNS },
  )
})

test('whatever happens at once comes out as if one thing had happened after the other', async () => {
  await fc.assert(
    fc.asyncProperty(start, steps(3, 12), (begin, all) => takeSteps(world, begin, all)),
    { numRuns: RUNS },
  )
})
