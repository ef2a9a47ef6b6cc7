// What an app's rules say about every offer, found out once and kept as a bit for each: reading the words of an offer
// costs a hundred times as much as looking at its bit, and there is a list for every country, platform, category and order.
import { Cache } from '../../lib/cache.ts'
import type { Change, ChangeLog } from './change-log.ts'
import { foldText, Keywords } from './keywords.ts'
import { CATEGORIES } from './choices.ts'
import { isEnough, type MinReward } from './rewards.ts'
import type { Slots } from './slots.ts'

/** What an app does not show: by its publisher's choice, and by the operator's. */
export type ContentRules = {
  /** Another number for other rules, never 0. */
  id: number
  /** The same on every node for the same rules. */
  fingerprint: string
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
  /** By the operator: only these offers, or all but these; null: all. */
  listed: { only: boolean; offerIds: number[] } | null
  /** In ten thousandths of the app's currency, without a sale; null: any. */
  minReward: MinReward | null
}

const STEP = 64 // offers between two places where judging may be interrupted
const SOME = 2_000 // offers that are judged for the first time before a change may come in between
const QUICK = 500 // offers that may be judged at once
const COMPILED = 1_000

let serials = 0

export class RuleSet {
  /** Another number for each, never 0. */
  readonly serial = ++serials
  readonly #blocked: boolean[]
  readonly #paymentOffers: boolean
  readonly #keywords: Keywords
  readonly #listed: { only: boolean; offerIds: Float64Array } | null
  readonly #minReward: ContentRules['minReward']
  #allowed = new Uint8Array(0)
  /** How many slots were judged for the first time, and whether these were all there were. */
  #judged = 0
  #isJudged = false
  /** Of the catalogue: later changes are not in the bits. */
  #version = 0

  constructor(rules: ContentRules) {
    this.#blocked = CATEGORIES.map((name) => rules.blockedCategories.includes(name))
    this.#paymentOffers = rules.paymentOffers
    this.#keywords = keywordsOf(rules.blockedKeywords)
    this.#minReward = rules.minReward
    this.#listed = rules.listed && {
      only: rules.listed.only,
      offerIds: Float64Array.from(rules.listed.offerIds).toSorted(),
    }
  }

  /** About, with the bits it will have. */
  bytes(capacity: number): number {
    return 10_000 + capacity / 8 + (this.#listed?.offerIds.length ?? 0) * 8
  }

  /** What the bit of a slot says; `follow` must have run. */
  allows(slot: number): boolean {
    return (((this.#allowed[slot >> 3] as number) >> (slot & 7)) & 1) === 1
  }

  /** The same as it is, whatever its bit says. */
  allowsNow(slots: Slots, slot: number): boolean {
    const isListed = this.allowsOffer(slots.ids[slot] as number)
    return isListed && this.allowsContent(slots, slot) && this.allowsReward(slots, slot)
  }

  allowsContent(slots: Slots, slot: number): boolean {
    if (this.#blocked[slots.category(slot)] || (!this.#paymentOffers && slots.isPaid(slot))) return false
    return this.#keywords.isEmpty || !this.#keywords.appearIn(foldText(slots.words(slot)))
  }

  allowsReward(slots: Slots, slot: number): boolean {
    if (this.#minReward === null) return true
    const { payoutMicros, goals } = slots.record(slot)
    return isEnough([payoutMicros, ...goals.map((goal) => goal.payoutMicros)], this.#minReward)
  }

  allowsOffer(offerId: number): boolean {
    if (this.#listed === null) return true
    const { only, offerIds } = this.#listed
    let [low, high] = [0, offerIds.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((offerIds[middle] as number) < offerId) low = middle + 1
      else high = middle
    }
    return (offerIds[low] === offerId) === only
  }

  /** Whether every offer was judged once; until then, `judgeSome` has more to do, and after it `follow`. */
  get isJudged(): boolean {
    return this.#isJudged
  }

  /** Judges some of those that never were. Changes may come in between: `follow` judges what they changed again. */
  *judgeSome(slots: Slots, count: number, log: ChangeLog): Generator<void, void> {
    if (this.#isJudged) return
    if (log.since(this.#version) === null) this.#judged = 0 // too many changes came in between: from the start
    if (this.#judged === 0) this.#version = log.version
    this.#makeRoom(slots)
    for (const end = Math.min(count, this.#judged + SOME); this.#judged < end; this.#judged++) {
      this.#judge(slots, this.#judged)
      if (this.#judged % STEP === 0) yield
    }
    this.#isJudged = this.#judged === count
  }

  /** Whether the changes that it missed are still known. */
  canFollow(log: ChangeLog): boolean {
    return this.#isJudged && log.since(this.#version) !== null
  }

  /** Whether following them takes next to no time. */
  isQuick(log: ChangeLog): boolean {
    return this.#isJudged && sizeOf(log.since(this.#version) ?? []) <= QUICK
  }

  /** Judges again what changed. */
  *follow(slots: Slots, log: ChangeLog): Generator<void, void> {
    const missed = log.since(this.#version)
    if (missed === null) throw new Error('The changes that a rule set missed are not known any more.')
    if (missed.length === 0) return
    this.#makeRoom(slots)
    const isQuick = sizeOf(missed) <= QUICK // then it is never found half done
    for (const change of missed) {
      change.allowedBefore.set(
        this,
        Uint8Array.from(change.slots, (slot) => (this.allows(slot) ? 1 : 0)),
      )
      for (const [i, slot] of change.slots.entries()) {
        this.#judge(slots, slot)
        if (!isQuick && i % STEP === 0) yield
      }
    }
    this.#version = log.version
  }

  #makeRoom({ capacity }: Slots): void {
    if (this.#allowed.length * 8 >= capacity) return
    const larger = new Uint8Array(Math.ceil(capacity / 8))
    larger.set(this.#allowed)
    this.#allowed = larger
  }

  #judge(slots: Slots, slot: number): void {
    if (this.allowsNow(slots, slot)) this.#allowed[slot >> 3]! |= 1 << (slot & 7)
    else this.#allowed[slot >> 3]! &= ~(1 << (slot & 7))
  }
}

const sizeOf = (changes: readonly Change[]) => changes.reduce((sum, change) => sum + change.slots.length, 0)

/** The same for an offer that is not at hand as a slot. */
export function isContentAllowed(
  rules: Pick<ContentRules, 'blockedCategories' | 'blockedKeywords' | 'paymentOffers'>,
  offer: { category: string; paymentRequired: boolean; name: string; description: string },
): boolean {
  if (rules.blockedCategories.includes(offer.category) || (!rules.paymentOffers && offer.paymentRequired)) return false
  if (rules.blockedKeywords.length === 0) return true
  return !keywordsOf(rules.blockedKeywords).appearIn(foldText(`${offer.name}\n${offer.description}`))
}

const compiled = new Cache<string, Keywords>(COMPILED)

function keywordsOf(keywords: readonly string[]): Keywords {
  const key = JSON.stringify(keywords)
  const known = compiled.get(key) ?? new Keywords(keywords)
  compiled.set(key, known)
  return known
}
