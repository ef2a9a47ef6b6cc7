// What comes of a deed in the book.
import { type Book, type Entry, move, same } from './book.ts'
import { confirm } from './confirming.ts'
import type { Answer, Deed } from './deeds.ts'
import { report } from './reporting.ts'

export function apply(book: Book, deed: Deed, nowMs: number): Answer {
  switch (deed.kind) {
    case 'click':
      return click(book, deed, nowMs)
    case 'report':
      return report(book, deed, nowMs)
    case 'confirm':
      return confirm(book, deed, nowMs)
    case 'move':
      return decide(book, deed)
    case 'release':
      return release(book, deed.conversion, nowMs)
    case 'round': {
      const due = book.entries.filter((one) => isDue(one, nowMs)).map((one) => one.label)
      for (const label of due) release(book, label, nowMs)
      return { kind: 'released', labels: due.toSorted((a, b) => a - b) }
    }
    case 'caps':
      Object.assign(book.offer(deed.offer), { caps: deed.caps, overCap: deed.overCap })
      return { kind: 'done' }
    case 'import':
      book.offers[deed.offer] = structuredClone(deed.terms)
      return { kind: 'done' }
    case 'status':
      book.offer(deed.offer).status = deed.status
      return { kind: 'done' }
  }
}

/** "Caps close clicks exactly." */
function click(book: Book, deed: Extract<Deed, { kind: 'click' }>, nowMs: number): Answer {
  const { label, person, offer, isTest, terms } = deed
  if (!isTest && book.isFull(offer, nowMs)) return { kind: 'full' }
  book.clicks.push({ label, person, offer, isTest, atMs: nowMs, terms: structuredClone(terms) })
  book.clicks.sort((a, b) => a.label - b.label) // of what came at once, too, the ids say what is the latest
  if (!isTest && book.isCapped(offer)) book.counted.push({ offer, atMs: nowMs })
  return { kind: 'recorded' }
}

/** The operator's word. */
function decide(book: Book, { conversion, to }: Extract<Deed, { kind: 'move' }>): Answer {
  if (conversion === null) return { kind: 'no_conversion' }
  const one = book.find(conversion)
  if (one.status === to) return same(one)
  const from = to === 'reversed' ? 'approved' : 'pending'
  return one.status === from ? move(one, to, 'operator', 'operator') : { ...same(one), kind: 'illegal' }
}

function release(book: Book, label: number | null, nowMs: number): Answer {
  if (label === null) return { kind: 'no_conversion' }
  const one = book.find(label)
  return isDue(one, nowMs) ? move(one, 'approved', null, 'system') : same(one)
}

const isDue = (one: Entry, nowMs: number) =>
  one.status === 'pending' && one.holdUntilMs !== null && one.holdUntilMs <= nowMs
