// A new conversion, before its status is decided.
import { multipliedRate, WHOLE_PPM } from '../../lib/money.ts'
import type { Conversion } from './conversions.ts'
import type { SubIds } from './decision-context.ts'
import type { Moment } from './outcomes.ts'
import { amountsOf } from './payout.ts'
import type { ClickSnapshot } from './read-clicks.ts'
import { firstGoal } from './resolve-goal.ts'
import { type Parts, promised, promisedShare } from './terms.ts'

/** What a conversion takes over from its click. */
export const fromClick = (click: ClickSnapshot) => ({
  clickId: click.clickId,
  clickAt: click.clickedAt,
  ip: click.ip,
  country: click.country,
  device: click.device,
  currency: click.currency,
  rateMicros: click.rateMicros,
  rounding: click.rounding,
  multiplierPpm: click.multiplierPpm,
  lockerId: click.lockerId,
  sharePpm: click.sharePpm,
  termsId: click.termsId,
  affSub: click.affSub,
  affSub2: click.affSub2,
  affSub3: click.affSub3,
  affSub4: click.affSub4,
})

/** What may come later. */
const NOT_YET = {
  statusReason: null,
  publisherTransactionId: null,
  advertiserTransactionId: null,
  clickId: null,
  clickAt: null,
  ip: null,
  country: null,
  device: null,
  nthOfClick: null,
  lockerId: null,
  toldAt: null,
  confirmBy: null,
  confirmedAt: null,
  holdUntil: null,
  approvedAt: null,
  rejectedAt: null,
  reversedAt: null,
} as const satisfies Partial<Conversion>

export function createConversion(
  parts: Parts & { subIds: SubIds; amountMicros: number | null },
  of: { isTest: boolean; userId: string },
  { now, newId }: Moment,
): Conversion {
  const { offer, app, goal, click, isRepeatable, subIds } = parts
  const amounts = amountsOf(promised(parts), parts.amountMicros, promisedShare(parts))
  return {
    ...NOT_YET,
    conversionId: newId(),
    appId: app.appId,
    publisherId: app.publisherId,
    advertiserId: offer.advertiserId,
    offerId: offer.offerId,
    goalId: goal.goalId,
    userId: of.userId,
    isTest: of.isTest,
    isRepeatable,
    isFirstGoal: goal.goalId === firstGoal(offer, click)?.goalId,
    status: 'pending',
    source: 'publisher',
    payoutMicros: amounts.payoutMicros,
    revenueMicros: amounts.revenueMicros,
    currency: app.currency,
    rateMicros: multipliedRate(app.rateMicros, app.multiplierPpm),
    rounding: app.rounding,
    multiplierPpm: app.multiplierPpm,
    sharePpm: app.sharePpm === WHOLE_PPM ? null : app.sharePpm,
    termsId: offer.termsId,
    affSub: subIds.affSub,
    affSub2: subIds.affSub2,
    affSub3: subIds.affSub3,
    affSub4: subIds.affSub4,
    ...(click === null ? {} : fromClick(click)),
    signals: [],
    isUnconfirmed: true,
    barsRedo: false,
    createdAt: now,
    sequence: 1,
    eventId: newId(),
    actor: 'system',
  }
}
