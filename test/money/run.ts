// Takes steps on both sides, the program and the book, and compares them after each.
//
// What runs at once must come out as if it had run one after the other, in some order: every order is tried on a
// copy of the book, and one of them must give the program's answers and the program's rows.
import assert from 'node:assert/strict'
import { uuid7 } from '../../src/lib/uuid7.ts'
import type { World } from '../world.ts'
import { apply } from './apply.ts'
import { Book, grouped } from './book.ts'
import { type Answer, type Deed, EXTRA, OFFERS, type OfferTerms, type Order, type Start, type Step } from './deeds.ts'
import { Desk, type Done } from './desk.ts'
import {
  checkHistory,
  checkHolds,
  checkLists,
  checkMoney,
  checkOnce,
  readEntries,
  readOffers,
  readUsage,
} from './invariants.ts'

const FIRST_HOUR_MS = Date.parse('2026-03-10T00:00:00Z')
const HOUR_MS = 3_600_000
const A_WHILE_MS = 40 * 24 * HOUR_MS // longer than any hold

export async function takeSteps(world: World, start: Start, steps: Step[]): Promise<void> {
  const { caps, trusts, tooFastS, hour } = start
  let nowMs = FIRST_HOUR_MS + hour * HOUR_MS
  const offers = OFFERS.map((offer, i) => ({ ...structuredClone(offer), caps: caps[i] ?? offer.caps }))
  const desk = new Desk(world)
  await desk.open(offers, start, new Date(nowMs))
  let books = [new Book(offers, trusts, tooFastS)]
  let label = 0
  for (const { waitS, lanes } of steps) {
    nowMs += waitS * 1000
    const termsIds = await desk.termsIds()
    const deeds = lanes.map((lane) =>
      lane.flatMap((order) => resolve(narrow(order, start), books[0] as Book, { termsIds, nowMs, label: label++ })),
    )
    books = await takeStep(
      desk,
      books,
      deeds.map((lane) => apart(lane, books[0] as Book)),
      nowMs,
    )
  }
  nowMs += A_WHILE_MS
  books = await takeStep(desk, books, [[{ kind: 'round', label }]], nowMs)
  await checkHolds(desk, new Date(nowMs))
  await checkHistory(desk)
  await checkOnce(desk)
  await checkLists(desk, books[0] as Book)
  await checkMoney(desk, books[0] as Book)
}

function narrow(order: Order, { onlyOffer, onlyPerson }: Start): Order {
  const narrowed = { ...order }
  if ('offer' in narrowed) narrowed.offer = onlyOffer ?? narrowed.offer
  if ('person' in narrowed) narrowed.person = onlyPerson ?? narrowed.person
  return narrowed
}

/** What only its transaction or its entry says whom it is about is looked up before its batch is settled: it comes alone. */
function apart(lane: Deed[], book: Book): Deed[] {
  if (lane.length === 1) return lane
  const isKnown = (label: number | null) => book.clicks.some((one) => one.label === label)
  return lane.filter((deed) => deed.kind !== 'confirm' || (!deed.isClickless && isKnown(deed.click)))
}

type Circumstances = { termsIds: number[]; nowMs: number; label: number }

/** Whatever an order picks is chosen before the step begins: nobody names what does not exist yet. */
function resolve(order: Order, book: Book, { termsIds, nowMs, label }: Circumstances): Deed[] {
  const pick = <T>(some: T[], n: number) => some.at(-1 - (n % (some.length + 1))) ?? null // the newest first
  const keyOf = (offer: number, n: number | null) =>
    n === null ? null : ([...(OFFERS[offer]?.goals ?? []), EXTRA][n]?.key ?? 'None')
  switch (order.kind) {
    case 'click': {
      const terms = book.offers[order.offer] as OfferTerms
      // Where it is paused nobody gets as far as a click.
      if (terms.status !== 'active') return []
      return [{ ...order, label, terms, termsId: termsIds[order.offer] ?? 0, clickId: uuid7(nowMs) }]
    }
    case 'confirm': {
      // Also those that are dropped, as far as an entry remembers them.
      const remembered = book.entries.flatMap((one) =>
        one.click === null ? [] : [{ label: one.click, offer: one.offer }],
      )
      const all = [...book.clicks, ...remembered].toSorted((a, b) => (a.label ?? 0) - (b.label ?? 0))
      const click = pick(all, order.click)
      const goal = keyOf(click?.offer ?? 0, order.goal)
      const { offers, retired } = book
      const terms = book.clicks.find((one) => one.label === click?.label)?.terms ?? termsOf(book, click?.label ?? null)
      const goals = [terms?.goals, offers[click?.offer ?? 0]?.goals, retired[click?.offer ?? 0]].flatMap(
        (one) => one ?? [],
      )
      const called = goals.find((one) => one.key === goal)?.name ?? null
      return [{ ...order, label, click: click?.label ?? null, goal, called }]
    }
    case 'report':
      return [{ ...order, label, goal: keyOf(order.offer, order.goal) }]
    case 'move':
    case 'release':
      return [{ ...order, label, conversion: pick(book.entries, order.conversion)?.label ?? null }]
    case 'import':
      return [{ kind: 'import', label, offer: order.offer, terms: repriced(order, book) }]
    case 'edit':
      return [{ kind: 'import', label, offer: order.offer, terms: edited(order, book) }]
    default:
      return [{ ...order, label }]
  }
}

const termsOf = (book: Book, click: number | null) =>
  book.promises[book.entries.find((one) => click !== null && one.click === click)?.label ?? -1]?.terms

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
  const chosen = goals[place] as OfferTerms['goals'][number]
  const replaced = (more: Partial<typeof chosen>) => goals.with(place, { ...chosen, ...more })
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

/** Returns every book that the program may have followed; there are several where what differs has not shown yet. */
async function takeStep(desk: Desk, books: Book[], lanes: Deed[][], nowMs: number): Promise<Book[]> {
  const now = new Date(nowMs)
  const done = await Promise.all(lanes.map((deeds) => desk.perform(deeds, now)))
  desk.learn(done.flat())
  const seen = {
    answers: answersOf(desk, done.flat()),
    entries: await readEntries(desk),
    offers: await readOffers(desk),
    usage: await readUsage(desk, now),
  }
  const orders = permutations(lanes.flatMap(piecesOf))
  const fitting = new Map<string, Book>()
  for (const order of books.flatMap((book) => orders.map((deeds) => ({ book, deeds: deeds.flat() })))) {
    const story = tell(order.book.clone(), order.deeds, nowMs)
    if (isSame(story.seen, seen)) fitting.set(story.book.summary(), story.book)
  }
  if (fitting.size > 0) return [...fitting.values()]
  const said = lanes.map((deeds) => deeds.map((deed) => JSON.stringify(deed)).join('\n')).join('\nand at once\n')
  assert.deepEqual(seen, tell(books[0] as Book, lanes.flat(), nowMs).seen, `At ${now.toISOString()}\n${said}`)
  assert.fail('unreachable')
}

/** What is settled together is settled whole; clicks that come together may be recorded one by one. */
const piecesOf = (lane: Deed[]): Deed[][] => (lane[0]?.kind === 'click' ? lane.map((deed) => [deed]) : [lane])

function tell(book: Book, deeds: Deed[], nowMs: number) {
  const answers = new Map(deeds.map((deed) => [deed.label, apply(book, deed, nowMs)]))
  return { book, seen: { answers, entries: grouped(book.entries), offers: book.offers, usage: book.allUsage(nowMs) } }
}

const answersOf = (desk: Desk, done: Done[]) =>
  new Map<number, Answer>(done.map((one) => [one.deed.label, desk.answer(one)]))

function isSame(a: unknown, b: unknown): boolean {
  try {
    assert.deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

function permutations<T>(some: T[]): T[][] {
  if (some.length < 2) return [some]
  return some.flatMap((one, i) => permutations(some.toSpliced(i, 1)).map((rest) => [one, ...rest]))
}
