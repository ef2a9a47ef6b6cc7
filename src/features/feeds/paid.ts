// What an upstream itself pays for an offer, whatever the operator has set: by how much it changes decides what waits for
// approval.
import { isDeepStrictEqual } from 'node:util'
import type { MappedOffer } from './mapping/map-offer.ts'

/** By goal of the upstream. */
type Amounts = Record<string, number>

/**
 * In micros of the upstream's currency, which is empty where it names none, and null where it is not known any more. Of
 * what earlier versions wrote, only the sum is known.
 */
export type Paid = { currency: string | null; micros: number; goals?: Amounts; usd?: Amounts }

/** Of an offer that another one was a part of: what the upstream paid, and what publishers were paid. */
export type SplitFrom = { paid: Paid; payout: unknown }

type ShownGoal = { external_id: string | null; revenue: number }
/** An offer with its goals, as an import would take it. */
type Shown = Record<string, unknown>

export const paidFor = ({ currency, goals }: MappedOffer): Paid => ({
  currency,
  micros: sumOf(goals.map(({ micros }) => micros)),
  goals: Object.fromEntries(goals.map(({ external_id, micros }) => [external_id, micros])),
})

/** With what that is in dollars, which is compared where the upstream changes its currency. */
export const withDollars = (paid: Paid | null, offer: Shown): Paid => ({
  ...(paid ?? { currency: null, micros: 0 }),
  usd: paid?.usd ?? Object.fromEntries(((offer['goals'] ?? []) as ShownGoal[]).map(({ external_id, revenue }) => [external_id ?? '', revenue])), // prettier-ignore
})

/** Whatever that is in dollars. */
export const isSamePaid = (one: Paid | null, other: Paid) =>
  one !== null && one.currency === other.currency && isDeepStrictEqual(one.goals, other.goals)

/** In millionths: of the sum or of a goal that both have, whichever changes more. */
export function changeOfPaid(before: Paid, now: Paid): number {
  const isSameCurrency = before.currency === now.currency
  const [old = {}, goals = {}] = isSameCurrency ? [before.goals, now.goals] : [before.usd, now.usd]
  const sums = isSameCurrency ? [before.micros, now.micros] : [old, goals].map((all) => sumOf(Object.values(all)))
  const changes = Object.keys(old).filter((id) => Object.hasOwn(goals, id)).map((id) => changeOfGoal(old[id], goals[id])) // prettier-ignore
  return Math.max(changeOf(sums[0], sums[1]), ...changes)
}

const changeOf = (before = 0, after = 0) => (before === 0 ? 0 : (Math.abs(after - before) / before) * 1_000_000)

/** One that paid nothing, a step of its offer, pays all of it anew. */
const changeOfGoal = (before = 0, after = 0) => (before === 0 && after > 0 ? Infinity : changeOf(before, after))

const sumOf = (amounts: number[]) => amounts.reduce((sum, one) => sum + one, 0)
