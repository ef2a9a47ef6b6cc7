// Keeps the catalogue as the database has offers and rankings.
import { ChangeFeed } from '../../db/changes.ts'
import type { Database } from '../../db/open.ts'
import { inTurn } from '../../lib/in-turn.ts'
import type { Catalogue } from './catalogue.ts'
import { allOffers, readChangedOffers } from './offer-rows.ts'
import { createRankingReader } from './ranking/read-rankings.ts'

export type OfferFollower = {
  /** Fills the catalogue, once, before the first refresh. */
  load: () => Promise<void>
  /** Applies what changed. One after the other: a ranking must not come into the middle of a reload. */
  refresh: () => Promise<void>
  /** Since the catalogue was known to be what the database has. */
  ageMs: () => number
}

export async function followOffers(database: Database, catalogue: Catalogue): Promise<OfferFollower> {
  const changed = await ChangeFeed.open(database.db, 'offers')
  const takeRankings = createRankingReader(database.db, catalogue)
  const loadAll = () => catalogue.load(allOffers(database), Date.now())
  let lookedAtMs = performance.now()
  return {
    ageMs: () => performance.now() - lookedAtMs,
    async load() {
      await takeRankings()
      await loadAll()
    },
    refresh: inTurn(async () => {
      const startedMs = performance.now()
      await changed.look(async (since) => {
        if (since.isEverything) return loadAll()
        for await (const batch of readChangedOffers(database, since)) await catalogue.apply(batch, Date.now())
      })
      await takeRankings()
      await catalogue.passTime(Date.now())
      lookedAtMs = startedMs
    }),
  }
}
