// A small network, simulated as by npm run bench -- --only ranking.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulateRanking } from '../bench/ranking.ts'

test('recommended lists earn more than those by payout, by popularity or at random, and find more of the new offers that are good', async () => {
  const plan = { seeds: [1], days: 24, viewsADay: 300, offers: 120, newADay: 3 }
  const findings = await simulateRanking(plan, () => {})
  const of = (order: string) => findings.find((one) => one.order === order) ?? assert.fail(order)
  const recommended = of('recommended')
  for (const order of ['payout_desc', 'popular', 'random']) {
    assert.ok(recommended.share > of(order).share * 1.2, `${order}: ${JSON.stringify(findings)}`)
    assert.ok((recommended.found.at(-1) ?? 0) > (of(order).found.at(-1) ?? 0), `${order}: ${JSON.stringify(findings)}`)
  }
  assert.ok(of('best possible').share >= recommended.share)
})
