// Which goal a report or a confirmation is about.
//
// The catalogue changes between two identical calls, so what was promised takes precedence over what is offered now: a
// click's terms hold its goals with their names and order. What was recorded for a transaction, or for a click whose
// terms have no order yet, takes precedence over both.
import type { Confirmation, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import { isUnfilled } from './inbound/unfilled-macro.ts'
import type { GoalSnapshot, OfferSnapshot } from './offer-cache.ts'
import type { ClickSnapshot } from './read-clicks.ts'

/** Whether an advertiser denies the conversion: there is nothing to pay for, or it is reversed. */
export const isDenial = ({ status }: Confirmation) => status === 'rejected' || status === 'reversed'

/** The goals the offer has now, those promised to the click, and those the user has a conversion of. */
function knownGoals(offer: OfferSnapshot, click: ClickSnapshot | null, ofUser: readonly Conversion[]): GoalSnapshot[] {
  const isKnown = ({ goalId }: GoalSnapshot) =>
    click?.terms[goalId] !== undefined || ofUser.some((one) => one.goalId === goalId)
  return offer.goals.filter((goal) => !goal.isRetired || isKnown(goal))
}

/** The first goal of the click's terms; without a click, of the offer as it is now. */
export function firstGoal(offer: OfferSnapshot, click: ClickSnapshot | null): GoalSnapshot | undefined {
  const promised = offer.goals.filter((goal) => click?.terms[goal.goalId] !== undefined)
  const placeOf = (goal: GoalSnapshot) => click?.terms[goal.goalId]?.place ?? Infinity
  const [first] = promised.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (first !== undefined && placeOf(first) < Infinity) return first
  // Old terms have no order: that of the offer is used.
  return promised.find((goal) => !goal.isRetired) ?? first ?? offer.goals.find((goal) => !goal.isRetired)
}

const hasOrder = ({ terms }: ClickSnapshot) => Object.values(terms).some(({ place }) => place !== undefined)

/** By the advertiser's ID, ours, or its name: as promised to the click, then as it is now. */
function namedGoal(goals: readonly GoalSnapshot[], wanted: string, click: ClickSnapshot): GoalSnapshot | undefined {
  const text = wanted.trim().toLowerCase()
  const isText = (name: string | null | undefined) => name?.toLowerCase() === text
  return (
    goals.find((goal) => isText(click.terms[goal.goalId]?.externalId)) ??
    goals.find((goal) => String(goal.goalId) === text) ??
    goals.find((goal) => isText(click.terms[goal.goalId]?.name)) ??
    goals.find((goal) => isText(goal.externalId)) ??
    goals.find((goal) => isText(goal.name))
  )
}

/** `ofUser`: the conversions of the click's user that it may be about (conversion-index.ts). */
export function goalOfConfirmation(
  confirmation: Confirmation,
  offer: OfferSnapshot,
  click: ClickSnapshot,
  ofUser: readonly Conversion[],
): GoalSnapshot | 'no_goal' | 'ambiguous' {
  const goals = knownGoals(offer, click, ofUser)
  const { goalId } = confirmation
  if (goalId !== undefined) return goals.find((goal) => goal.goalId === goalId) ?? 'no_goal'
  const named = confirmation.goal === null ? undefined : namedGoal(goals, confirmation.goal, click)
  if (named !== undefined) return named
  // Tracking platforms send event 0 for the conversion itself. A macro that they leave as it is can mean only the only one.
  const isUnsaid = confirmation.goal === '0' || (goals.length === 1 && isUnfilled(confirmation.goal ?? ''))
  if (isUnsaid) return goalOfConfirmation({ ...confirmation, goal: null }, offer, click, ofUser)
  if (confirmation.isOnlyGoalMeant === true && !isDenial(confirmation) && paysOnly(goals, confirmation, click)) return goals[0] ?? 'no_goal' // prettier-ignore
  // A denial of a goal by its former name still reaches its transaction.
  if (confirmation.goal !== null && !isDenial(confirmation)) return 'no_goal'
  const first = firstGoal(offer, click)
  const isOnlyRecorded = confirmation.clickId === null || confirmation.clickId !== click.clickId
  if (confirmation.goal === null && hasOrder(click) && !isDenial(confirmation) && !isOnlyRecorded)
    return first ?? 'no_goal'
  const recorded = ofUser.filter((one) =>
    confirmation.transactionId === null
      ? one.goalId === first?.goalId || (one.clickId !== null && one.clickId === click.clickId)
      : one.advertiserTransactionId === confirmation.transactionId,
  )
  const standing = recorded.filter((one) => one.status !== 'rejected')
  const goalIds = [...new Set((standing.length > 0 ? standing : recorded).map((one) => one.goalId))]
  if (confirmation.goal === null && first !== undefined && (goalIds.length === 0 || goalIds.includes(first.goalId)))
    return first
  if (goalIds.length === 1) return goals.find((goal) => goal.goalId === goalIds[0]) ?? 'no_goal'
  if (confirmation.goal !== null) return 'no_goal'
  return isOnlyRecorded ? 'ambiguous' : (first ?? 'no_goal')
}

/** A step that pays less than the only goal is not that goal. */
function paysOnly(goals: readonly GoalSnapshot[], { goal, amountMicros }: Confirmation, { terms }: ClickSnapshot) {
  const [only, ...others] = goals
  if (goal === null || only === undefined || others.length > 0 || amountMicros === null) return false
  const revenueMicros = terms[only.goalId]?.revenueMicros ?? only.revenueMicros
  return revenueMicros > 0 && amountMicros >= revenueMicros
}

export function goalOfReport(
  report: Report,
  offer: OfferSnapshot,
  click: ClickSnapshot | null,
  ofUser: readonly Conversion[],
): GoalSnapshot | undefined {
  const goals = knownGoals(offer, click, ofUser)
  if (report.goalId !== null) return goals.find((goal) => goal.goalId === report.goalId)
  // A repeated report is about the same goal, whichever is the first one by now.
  const same = ofUser.findLast(
    (one) => one.isFirstGoal && one.source === 'publisher' && one.publisherTransactionId === report.transactionId,
  )
  if (same !== undefined && (report.transactionId !== null || click === null))
    return goals.find((goal) => goal.goalId === same.goalId)
  return firstGoal(offer, click)
}

/**
 * Whether the goal pays more than once: as promised to the click, or as it is now. What the click was paid once for stays
 * so; of what repeats, not all is loaded, so nothing may depend on it.
 */
export function isRepeatable(goal: GoalSnapshot, click: ClickSnapshot | null, ofGoal: readonly Conversion[]): boolean {
  if (click === null) return goal.isRepeatable
  const wasOnce = ofGoal.some((one) => one.clickId === click.clickId && !one.isRepeatable)
  return click.terms[goal.goalId]?.isRepeatable ?? (goal.isRepeatable && !wasOnce)
}
