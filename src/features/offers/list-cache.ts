// The lists in use, by filter and order. A list is brought up to date when it is used, by the changes it missed, or
// rebuilt; at once where that takes next to no time, else in slices between requests.
import { Cache } from '../../lib/cache.ts'
import { atOnce, type Slices } from '../../lib/slices.ts'
import { compileFilter, type Filter, listKey, matches, selectMatching } from './filters.ts'
import { buildList, type ListKind, type OfferList, updateList } from './lists.ts'
import { type ContentRules, RuleSet } from './rule-sets.ts'
import type { Order, Side } from './choices.ts'
import { ArrangedLists } from './arranged-lists.ts'
import { isRecommended, mergeSegment } from './sort-slots.ts'
import { segmentKey } from './ranking/ranking.ts'
import type { Shelf } from './shelf.ts'

const MAX_LIST_BYTES = 40_000_000
const MAX_RULE_BYTES = 60_000_000
const MAX_DEEP_SLOTS = 4_000_000
const LIST_BYTES = 400 // of a list without its head
const QUICK_ORDER = 60_000 // so many slots are looked through in a millisecond

export class ListCache {
  readonly #shelf: Shelf
  readonly #work: Slices
  readonly #lists = new Cache<number, OfferList>(MAX_LIST_BYTES, ({ head }) => LIST_BYTES + head.byteLength)
  readonly #building = new Map<number, Promise<OfferList>>()
  readonly #ruleSets: Cache<number, RuleSet>
  /** Whole lists, for requests that page beyond a list's head. */
  readonly #whole = new Cache<OfferList, Uint32Array>(MAX_DEEP_SLOTS, (slots) => slots.length)

  readonly #arranged: ArrangedLists

  constructor(shelf: Shelf, work: Slices) {
    this.#arranged = new ArrangedLists(shelf)
    this.#shelf = shelf
    this.#work = work
    this.#ruleSets = new Cache(MAX_RULE_BYTES, (rules) => rules.bytes(shelf.slots.capacity))
  }

  clear(): void {
    for (const cache of [this.#lists, this.#ruleSets, this.#whole]) cache.clear()
  }

  get(filter: Filter, order: Order): OfferList | Promise<OfferList> {
    const key = listKey(filter, order)
    const ranking = isRecommended(order) ? this.#shelf.slots.rankings.on(order) : null
    const known = this.#lists.get(key)
    const kept = known?.ranking === ranking ? known : undefined // or of a ranking that was here before
    if (kept !== undefined && kept.version === this.#shelf.log.version) return kept
    const underWay = this.#building.get(key)
    if (underWay !== undefined) return underWay
    const segment = ranking?.segment(segmentKey(filter.country, filter.platform)) ?? null
    const kind = kept ?? { key, order, ranking, segment, filter: compileFilter(filter), rules: filter.rules }
    const renewed = this.#renewAtOnce(kind, kept)
    if (renewed !== null) return this.#keep(renewed)
    const renewing = this.#inSlices(filter.rules, (rules) => this.#renew(kind, kept, rules))
    this.#building.set(key, renewing)
    void renewing.catch(() => {}).then(() => this.#building.delete(key)) // the caller that awaits it gets the error
    return renewing
  }

  #renewAtOnce(kind: ListKind, kept: OfferList | undefined): OfferList | null {
    const { slots, log, orders } = this.#shelf
    const rules = this.ruleSetOf(kind.rules)
    if (rules !== null) {
      if (!rules.isQuick(log)) return null
      atOnce(rules.follow(slots, log))
    }
    const updated = kept === undefined ? null : this.#update(kept, rules)
    if (updated !== null) return updated
    return orders.size(kind.order) <= QUICK_ORDER ? atOnce(this.#build(kind, rules)) : null
  }

  *#renew(kind: ListKind, kept: OfferList | undefined, rules: RuleSet | null): Generator<void, OfferList> {
    const updated = kept === undefined ? null : this.#update(kept, rules)
    return this.#keep(updated ?? (yield* this.#build(kind, rules)))
  }

  /** Does what needs to know what rules allow, when that is known. Judging a million offers takes seconds, so other work comes in between. */
  async #inSlices<T>(
    contentRules: ContentRules | null,
    work: (rules: RuleSet | null) => Generator<void, T>,
  ): Promise<T> {
    const shelf = this.#shelf
    for (;;) {
      const rules = this.ruleSetOf(contentRules)
      if (rules !== null && !rules.isJudged) {
        await this.#work.eventually(() => rules.judgeSome(shelf.slots, shelf.count, shelf.log))
        continue
      }
      const done = await this.#work.eventually(function* () {
        if (rules !== null) {
          if (!rules.canFollow(shelf.log)) return null // too much came in between
          yield* rules.follow(shelf.slots, shelf.log)
        }
        return { value: yield* work(rules) }
      })
      if (done !== null) return done.value
    }
  }

  #update(list: OfferList, rules: RuleSet | null): OfferList | null {
    const { slots, log } = this.#shelf
    const change = log.differenceSince(list.version, slots)
    return change && updateList(list, { slots, rules, version: log.version }, change)
  }

  *#build(kind: ListKind, rules: RuleSet | null): Generator<void, OfferList> {
    const { key, order, ranking, segment, filter, rules: contentRules } = kind
    const { slots, log } = this.#shelf
    const sorted = yield* this.#sorted(kind)
    const its = { key, order, ranking, segment, filter, rules: contentRules }
    return yield* buildList(its, sorted, { slots, rules, version: log.version })
  }

  /** All slots, as the list has them. */
  *#sorted({ order, segment }: ListKind): Generator<void, Uint32Array> {
    const { slots, log, orders } = this.#shelf
    const sorted = yield* orders.current(order, slots, log)
    return segment === null ? sorted : yield* mergeSegment(slots, order as Side, segment, sorted)
  }

  #keep(list: OfferList): OfferList {
    this.#lists.set(list.key, list)
    return list
  }

  ruleSetOf(rules: ContentRules | null): RuleSet | null {
    if (rules === null) return null
    const kept = this.#ruleSets.get(rules.id)
    if (kept !== undefined && (!kept.isJudged || kept.canFollow(this.#shelf.log))) return kept
    const made = new RuleSet(rules)
    this.#ruleSets.set(rules.id, made)
    return made
  }

  has({ filter, rules }: OfferList, slot: number): boolean {
    const { slots } = this.#shelf
    return slots.isListable(slot) && matches(filter, slots, slot) && this.isAllowed(rules, slot)
  }

  isAllowed(rules: ContentRules | null, slot: number): boolean {
    const { slots } = this.#shelf
    const ruleSet = this.ruleSetOf(rules)
    if (ruleSet === null) return true
    return ruleSet.allowsNow(slots, slot)
  }

  /** A recommended list as a user with this seed is shown it. */
  arranged(list: OfferList, seed: number): OfferList {
    return this.#arranged.of(list, seed)
  }

  /** All slots of a list. */
  whole(list: OfferList): Uint32Array | Promise<Uint32Array> {
    if (list.head.length === list.total) return list.head
    return this.#arranged.whole(list, this.#wholeOf(list.variantOf?.list ?? list))
  }

  #wholeOf(list: OfferList): Uint32Array | Promise<Uint32Array> {
    const cached = this.#whole.get(list)
    if (cached !== undefined) return cached
    const { slots, log, orders } = this.#shelf
    const rules = this.ruleSetOf(list.rules)
    if (orders.size(list.order) > QUICK_ORDER || (rules !== null && !rules.isQuick(log)))
      return this.#inSlices(list.rules, (judged) => this.#select(list, judged))
    if (rules !== null) atOnce(rules.follow(slots, log))
    return atOnce(this.#select(list, rules))
  }

  *#select(list: OfferList, rules: RuleSet | null): Generator<void, Uint32Array> {
    const order = yield* this.#sorted(list)
    const all = new Uint32Array(order.length)
    let length = 0
    for (const some of selectMatching(list.filter, rules, this.#shelf.slots, order)) {
      all.set(some, length)
      length += some.length
      yield
    }
    const selected = all.slice(0, length)
    this.#whole.set(list, selected)
    return selected
  }
}
