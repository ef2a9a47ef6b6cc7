// Pages of offers, ready but for the token of their links. A page belongs to the list it was cut from, and goes with it.
import { hashText } from '../../lib/hash-text.ts'
import { goOn } from '../../lib/go-on.ts'
import type { Catalogue, Slice, Wanted } from './catalogue.ts'
import type { Filter } from './filters.ts'
import type { OfferList } from './lists.ts'
import { type Currency, saleText, TOKEN } from './offer-text.ts'

const MAX_KEPT_CHARACTERS = 100_000_000
const MAX_KEPT_OFFSET = 100_000
const NOTHING: readonly number[] = []
const LIMITS = 101 // one more than the largest limit

/** Writes an offer for those who ask: fillPayouts or fillRewards of offer-text.ts. */
export type Fill = (template: string, payouts: readonly number[], currency: Currency) => string

export type PageRequest = {
  filter: Filter
  sort: Wanted
  offset: number
  limit: number
  currency: Currency
  /** Of the texts, as far as offers have them in it. */
  language?: string | undefined
}

export type Page = {
  /** The JSON of `data`, cut where the token goes. */
  chunks: string[]
  /** A hash of all that the page depends on except who asks. */
  tag: string
}

export class Pages {
  readonly #catalogue: Catalogue
  readonly #fill: Fill
  /** By language; without one, under an empty name. */
  #kept = new Map<string, WeakMap<OfferList, Map<number, Page>>>()
  #keptCharacters = 0

  constructor(catalogue: Catalogue, fill: Fill) {
    this.#catalogue = catalogue
    this.#fill = fill
  }

  /** The page for a user who has completed these offers: at once when its list is ready. */
  get(request: PageRequest, completed: readonly number[] = NOTHING): Page | Promise<Page> {
    const list = this.#catalogue.list(request.filter, request.sort)
    return goOn(list, (it) =>
      this.#of(it, request, completed.length === 0 ? completed : this.#catalogue.within(it, completed)),
    )
  }

  /** Of those with these words only. Not kept: hardly two people search for the same. */
  async search(request: PageRequest, text: string, completed: readonly number[] = NOTHING): Promise<Page> {
    const list = await this.#catalogue.list(request.filter, request.sort)
    const hidden = this.#catalogue.within(list, completed)
    const { chunks, tag } = this.#write(list, await this.#catalogue.search(list, hidden, text, request), request)
    return { chunks, tag: hashText(`${tag}|${text}|${hidden.toSorted((a, b) => a - b).join()}`) }
  }

  #of(list: OfferList, request: PageRequest, hidden: readonly number[]): Page | Promise<Page> {
    const { offset, limit, currency, language = '' } = request
    if (hidden.length > 0)
      return goOn(this.#catalogue.slice(list, hidden, request), (slice) => {
        const { chunks, tag } = this.#write(list, slice, request)
        return { chunks, tag: hashText(`${tag}|${hidden.toSorted((a, b) => a - b).join()}`) }
      })
    const key = (currency.id * MAX_KEPT_OFFSET + offset) * LIMITS + limit
    const kept = offset < MAX_KEPT_OFFSET ? this.#kept.get(language)?.get(list)?.get(key) : undefined
    if (kept !== undefined) return kept
    return goOn(this.#catalogue.slice(list, hidden, request), (slice) => {
      const page = this.#write(list, slice, request)
      if (offset < MAX_KEPT_OFFSET) this.#keep(list, language, key, page)
      return page
    })
  }

  #write(list: OfferList, { offers, total }: Slice, { offset, limit, currency, language }: PageRequest): Page {
    const texts = offers.map(({ template, payouts }) => this.#fill(template, payouts, currency))
    const hasMore = offset + limit < total
    const { order, filter, rules, stamp, ranking, variantOf } = list
    const rankingText = ranking === null ? '' : `,"ranking":${ranking.id}`
    const text = `{"offers":[${texts.join(',')}],"total":${total},"limit":${limit},"offset":${offset},"has_more":${hasMore}${rankingText}${saleText(currency)}}`
    const meaning = JSON.stringify([
      this.#catalogue.publicUrl,
      ranking === null ? order : [ranking.id, variantOf?.variant],
      filter,
      rules?.fingerprint,
      stamp,
      total,
      offset,
      limit,
      currency.fingerprint,
      language,
    ])
    return { chunks: text.split(TOKEN), tag: hashText(meaning) }
  }

  /** Bounded: when there are too many, all are let go, which costs each of them one writing. */
  #keep(list: OfferList, language: string, key: number, page: Page): void {
    this.#keptCharacters += page.chunks.reduce((sum, chunk) => sum + chunk.length, 100)
    if (this.#keptCharacters > MAX_KEPT_CHARACTERS) {
      this.#kept.clear()
      this.#keptCharacters = 0
    }
    const byList = this.#kept.get(language) ?? new WeakMap<OfferList, Map<number, Page>>()
    this.#kept.set(language, byList)
    const pages = byList.get(list)
    if (pages === undefined) byList.set(list, new Map([[key, page]]))
    else pages.set(key, page)
  }
}
