// Takes rankings from the database into the catalogue.
import type { Db } from '../../../db/open.ts'
import { PLATFORMS } from '../choices.ts'
import type { Means } from './model.ts'
import { Ranking, type Segment, segmentKey } from './ranking.ts'

/** The one in effect, and the one before it or to come. */
const HELD = 2

type Taker = { takeRanking(ranking: Ranking, nowMs: number): Promise<void> }

/** Returns what looks for a new ranking and has it taken up: one cheap query while there is none. */
export function createRankingReader(db: Db, taker: Taker): () => Promise<void> {
  let held: readonly number[] = []
  return async () => {
    const rows = await db
      .selectFrom('rankings')
      .select('ranking_id')
      .orderBy('ranking_id', 'desc')
      .limit(HELD)
      .execute()
    const latest = rows.map((row) => row.ranking_id).toReversed()
    if (latest.at(-1) === held.at(-1)) return
    // After the last one that is held. If that is gone, the database was restored: both are taken up.
    for (const rankingId of latest.slice(latest.indexOf(held.at(-1) ?? -1) + 1)) {
      const ranking = await readRanking(db, rankingId)
      if (ranking !== null) await taker.takeRanking(ranking, Date.now())
    }
    held = latest
  }
}

/** The newest; null without any. */
export async function readLatestRanking(db: Db): Promise<Ranking | null> {
  const latest = await db.selectFrom('rankings').select('ranking_id').orderBy('ranking_id', 'desc').limit(1).executeTakeFirst() // prettier-ignore
  return latest === undefined ? null : readRanking(db, latest.ranking_id)
}

async function readRanking(db: Db, rankingId: number): Promise<Ranking | null> {
  const found = await db.selectFrom('rankings').selectAll().where('ranking_id', '=', rankingId).executeTakeFirst()
  if (found === undefined) return null
  const segments = await db.selectFrom('ranking_segments').selectAll().where('ranking_id', '=', rankingId).execute()
  const { offer_ids, clicks, seen, expected, means, effective_at } = found
  return new Ranking({
    rankingId,
    effectiveAtMs: effective_at.getTime(),
    means: means as unknown as Means,
    offers: offer_ids.map((offerId, i) => ({
      offerId,
      clicks: clicks[i] ?? 0,
      seen: seen[i] ?? 0,
      expected: expected[i] ?? 0,
    })),
    segments: new Map(segments.flatMap(readSegment)),
  })
}

type SegmentRow = { country: string; platform: string; offer_ids: number[]; clicks: number[]; factors: number[] }

function readSegment({ country, platform, offer_ids, clicks, factors }: SegmentRow): [number, Segment][] {
  const key = segmentKey(country, PLATFORMS.find((one) => one === platform)) // prettier-ignore
  if (key === null) return []
  const [offerIds, ...more] = [offer_ids, clicks, factors].map((numbers) => Float64Array.from(numbers))
  return [[key, { offerIds, clicks: more[0], factors: more[1] } as Segment]]
}
