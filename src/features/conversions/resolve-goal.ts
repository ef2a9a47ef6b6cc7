// Which goal a report or a confirmation is about.
//
// The catalogue changes between two identical calls, so what was promised takes precedence over what is offered now: a
// click's terms hold its goals with their names and order. What was recorded for a transaction, or for a click whose
// terms have no order yet, takes precedence over both.
import type { Confirmation, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { ClickSnapshot, GoalSnapshot, OfferSnapshot } from './decision-context.ts'

/** Whether an advertiser denies the conversion: there is nothing to pay for, or it is reversed. */
export const isDenial = ({ status }: Confirmation) => status === 'rejected' || status === 'reversed'

/** The goals the offer has now, those promised to the click, and those the user has a conversion of. */
function knownGoals(offer: OfferSnapshot, click: ClickSnapshot | null, ofUser: readonly Conversion[]): GoalSnapshot[] {
  const isKnown = ({ goal_id }: GoalSnapshot) =>
    click?.terms[goal_id] !== undefined || ofUser.some((one) => one.goal_id === goal_id)
  return offer.goals.filter((goal) => !goal.is_retired || isKnown(goal))
}

/** The first goal of the click's terms; without a click, of the offer as it is now. */
export function firstGoal(offer: OfferSnapshot, click: ClickSnapshot | null): GoalSnapshot | undefined {
  const promised = offer.goals.filter((goal) => click?.terms[goal.goal_id] !== undefined)
  const placeOf = (goal: GoalSnapshot) => click?.terms[goal.goal_id]?.place ?? Infinity
  const [first] = promised.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (first !== undefined && placeOf(first) < Infinity) return first
  // Old terms have no order: that of the offer is used.
  return promised.find((goal) => !goal.is_retired) ?? first ?? offer.goals.find((goal) => !goal.is_retired)
}

const hasOrder = ({ terms }: ClickSnapshot) => Object.values(terms).some(({ place }) => place !== undefined)

/** By the advertiser's ID, ours, or its name: as promised to the click, then as it is now. */
function namedGoal(goals: readonly GoalSnapshot[], wanted: string, click: ClickSnapshot): GoalSnapshot | undefined {
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

/** `ofUser`: all conversions that the click's user has of the offer. */
export function goalOfConfirmation(
  confirmation: Confirmation,
  offer: OfferSnapshot,
  click: ClickSnapshot,
  ofUser: readonly Conversion[],
): GoalSnapshot | 'no_goal' | 'ambiguous' {
  const goals = knownGoals(offer, click, ofUser)
  const named = confirmation.goal === null ? undefined : namedGoal(goals, confirmation.goal, click)
  if (named !== undefined) return named
  // A denial of a goal by its former name still reaches its transaction.
  if (confirmation.goal !== null && !isDenial(confirmation)) return 'no_goal'
  const first = firstGoal(offer, click)
  const isOnlyRecorded = confirmation.clickId === null || confirmation.clickId !== click.click_id
  if (confirmation.goal === null && hasOrder(click) && !isDenial(confirmation) && !isOnlyRecorded)
    return first ?? 'no_goal'
  const recorded = ofUser.filter((one) =>
    confirmation.transactionId === null
      ? one.goal_id === first?.goal_id || (one.click_id !== null && one.click_id === click.click_id)
      : one.advertiser_transaction_id === confirmation.transactionId,
  )
  const standing = recorded.filter((one) => one.status !== 'rejected')
  const goalIds = [...new Set((standing.length > 0 ? standing : recorded).map((one) => one.goal_id))]
  if (confirmation.goal === null && first !== undefined && (goalIds.length === 0 || goalIds.includes(first.goal_id)))
    return first
  if (goalIds.length === 1) return goals.find((goal) => goal.goal_id === goalIds[0]) ?? 'no_goal'
  if (confirmation.goal !== null) return 'no_goal'
  return isOnlyRecorded ? 'ambiguous' : (first ?? 'no_goal')
}

export function goalOfReport(
  report: Report,
  offer: OfferSnapshot,
  click: ClickSnapshot | null,
  ofUser: readonly Conversion[],
): GoalSnapshot | undefined {
  const goals = knownGoals(offer, click, ofUser)
  if (report.goalId !== null) return goals.find((goal) => goal.goal_id === report.goalId)
  // A repeated report is about the same goal, whichever is the first one by now.
  const same = ofUser.findLast(
    (one) => one.is_first_goal && one.source === 'publisher' && one.publisher_transaction_id === report.transactionId,
  )
  if (same !== undefined && (report.transactionId !== null || click === null))
    return goals.find((goal) => goal.goal_id === same.goal_id)
  return firstGoal(offer, click)
}

/** Whether the goal pays more than once: as promised to the click, as recorded, or as it is now. */
export function isRepeatable(goal: GoalSnapshot, click: ClickSnapshot | null, ofGoal: readonly Conversion[]): boolean {
  const recorded = click === null ? undefined : ofGoal.find((one) => one.click_id === click.click_id)
  return click?.terms[goal.goal_id]?.is_repeatable ?? recorded?.is_repeatable ?? goal.is_repeatable
}
