// Callbacks that come again, word for word, as advertisers send them when they have lost the response.
import assert from 'node:assert/strict'
import type { Action, Answer } from './actions.ts'
import { type Entry, isStanding, isTurnedDown } from './entries.ts'

type Callback = Extract<Action, { kind: 'confirm' }>

const wordsOf = (callback: Callback) => JSON.stringify({ ...callback, label: null })
const isDenial = ({ status }: Callback) => status === 'rejected' || status === 'reversed'
const isOver = (one: Entry) => one.status === 'reversed' || (one.status === 'rejected' && isTurnedDown(one))

export class Retries {
  /** The callbacks that were acknowledged, by their words, and the conversion that was named. */
  readonly #first = new Map<string, { action: Callback; label: number }>()

  note(action: Action, answer: Answer | undefined): void {
    if (action.kind !== 'confirm' || action.isAgain || answer === undefined || !('label' in answer)) return
    const words = wordsOf(action)
    if (!this.#first.has(words)) this.#first.set(words, { action, label: answer.label })
  }

  /** All of them, in the order in which they came. */
  all = (): Callback[] => [...this.#first.values()].map(({ action }) => action)

  /** What comes again is about what it was about before: its conversion, its click and its transaction. */
  check(action: Action | undefined, before: Entry[], after: Entry[]): void {
    if (action?.kind !== 'confirm') return
    const first = this.#first.get(wordsOf(action))
    if (first === undefined) return
    const named = before.find(({ label }) => label === first.label)
    // Of what repeats, one click may have several: which one is meant, the transaction says.
    const isMeant = (one: Entry) => named?.isRepeatable !== true || one.advertiserTxn === action.txn
    const isOwn = (one: Entry) =>
      one.label === first.label ||
      (one.click !== null && one.click === action.click && isMeant(one)) ||
      (action.txn !== null && one.advertiserTxn === action.txn)
    const isReported = (one: Entry) => action.txn !== null && one.publisherTxn === action.txn
    const changed = after.filter((one) => {
      const old = before.find(({ label }) => label === one.label)
      return JSON.stringify(old) !== JSON.stringify(one) && (old === undefined || !(isOwn(old) || isReported(old)))
    })
    // "A rejected one can be confirmed again."
    const own = before.filter((one) => isOwn(one) && one.goal === named?.goal)
    const mayCountAgain = !isDenial(action) && !own.some((one) => isStanding(one) || isOver(one))
    if (mayCountAgain) return
    const isNew = (one: Entry) => !before.some(({ label }) => label === one.label)
    const wrong = changed.filter((one) => !isNew(one) || isStanding(one))
    assert.deepEqual(wrong, [], `A callback changed something else when it came again: ${JSON.stringify(action)}`)
  }
}
