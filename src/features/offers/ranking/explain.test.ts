import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainRank } from './explain.ts'
import { estimate } from './model.ts'
import { Ranking, segmentKey } from './ranking.ts'

const USD = 1_000_000
const OFFERS = Array.from({ length: 10 }, (_, i) => ({
  offerId: i + 1,
  category: 'app' as const,
  payoutMicros: 2 * USD,
  createdMs: 0,
}))
const cellOf = (offerId: number, country: string, conversions: number) => ({
  offerId,
  country,
  platform: 'ios',
  clicks: 1_000,
  allClicks: 1_000,
  approved: conversions,
  earnedMicros: conversions * 2 * USD,
})

/** Offer 1 earns five times as much in the US as in India; the others earn the same in both. */
function createRanking(): Ranking {
  const others = OFFERS.slice(1).flatMap(({ offerId }) => [cellOf(offerId, 'US', 50), cellOf(offerId, 'IN', 50)])
  const { means, offers, segments } = estimate([...others, cellOf(1, 'US', 100), cellOf(1, 'IN', 20)], OFFERS)
  const bySegment = segments.map(({ country, cells }) => {
    const numbers = (of: (cell: (typeof cells)[number]) => number) => Float64Array.from(cells, of)
    const segment = { offerIds: numbers((cell) => cell.offerId), factors: numbers((cell) => cell.factor), clicks: numbers((cell) => cell.clicks) } // prettier-ignore
    return [segmentKey(country, 'ios') ?? 0, segment] as const
  })
  return new Ranking({ rankingId: 1, effectiveAtMs: 0, means, offers, segments: new Map(bySegment) })
}

test('an offer says what a click is expected to earn here, how many clicks that rests on, and why', () => {
  const ranking = createRanking()
  const offer = { ...OFFERS[0]!, boostPercent: 100, pin: 0 }
  const inUs = explainRank(ranking, offer, { country: 'US', platform: 'ios' })
  const inIndia = explainRank(ranking, offer, { country: 'IN', platform: 'ios' })
  const anywhere = explainRank(ranking, offer, {})
  assert.ok(Math.abs(inUs.epcMicros / USD - 0.2) < 0.02, `${inUs.epcMicros}`)
  assert.ok(Math.abs(inIndia.epcMicros / USD - 0.04) < 0.02, `${inIndia.epcMicros}`)
  assert.ok(Math.abs(anywhere.epcMicros / USD - 0.12) < 0.02, `${anywhere.epcMicros}`)
  assert.deepEqual([inUs.clicks, anywhere.clicks], [2_000, 2_000])
  const codes = [inUs, inIndia, anywhere].map(({ reasons }) => reasons.map(({ code }) => code))
  assert.deepEqual(codes, [['better_here', 'earnings'], ['worse_here', 'earnings'], ['earnings']])
})

test('what the network does to an offer is said, a boost beside its other reasons', () => {
  const codesOf = (boostPercent: number, pin: number) =>
    explainRank(createRanking(), { ...OFFERS[0]!, boostPercent, pin }, {}).reasons.map(({ code }) => code)
  assert.deepEqual(codesOf(0, 0), ['excluded'])
  assert.deepEqual(codesOf(100, 4), ['pinned'])
  assert.deepEqual(codesOf(250, 0), ['boosted', 'earnings'])
  assert.deepEqual(codesOf(50, 0), ['lowered', 'earnings'])
})
