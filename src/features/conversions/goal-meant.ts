// Which goal a report or a confirmation is about.
//
// The catalogue changes between two calls that say the same, so what was promised goes before what is offered now: a
// click's terms hold its goals with their names and their order. What was recorded for a transaction, or for a click whose
// terms have no order yet, goes before both.
import type { Confirmation, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { ClickFacts, GoalFacts, OfferFacts } from './facts.ts'

/** What an advertiser's "no" is: there is nothing to pay for, or it is taken back. */
export const saysNo = ({ status }: Confirmation) => status === 'rejected' || status === 'reversed'

/** What the offer has now, what the click was promised, and what the user has a conversion of. */
function knownGoals(offer: OfferFacts, click: ClickFacts | null, ofUser: readonly Conversion[]): GoalFacts[] {
  const isKnown = ({ goal_id }: GoalFacts) =>
    click?.terms[goal_id] !== undefined || ofUser.some((one) => one.goal_id === goal_id)
  return offer.goals.filter((goal) => !goal.is_retired || isKnown(goal))
}

/** The first goal of the click's own terms; without a click, of the offer as it is. */
export function firstGoal(offer: OfferFacts, click: ClickFacts | null): GoalFacts | undefined {
  const promised = offer.goals.filter((goal) => click?.terms[goal.goal_id] !== undefined)
  const placeOf = (goal: GoalFacts) => click?.terms[goal.goal_id]?.place ?? Infinity
  const [first] = promised.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (first !== undefined && placeOf(first) < Infinity) return first
  // Terms of before have no order: that of the offer must do.
  return promised.find((goal) => !goal.is_retired) ?? first ?? offer.goals.find((goal) => !goal.is_retired)
}

const hasOrder = ({ terms }: ClickFacts) => Object.values(terms).some(({ place }) => place !== undefined)

/** By the advertiser's id, ours, or its name: as the click was promised it, then as it is called now. */
function namedGoal(goals: readonly GoalFacts[], wanted: string, click: ClickFacts): GoalFacts | undefined {
  const text = wanted.trim().toLowerCase()
  const isText = (name: string | null | undefined) => name?.toLowerCase() === text
  return (
    goals.find((goal) => isText(click.terms[goal.goal_id]?.external_id)) ??
    goals.find((goal) => String(goal.goal_id) === text) ??
    goals.find((goal) => isText(click.terms[goal.goal_id]?.name)) ??
    goals.find((goal) => isText(goal.external_id)) ??
    goals.find((goal) => isText(goal.name))
  )
}

/** `ofUser`: everything that the click's user has of the offer. */
export function goalOfConfirmation(
  told: Confirmation,
  offer: OfferFacts,
  click: ClickFacts,
  ofUser: readonly Conversion[],
): GoalFacts | 'no_goal' | 'ambiguous' {
  const goals = knownGoals(offer, click, ofUser)
  const named = told.goal === null ? undefined : namedGoal(goals, told.goal, click)
  if (named !== undefined) return named
  // A "no" to a goal that was called so once still reaches its transaction.
  if (told.goal !== null && !saysNo(told)) return 'no_goal'
  const first = firstGoal(offer, click)
  const isOnlyRecorded = told.clickId === null || told.clickId !== click.click_id
  if (told.goal === null && hasOrder(click) && !saysNo(told) && !isOnlyRecorded) return first ?? 'no_goal'
  const recorded = ofUser.filter((one) =>
    told.transactionId === null
      ? one.goal_id === first?.goal_id || (one.click_id !== null && one.click_id === click.click_id)
      : one.advertiser_transaction_id === told.transactionId,
  )
  const standing = recorded.filter((one) => one.status !== 'rejected')
  const goalIds = [...new Set((standing.length > 0 ? standing : recorded).map((one) => one.goal_id))]
  if (told.goal === null && first !== undefined && (goalIds.length === 0 || goalIds.includes(first.goal_id)))
    return first
  if (goalIds.length === 1) return goals.find((goal) => goal.goal_id === goalIds[0]) ?? 'no_goal'
  if (told.goal !== null) return 'no_goal'
  return isOnlyRecorded ? 'ambiguous' : (first ?? 'no_goal')
}

export function goalOfReport(
  report: Report,
  offer: OfferFacts,
  click: ClickFacts | null,
  ofUser: readonly Conversion[],
): GoalFacts | undefined {
  const goals = knownGoals(offer, click, ofUser)
  if (report.goalId !== null) return goals.find((goal) => goal.goal_id === report.goalId)
  // The same report again is about the same goal, whatever is the first one by now.
  const same = ofUser.findLast(
    (one) => one.is_first_goal && one.source === 'publisher' && one.publisher_transaction_id === report.transactionId,
  )
  if (same !== undefined && (report.transactionId !== null || click === null))
    return goals.find((goal) => goal.goal_id === same.goal_id)
  return firstGoal(offer, click)
}

/** Whether the goal pays more than once: as the click was promised, as its conversion was recorded, or as it is now. */
export function isRepeatable(goal: GoalFacts, click: ClickFacts | null, ofGoal: readonly Conversion[]): boolean {
  const recorded = click === null ? undefined : ofGoal.find((one) => one.click_id === click.click_id)
  return click?.terms[goal.goal_id]?.is_repeatable ?? recorded?.is_repeatable ?? goal.is_repeatable
}
