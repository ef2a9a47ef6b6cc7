import type { Click } from '../../src/features/clicks/clicks.ts'
import { type Action, PEOPLE } from './actions.ts'
import { promisedRewards } from './sale.ts'

/** Every second click is through a locker. */
export const lockerOf = (clickId: string) => (parseInt(clickId.slice(-1), 16) % 2 === 0 ? null : 7)

export type ClickAction = Extract<Action, { kind: 'click' }>

/** A click as the program would record it. */
export const clickOf = (
  action: ClickAction,
  { appId, offerId }: { appId: number; offerId: number },
  now: Date,
): Click => ({
  click_id: action.clickId,
  clicked_at: now.toISOString(),
  app_id: appId,
  is_test: action.isTest,
  user_id: PEOPLE[action.person]?.user ?? '',
  offer_id: offerId,
  terms_id: action.termsId,
  currency: 'Coins',
  ...promisedRewards(action.person, now.getTime()),
  share_ppm: action.sharePpm === 1_000_000 ? null : action.sharePpm,
  request_id: 'req_1',
  aff_sub: null,
  aff_sub2: null,
  aff_sub3: null,
  aff_sub4: null,
  ip: null,
  country: null,
  device: null,
  os: null,
  signals: null,
  locker_id: lockerOf(action.clickId),
})
