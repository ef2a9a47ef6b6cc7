// How each upstream calls us about a conversion: what it puts in the place of its macros.

export type UpstreamCall = {
  clickId: string
  transactionId: string
  offerId: string
  /** Null: the offer has no goals there. */
  goalId: string | null
  goalName: string
  payout: number
  isReversal: boolean
  /** Of a text, with the secret that the network shares. */
  sign?: (text: string) => string
}

type Macros = (call: UpstreamCall) => Record<string, string>

export const CALLS: Record<string, Macros> = {
  everflow: ({ clickId, transactionId, offerId, goalId, payout }) => ({ '{offer_id}': offerId, '{sub1}': clickId, '{transaction_id}': transactionId, '{payout_amount}': String(payout), '{event_id}': goalId ?? '0' }),
  tune: ({ clickId, transactionId, goalId, payout }) => ({ '{aff_click_id}': clickId, '{transaction_id}': transactionId, '{payout}': payout.toFixed(5), '{goal_id}': goalId ?? '0' }),
  affise: ({ clickId, transactionId, offerId, goalId, payout, isReversal }) => ({ '{offerid}': offerId, '{sub1}': clickId, '{transactionid}': transactionId, '{sum}': String(payout), '{currency}': 'USD', '{status}': isReversal ? '3' : '1', '{goal}': goalId ?? '1' }),
  trackier: ({ clickId, transactionId, goalId, payout }) => ({ '{p1}': clickId, '{txn_id}': transactionId, '{payout}': String(payout), '{goal_value}': goalId ?? '' }),
  offer18: ({ clickId, transactionId, goalId, payout }) => ({ '{aff_click_id}': clickId, '{tid}': transactionId, '{payout}': String(payout), '{event_token}': goalId ?? '' }),
  adgate: ({ clickId, transactionId, goalId, payout, isReversal }) => ({ '{s1}': clickId, '{conversion_id}': transactionId, '{payout}': String(payout), '{event_id}': goalId ?? '1', '{state}': isReversal ? 'rejected' : 'approved' }),
  bitlabs: ({ clickId, transactionId, offerId, goalId, payout, isReversal }) => ({ '[%OFFER_ID%]': offerId, '[%UID%]': clickId, '[%TX%]': transactionId, '[%RAW%]': String(payout), '[%TASK_ID%]': goalId ?? '1', '[%OFFER_STATE%]': isReversal ? 'RECONCILED' : 'COMPLETED' }),
  ayet: ({ clickId, transactionId, offerId, goalId, payout, isReversal }) => ({ '{offer_id}': offerId, '{external_identifier}': clickId, '{transaction_id}': `${isReversal ? 'r-' : ''}${transactionId}`, '{payout_usd}': String(isReversal ? -payout : payout), '{task_uuid}': goalId ?? '' }),
  adgem: ({ clickId, transactionId, goalId, payout }) => ({ '{player_id}': clickId, '{transaction_id}': transactionId, '{payout}': String(payout), '{goal_id}': goalId ?? '' }),
  cpalead: ({ clickId, transactionId, goalName, payout }) => ({ '{subid}': clickId, '{lead_id}': transactionId, '{payout}': String(payout), '{event_name}': goalName }),
  lootably: ({ clickId, transactionId, offerId, goalId, payout, isReversal, sign }) => ({ '{userID}': clickId, '{offerID}': offerId, '{transactionID}': transactionId, '{revenue}': payout.toFixed(4), '{goalID}': goalId ?? '', '{status}': isReversal ? '0' : '1', '{ip}': '203.0.113.7', '{currencyReward}': '100', '{hash}': sign?.(`${clickId}203.0.113.7${payout.toFixed(4)}100`) ?? '' }),
  torox: ({ clickId, transactionId, offerId, payout, sign }) => ({ '{user_id}': clickId, '{id}': transactionId, '{payout}': payout.toFixed(2), '{oid}': offerId, '{sig}': sign?.(`${offerId}-${clickId}-`) ?? '' }),
} // prettier-ignore

/** Those whose reversals are documented. */
export const REVERSES = ['affise', 'adgate', 'bitlabs', 'ayet', 'lootably']

export function fillMacros(upstream: string, url: string, call: UpstreamCall): string {
  let filled = url
  for (const [macro, value] of Object.entries(CALLS[upstream]?.(call) ?? {})) filled = filled.replaceAll(macro, encodeURIComponent(value)) // prettier-ignore
  return filled
}
