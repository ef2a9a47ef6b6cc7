// Why an offer stands where it stands in recommended lists, for the people who ask.
import type { Platform } from '../choices.ts'
import { FEW_CLICKS } from './model.ts'
import { type Placed, placeIn, type Ranking, segmentKey } from './ranking.ts'

export const RANK_CODES = ['excluded', 'pinned', 'boosted', 'lowered', 'new', 'few_clicks', 'better_here', 'worse_here', 'earnings'] as const // prettier-ignore
export type RankReason = { code: (typeof RANK_CODES)[number]; message: string }
export type RankExplanation = { epcMicros: number; clicks: number; reasons: RankReason[] }

/** Differences that are worth a word. */
const [BETTER, WORSE] = [1.1, 0.9]

/** Where: for a visitor from this country on this platform, if both are given. */
export function explainRank(
  ranking: Ranking,
  offer: Placed,
  { country, platform }: { country?: string; platform?: Platform },
): RankExplanation {
  const segment = ranking.segment(segmentKey(country, platform))
  const place = segment === null ? -1 : placeIn(segment, offer.offerId)
  const factor = segment?.factors[place] ?? 1
  const everywhere = ranking.epcMicros(offer)
  const here = country === undefined || platform === undefined ? 1 : ranking.segmentFactor(country, platform)
  return {
    epcMicros: Math.min(everywhere * factor * here, Math.max(everywhere, offer.payoutMicros)),
    clicks: about(ranking.of(offer.offerId).clicks),
    reasons: reasonsOf(offer, ranking, factor),
  }
}

/** To two digits: how much is known, not how much traffic the network has. */
const about = (count: number) => (count < 10 ? Math.round(count) : Number(count.toPrecision(2)))

function reasonsOf({ offerId, boostPercent, pin, createdMs }: Placed, ranking: Ranking, factor: number): RankReason[] {
  if (boostPercent === 0)
    return [{ code: 'excluded', message: 'Excluded from recommendations by the network: listed last.' }]
  if (pin > 0) return [{ code: 'pinned', message: `Pinned by the network to position ${pin}.` }]
  const reasons: RankReason[] = []
  const times = boostPercent / 100
  if (times > 1)
    reasons.push({ code: 'boosted', message: `Boosted by the network: expected earnings are multiplied by ${times}.` })
  if (times < 1)
    reasons.push({ code: 'lowered', message: `Lowered by the network: expected earnings are multiplied by ${times}.` })
  const hasFew = ranking.hasFewClicks(offerId)
  if (ranking.isNew(offerId, createdMs))
    reasons.push({ code: 'new', message: 'New: until there are more clicks, the position depends on what similar offers earn, and some users see the offer further up.' }) // prettier-ignore
  else if (hasFew)
    reasons.push({ code: 'few_clicks', message: `Fewer than ${FEW_CLICKS} recent clicks: what similar offers earn is also considered.` }) // prettier-ignore
  if (factor >= BETTER) reasons.push({ code: 'better_here', message: 'Earns more here than in other countries or on other platforms.' }) // prettier-ignore
  if (factor <= WORSE) reasons.push({ code: 'worse_here', message: 'Earns less here than in other countries or on other platforms.' }) // prettier-ignore
  if (!hasFew) reasons.push({ code: 'earnings', message: 'Based on what recent clicks earned.' })
  return reasons
}
