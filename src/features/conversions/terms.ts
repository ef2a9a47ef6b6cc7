// The terms that a decision is based on: what the click promised, or what holds now.
import { WHOLE_PPM } from '../../lib/money.ts'
import type { AppSnapshot } from './decision-context.ts'
import type { GoalSnapshot, OfferSnapshot } from './offer-cache.ts'
import type { ClickSnapshot } from './read-clicks.ts'

export type Parts = {
  offer: OfferSnapshot
  app: AppSnapshot
  goal: GoalSnapshot
  click: ClickSnapshot | null
  /** As promised to the click. */
  isRepeatable: boolean
}

export type ClickParts = Parts & { click: ClickSnapshot }

/** What the click promised for the goal; without a click, or for a goal added later, what holds now. */
export const promised = ({ goal, click }: Parts) => click?.terms[goal.goalId] ?? goal

/** The publisher's share at the time of the click; without one, today's. */
export const promisedShare = ({ app, click }: Parts) => (click === null ? app.sharePpm : (click.sharePpm ?? WHOLE_PPM))

export const later = (time: Date, seconds: number) => new Date(time.getTime() + seconds * 1000)

export const isExpired = (click: ClickSnapshot, at: Date) =>
  at.getTime() > click.clickedAt.getTime() + click.attributionS * 1000

export const liveClick = (click: ClickSnapshot | undefined, now: Date) =>
  click === undefined || isExpired(click, now) ? null : click
