// A new conversion, before its status is decided.
import { WHOLE_PPM } from '../../lib/money.ts'
import type { Conversion } from './conversions.ts'
import type { ClickSnapshot, SubIds } from './decision-context.ts'
import type { Moment } from './outcomes.ts'
import { amountsOf } from './payout.ts'
import { firstGoal } from './resolve-goal.ts'
import { type Parts, promised, promisedShare } from './terms.ts'

/** What a conversion takes over from its click. */
export const fromClick = (click: ClickSnapshot) => ({
  click_id: click.click_id,
  click_at: click.clicked_at,
  ip: click.ip,
  country: click.country,
  device: click.device,
  currency: click.currency,
  rate_micros: click.rate_micros,
  share_ppm: click.share_ppm,
  terms_id: click.terms_id,
  aff_sub: click.aff_sub,
  aff_sub2: click.aff_sub2,
  aff_sub3: click.aff_sub3,
  aff_sub4: click.aff_sub4,
})

export function createConversion(
  parts: Parts & { subIds: SubIds; amountMicros: number | null },
  of: { is_test: boolean; user_id: string },
  { now, newId }: Moment,
): Conversion {
  const { offer, app, goal, click, isRepeatable, subIds } = parts
  const amounts = amountsOf(promised(parts), parts.amountMicros, promisedShare(parts))
  return {
    conversion_id: newId(),
    app_id: app.app_id,
    publisher_id: app.publisher_id,
    advertiser_id: offer.advertiser_id,
    offer_id: offer.offer_id,
    goal_id: goal.goal_id,
    user_id: of.user_id,
    is_test: of.is_test,
    is_repeatable: isRepeatable,
    is_first_goal: goal.goal_id === firstGoal(offer, click)?.goal_id,
    status: 'pending',
    status_reason: null,
    source: 'publisher',
    publisher_transaction_id: null,
    advertiser_transaction_id: null,
    payout_micros: amounts.payoutMicros,
    revenue_micros: amounts.revenueMicros,
    currency: app.currency,
    rate_micros: app.rate_micros,
    share_ppm: app.share_ppm === WHOLE_PPM ? null : app.share_ppm,
    terms_id: offer.terms_id,
    aff_sub: subIds.aff_sub,
    aff_sub2: subIds.aff_sub2,
    aff_sub3: subIds.aff_sub3,
    aff_sub4: subIds.aff_sub4,
    click_id: null,
    click_at: null,
    ip: null,
    country: null,
    device: null,
    ...(click === null ? {} : fromClick(click)),
    signals: [],
    told_at: null,
    confirm_by: null,
    confirmed_at: null,
    is_unconfirmed: true,
    bars_redo: false,
    hold_until: null,
    created_at: now,
    approved_at: null,
    rejected_at: null,
    reversed_at: null,
    sequence: 1,
    event_id: newId(),
    actor: 'system',
  }
}
