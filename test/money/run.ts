// Takes steps on both sides, the program and the book, and compares them after each.
//
// What runs at once must come out as if it had run one after the other, in some order: every order is applied to a copy
// of the book, and one of them must give the program's answers and the program's rows.
import assert from 'node:assert/strict'
import type { Database } from '../../src/db/open.ts'
import { rollUpBalances } from '../../src/features/users/rollup.ts'
import { apply } from './apply.ts'
import { Book } from './book.ts'
import { grouped } from './entries.ts'
import { type Answer, type Action, OFFERS, type Start, type Step } from './actions.ts'
import { System, type Done } from './system.ts'
import {
  checkBalances,
  checkHistory,
  checkHolds,
  checkLists,
  checkMoney,
  checkOnce,
  checkPostbacks,
  checkRewards,
  checkShownEntries,
} from './invariants.ts'
import { Resolver } from './resolve.ts'
import { Retries } from './retries.ts'
import { readState, withReader } from './state.ts'

/** What posts nothing and moves nothing that was posted: balances stay as they are. */
const CHANGES_NO_BALANCE: Action['kind'][] = ['click', 'drop', 'caps', 'import', 'status', 'share']
const FIRST_HOUR_MS = Date.parse('2026-03-10T00:00:00Z')
const HOUR_MS = 3_600_000
const BRIEFLY_MS = 50
const A_WHILE_MS = 40 * 24 * HOUR_MS // longer than any hold

export const takeSteps = (database: Database, start: Start, steps: Step[]): Promise<void> =>
  withReader(database, (reader) => takeAll(new System(database, reader), start, steps))

async function takeAll(system: System, start: Start, steps: Step[]): Promise<void> {
  let nowMs = FIRST_HOUR_MS + start.hour * HOUR_MS
  const offers = OFFERS.map((offer, i) => ({ ...structuredClone(offer), caps: start.caps[i] ?? offer.caps }))
  await system.open(offers, start, new Date(nowMs))
  await readState(system, new Date(nowMs)) // for the terms of the first clicks
  const resolver = new Resolver(start)
  const retries = new Retries()
  let books = [new Book(offers, start)]
  for (const { waitS, tracks, diesAt = null } of steps) {
    nowMs += waitS * 1000
    const actions = resolver.step(tracks, books[0] as Book, system.termsIds, nowMs)
    if (diesAt !== null) await system.dieDoing(actions, diesAt, new Date(nowMs))
    books = await takeStep(system, books, actions, nowMs, retries)
  }
  for (const callback of retries.all())
    books = await takeStep(system, books, [[{ ...callback, label: resolver.nextLabel() }]], nowMs, retries)
  await checkLists(system, books[0] as Book)
  nowMs += A_WHILE_MS
  books = await takeStep(system, books, [[{ kind: 'round', label: resolver.nextLabel() }]], nowMs, retries)
  for (const callback of retries.all())
    books = await takeStep(system, books, [[{ ...callback, label: resolver.nextLabel() }]], nowMs, retries)
  await checkHolds(system, new Date(nowMs))
  await checkHistory(system)
  await checkPostbacks(system)
  await checkShownEntries(system)
  await checkOnce(system)
  await checkLists(system, books[0] as Book)
  await checkMoney(system, books[0] as Book)
  await checkRewards(system, books[0] as Book)
  await checkBalances(system, books[0] as Book)
}

/** Returns every book that the program may have followed; there are several where what differs has not shown yet. */
async function takeStep(
  system: System,
  books: Book[],
  tracks: Action[][],
  nowMs: number,
  retries: Retries,
): Promise<Book[]> {
  const now = new Date(nowMs)
  const before = system.entries
  const mayPost = tracks.flat().some(({ kind }) => !CHANGES_NO_BALANCE.includes(kind))
  const [done] = await Promise.all([
    Promise.all(tracks.map((actions) => system.perform(actions, now))),
    mayPost && rollUpBalances(system.db, BRIEFLY_MS), // while entries are being written
  ])
  system.learn(done.flat())
  const seen = { answers: answersOf(system, done.flat()), ...(await readState(system, now)) }
  system.entries = seen.entries
  const [only, ...others] = tracks.flat()
  // Calls that waited for the click go first: what changes may be theirs.
  const isAlone = others.length === 0 && books.every((book) => book.waiting.length === 0)
  if (isAlone) retries.check(only, before, seen.entries)
  for (const action of tracks.flat()) retries.note(action, seen.answers.get(action.label))
  const orders = permutations(tracks.flatMap((track) => piecesOf(track, books[0] as Book))).filter(isPossible)
  const fitting = new Map<string, Book>()
  for (const order of books.flatMap((book) => orders.map((actions) => ({ book, actions: actions.flat() })))) {
    const story = replay(order.book.clone(), order.actions, nowMs)
    if (isSame(story.seen, seen)) fitting.set(story.book.summary(), story.book)
  }
  if (fitting.size > 0) return [...fitting.values()]
  const said = tracks
    .map((actions) => actions.map((action) => JSON.stringify(action)).join('\n'))
    .join('\nand at once\n')
  assert.deepEqual(seen, replay(books[0] as Book, tracks.flat(), nowMs).seen, `At ${now.toISOString()}\n${said}`)
  assert.fail('unreachable')
}

/**
 * A batch of commands is applied as a whole; clicks that come together may be recorded one by one. What an offer has used
 * is counted after its first caps are set, and others may come between.
 */
function piecesOf(track: Action[], book: Book): Action[][] {
  const [first] = track
  if (first?.kind === 'click') return track.map((action) => [action])
  if (first?.kind !== 'caps' || book.isCapped(first.offer)) return [track]
  return [[{ ...first, isCounting: true }], [{ kind: 'counted', label: first.label, offer: first.offer }]]
}

const isPossible = (order: Action[][]) => {
  const kinds = order.flat().map(({ kind, label }) => `${kind} ${label}`)
  return order.flat().every(({ kind, label }, i) => kind !== 'counted' || kinds.indexOf(`caps ${label}`) < i)
}

function replay(book: Book, actions: Action[], nowMs: number) {
  const answers = new Map(actions.map((action) => [action.label, apply(book, action, nowMs)]))
  const { entries, offers } = book
  const usage = book.allUsage(nowMs)
  return { book, seen: { answers, entries: grouped(entries), offers, usage, money: book.money() } }
}

const answersOf = (system: System, done: Done[]) =>
  new Map<number, Answer>(done.map((one) => [one.action.label, system.answer(one)]))

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
