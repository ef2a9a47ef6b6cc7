// From an order, which picks from what there is, to a action, of which everything is known.
import { uuid7 } from '../../src/lib/uuid7.ts'
import type { Book } from './book.ts'
import {
  type Action,
  EXTRA,
  type Goal,
  OFFERS,
  type OfferTerms,
  type Order,
  PEOPLE,
  type Start,
  type Call,
} from './actions.ts'

/** The newest first; now and then nothing. */
const pick = <T>(some: readonly T[], n: number): T | undefined => some.at(-1 - (n % (some.length + 1)))

const NO_GOAL = 'None'
const keyOf = (offer: number, n: number | null) =>
  n === null ? null : ([...(OFFERS[offer]?.goals ?? []), EXTRA][n]?.key ?? NO_GOAL)

export class Resolver {
  readonly #start: Start
  /** Every report and confirmation so far. */
  readonly #calls: Call[] = []
  #label = 0

  constructor(start: Start) {
    this.#start = start
  }

  /** Tracks that run at once. Where only names identify goals, two imports of one offer at once could mean anything. */
  step(tracks: Order[][], book: Book, termsIds: number[], nowMs: number): Action[][] {
    const imported = new Set<number>()
    const isClear = (action: Action) => {
      if (action.kind !== 'import' || this.#start.hasExternalIds) return true
      return !imported.has(action.offer) && imported.add(action.offer)
    }
    const actions = tracks.map((track) => this.#track(track, book, termsIds, nowMs).filter(isClear))
    // Clicks arrive one by one, each with what waits for it: nothing else comes between them. A call about a click at
    // the moment that it is dropped may wait, and finds another call's conversion when it is retried.
    const alone = actions.find(([action]) => ['arrive', 'drop', 'erase'].includes(action?.kind ?? ''))
    return alone === undefined ? actions : [alone]
  }

  /** Whatever a track picks is chosen before its step begins: no order names what does not exist yet. */
  #track(orders: Order[], book: Book, termsIds: number[], nowMs: number): Action[] {
    const actions = orders.flatMap((order) => this.#resolve(this.#narrow(order), book, termsIds, nowMs) ?? [])
    this.#calls.push(...actions.filter((action) => action.kind === 'confirm' || action.kind === 'report'))
    return apart(actions, book)
  }

  nextLabel = () => this.#label++

  #narrow(order: Order): Order {
    const { onlyOffer, onlyPerson } = this.#start
    const narrowed = { ...order }
    if ('offer' in narrowed) narrowed.offer = onlyOffer ?? narrowed.offer
    if ('person' in narrowed) narrowed.person = onlyPerson ?? narrowed.person
    if ('app' in narrowed && onlyPerson !== null) narrowed.app = PEOPLE[onlyPerson]?.app ?? narrowed.app
    return narrowed
  }

  #resolve(order: Order, book: Book, termsIds: number[], nowMs: number): Action | null {
    const label = this.nextLabel()
    switch (order.kind) {
      case 'click': {
        const terms = book.offer(order.offer)
        // A paused offer gets no clicks.
        if (terms.status !== 'active') return null
        const sharePpm = book.shareOf(order.person)
        return { ...order, label, terms, termsId: termsIds[order.offer] ?? 0, sharePpm, clickId: uuid7(nowMs) }
      }
      case 'confirm':
        return { ...order, label, ...confirmed(order, book) }
      case 'report':
        return { ...order, label, goal: keyOf(order.offer, order.goal) }
      case 'again': {
        const earlier = pick(this.#calls, order.call)
        if (earlier === undefined) return null
        return earlier.kind === 'report'
          ? { ...earlier, label }
          : { ...earlier, label, status: order.status ?? earlier.status }
      }
      case 'move':
      case 'release':
        return { ...order, label, conversion: pick(book.entries, order.conversion)?.label ?? null }
      case 'import':
        return { kind: 'import', label, offer: order.offer, terms: repriced(order, book) }
      case 'edit':
        return { kind: 'import', label, offer: order.offer, terms: edited(order, book) }
      case 'erase':
        return book.erased.includes(order.person) ? null : { ...order, label }
      default:
        return { ...order, label }
    }
  }
}

/**
 * A command identified only by its transaction or its entry is looked up before its batch is applied: it comes alone.
 * So does a call before which others wait.
 */
function apart(track: Action[], book: Book): Action[] {
  if (track.length === 1) return track
  const isKnown = (label: number | null) => book.clicks.some((one) => one.label === label)
  const isWaitedFor = (label: number | null) => book.waiting.some(({ action }) => action.click === label)
  return track.filter(
    (action) =>
      action.kind !== 'confirm' || (!action.isClickless && isKnown(action.click) && !isWaitedFor(action.click)),
  )
}

/** The click and the goal that a confirmation names. Clicks that are dropped count as far as an entry remembers them. */
function confirmed(order: Extract<Order, { kind: 'confirm' }>, book: Book) {
  const remembered = book.entries.flatMap((one) => (one.click === null ? [] : [{ label: one.click, offer: one.offer }]))
  const all = [...book.clicks, ...book.late, ...remembered].toSorted((a, b) => (a.label ?? 0) - (b.label ?? 0))
  const { label: click = null, offer = 0 } = pick(all, order.click) ?? {}
  const entry = book.entries.find((one) => click !== null && one.click === click)
  const terms =
    [...book.clicks, ...book.late].find((one) => one.label === click)?.terms ?? book.promises[entry?.label ?? -1]?.terms
  const goals = [...(terms?.goals ?? []), ...book.offer(offer).goals, ...(book.retired[offer] ?? [])]
  const key = keyOf(offer, order.goal)
  const known = goals.find((one) => one.key === key)
  // A goal that does not exist yet has no ID to name it by; its external ID is the advertiser's own.
  const isById = order.by === 'id' || (order.by === 'external id' && !book.rules.hasExternalIds)
  const goal = key !== null && isById && known === undefined ? NO_GOAL : key
  return { click, goal, ofOffer: offer, called: known?.name ?? null }
}

/** Everything but payouts, the attribution window and which goals there are stays as it is. */
function repriced(order: Extract<Order, { kind: 'import' }>, book: Book): OfferTerms {
  const first = OFFERS[order.offer] as OfferTerms
  const present = book.offer(order.offer)
  const goals = [...present.goals, ...(book.retired[order.offer] ?? [])].map((goal) => {
    const { payoutMicros, revenueMicros, payoutPpm } = first.goals.find((one) => one.key === goal.key) ?? EXTRA
    return {
      ...goal,
      payoutMicros: payoutMicros * order.price,
      revenueMicros: revenueMicros * order.price,
      payoutPpm: payoutPpm === null ? null : payoutPpm * order.price,
    }
  })
  return {
    ...present,
    goals: order.isWhole ? goals : goals.slice(0, 1),
    attributionS: order.isShort ? 600 : first.attributionS,
  }
}

/** One thing is different about the goals. */
function edited({ offer, goal: n, change, version }: Extract<Order, { kind: 'edit' }>, book: Book): OfferTerms {
  const present = book.offer(offer)
  const { goals } = present
  const place = n % goals.length
  const chosen = goals[place] as Goal
  const replaced = (more: Partial<Goal>) => goals.with(place, { ...chosen, ...more })
  const others = goals.toSpliced(place, 1)
  const extra = [...goals, ...(book.retired[offer] ?? [])].find((one) => one.key === EXTRA.key) ?? EXTRA
  const changed = {
    rename: () => replaced({ name: `${chosen.key} ${version}` }),
    first: () => [chosen, ...others],
    add: () => [extra, ...goals.filter((one) => one.key !== EXTRA.key)],
    retire: () => (others.length === 0 ? goals : others),
    repeatable: () => replaced({ isRepeatable: !chosen.isRepeatable }),
  }
  return { ...present, goals: changed[change]() }
}
