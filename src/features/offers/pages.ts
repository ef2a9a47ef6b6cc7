// Pages of offers, ready but for the token of their links. A page is kept together with the list it was cut from, and
// is good for as long as the catalogue gives that same list.
import { Cache } from '../../lib/cache.ts'
import { hashText } from '../../lib/hash-text.ts'
import type { Catalogue } from './catalogue.ts'
import type { Filter } from './filters.ts'
import type { OfferList } from './lists.ts'
import { type Currency, fillRewards, TOKEN } from './offer-text.ts'
import type { Sort } from './schema.ts'

const MAX_CACHED_CHARACTERS = 64_000_000

export type PageRequest = { filter: Filter; sort: Sort; offset: number; limit: number; currency: Currency }

export type Page = {
  list: OfferList
  /** The JSON of `data`, cut where the token goes. */
  chunks: string[]
  /** A hash of all that the page depends on except who asks. */
  tag: string
}

export class Pages {
  readonly #catalogue: Catalogue
  readonly #cache = new Cache<Page>(MAX_CACHED_CHARACTERS, (page) =>
    page.chunks.reduce((sum, chunk) => sum + chunk.length, 100),
  )

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue
  }

  get({ filter, sort, offset, limit, currency }: PageRequest): Page {
    const listKey = `${sort}|${filter.country ?? ''}|${filter.platform ?? ''}|${filter.category ?? ''}|${filter.rules?.key ?? ''}`
    const list = this.#catalogue.list(filter, sort, listKey)
    const key = `${listKey}|${offset}|${limit}|${currency.rateMicros}|${currency.name}`
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.list === list) return cached
    const offers = this.#catalogue
      .slice(list, offset, limit, listKey)
      .map(({ template, payouts }) => fillRewards(template, payouts, currency))
    const hasMore = offset + limit < list.total
    const text = `{"offers":[${offers.join(',')}],"total":${list.total},"limit":${limit},"offset":${offset},"has_more":${hasMore}}`
    const page = {
      list,
      chunks: text.split(TOKEN),
      tag: hashText(`${key}|${list.total}|${list.stamp.a}|${list.stamp.b}`),
    }
    this.#cache.set(key, page)
    return page
  }
}
