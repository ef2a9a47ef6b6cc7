// What the apps' own rules say about offers for one product: the words that any app blocks, and the rewards that any asks
// for. Texts and payouts are read again only where an offer has changed.
import { sql } from 'kysely'
import type { Trx } from '../../../db/open.ts'
import { foldText, Keywords } from '../keywords.ts'
import { joinWords } from '../offer-bytes.ts'
import type { MinReward } from '../rewards.ts'

export type AppRules = { keywords: string[]; minRewards: MinReward[] }

/** `payouts`: of the offer, then of its goals. */
export type Judged = { blockedWords: ReadonlySet<string>; payouts: readonly number[] }
export const UNJUDGED: Judged = { blockedWords: new Set(), payouts: [] }

const BATCH = 1_000

export async function readAppRules(trx: Trx): Promise<AppRules> {
  const words = await sql<{ word: string }>`SELECT DISTINCT unnest(blocked_keywords) AS word FROM apps ORDER BY word`.execute(trx) // prettier-ignore
  const { rows: minRewards } = await sql<MinReward>`
    SELECT DISTINCT min_reward_steps AS steps, rate_micros AS "rateMicros", share_ppm AS "sharePpm", rounding
    FROM apps JOIN publishers USING (publisher_id) WHERE min_reward_steps IS NOT NULL`.execute(trx)
  return { keywords: words.rows.map(({ word }) => word), minRewards }
}

type Known = Judged & { xid: string }

export class JudgedOffers {
  #known = new Map<number, Known>()
  #keywords = ''

  /** Of these offers. Others are forgotten. */
  async read(
    trx: Trx,
    offers: readonly { offer_id: number; changed_xid: string }[],
    { keywords, minRewards }: AppRules,
  ): Promise<ReadonlyMap<number, Judged>> {
    const isSame = this.#keywords === JSON.stringify(keywords)
    const before = isSame ? this.#known : new Map<number, Known>()
    this.#keywords = JSON.stringify(keywords)
    this.#known = new Map()
    if (keywords.length === 0 && minRewards.length === 0) return this.#known
    const changed: number[] = []
    for (const { offer_id, changed_xid } of offers) {
      const known = before.get(offer_id)
      if (known?.xid === changed_xid) this.#known.set(offer_id, known)
      else changed.push(offer_id)
    }
    const find = createFinder(keywords)
    for (let start = 0; start < changed.length; start += BATCH)
      for (const row of await readTexts(trx, changed.slice(start, start + BATCH)))
        this.#known.set(row.offer_id, { xid: row.xid, blockedWords: find(row), payouts: row.payouts })
    return this.#known
  }
}

type Texts = { offer_id: number; xid: string; name: string; description: string; translations: string; payouts: number[] } // prettier-ignore

const readTexts = async (trx: Trx, offerIds: readonly number[]): Promise<Texts[]> =>
  (await sql<Texts>`
    SELECT offer_id, changed_xid::text AS xid, name, description, translations,
      payout_micros || ARRAY(SELECT g.payout_micros FROM goals g WHERE g.offer_id = offers.offer_id AND NOT g.is_retired ORDER BY g.place) AS payouts
    FROM offers WHERE offer_id = ANY (${offerIds}::bigint[])`.execute(trx)).rows // prettier-ignore

/** Most texts have none of them, and are gone through once. */
function createFinder(keywords: readonly string[]): (texts: Texts) => ReadonlySet<string> {
  const all = new Keywords(keywords)
  const each = keywords.map((keyword) => ({ keyword, one: new Keywords([keyword]) }))
  return ({ name, description, translations }) => {
    const text = foldText(joinWords(name, description, translations))
    if (!all.appearIn(text)) return UNJUDGED.blockedWords
    return new Set(each.filter(({ one }) => one.appearIn(text)).map(({ keyword }) => keyword))
  }
}
