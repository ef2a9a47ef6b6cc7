// From page to page of an upstream, and whether all of it came: what it said on any page counts, not only on the last one.
import type { FeedRequest, Paging } from './feed-request.ts'
import { FetchProblem } from './fetch-page.ts'
import { isSaid, readAll, scalarText } from './mapping/paths.ts'

/** Which page to ask for: parameters of its request, or a link to follow. */
export type NextPage = { parameters: Record<string, number> } | { link: string }

/** Of the page that came: its offers, and those among them that no page had before. */
type Came = { items: number; added: number }

export class Pager {
  readonly #paging: Paging
  #pages = 0
  #came = 0
  #distinct = 0
  /** The largest that were seen. */
  #total: number | null = null
  #pageCount: number | null = null

  constructor({ paging }: Pick<FeedRequest, 'paging'>) {
    this.#paging = paging
  }

  first(): NextPage {
    return { parameters: this.#parameters() }
  }

  /** How many did not come while others came twice: offers move between pages when an upstream sorts them anew. */
  get missing(): number {
    return this.#total === null ? 0 : Math.max(0, this.#total - this.#distinct)
  }

  /** Null: all came. Throws where the upstream has said that there is more than came. */
  after(answer: unknown, { items, added }: Came): NextPage | null {
    const paging = this.#paging
    this.#pages++
    this.#came += items
    this.#distinct += added
    if (paging.kind === 'one') return null
    const next = paging.kind === 'next' ? this.#link(paging.path, answer, items) : this.#count(paging, answer, items)
    if (next !== null && added === 0)
      throw new FetchProblem(`Page ${this.#pages} has the same offers as an earlier page.`)
    return next
  }

  #link(path: string, answer: unknown, items: number): NextPage | null {
    const [found] = readAll(path, answer)
    if (typeof found === 'object') throw new FetchProblem(`Page ${this.#pages} has no next page URL at "${path}", but something else.`) // prettier-ignore
    if (!isSaid(found)) return null
    if (items === 0) throw new FetchProblem(`Page ${this.#pages} is empty, but says that another page follows.`)
    return { link: scalarText(found) }
  }

  /** Without a total, only an empty page is the last one: a short one may be all that the upstream sends at once. */
  #count(paging: Paging & { kind: 'page' | 'offset' }, answer: unknown, items: number): NextPage | null {
    const numberAt = (path: string | undefined) => path === undefined ? null : toCount(readAll(path, answer)[0]) // prettier-ignore
    const total = (this.#total = most(this.#total, numberAt(paging.total)))
    const pageCount = (this.#pageCount = most(this.#pageCount, paging.kind === 'page' ? numberAt(paging.pages) : null))
    if (total !== null && this.#came >= total) return null
    const isLast = pageCount !== null && this.#pages >= pageCount
    if (total !== null && (isLast || items === 0)) throw new FetchProblem(`The upstream reports ${total} offers, but sent ${this.#came}.`) // prettier-ignore
    if (pageCount !== null && items === 0 && pageCount > 1) throw new FetchProblem(`The upstream reports ${pageCount} pages, but page ${this.#pages} is empty.`) // prettier-ignore
    return isLast || items === 0 ? null : { parameters: this.#parameters() }
  }

  #parameters(): Record<string, number> {
    const paging = this.#paging
    if (paging.kind !== 'page' && paging.kind !== 'offset') return {}
    const place = paging.kind === 'page' ? paging.first + this.#pages : this.#came
    const { size } = paging
    return { [paging.parameter]: place, ...(size === undefined ? {} : { [size.parameter]: size.value }) }
  }
}

const most = (one: number | null, other: number | null) => (one === null ? other : Math.max(one, other ?? 0))

function toCount(value: unknown): number | null {
  const number = Number(scalarText(value).trim() || Number.NaN)
  return Number.isSafeInteger(number) && number >= 0 ? number : null
}
