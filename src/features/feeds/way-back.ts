// How an upstream confirms conversions to us: the URL to paste into its system, and what our side has to know about its
// calls.
import type { Trx } from '../../db/open.ts'
import { setAdvertiser } from '../accounts/advertiser-settings.ts'
import { getAdvertiser } from '../accounts/advertisers.ts'
import type { Actor } from '../accounts/audit.ts'
import type { WayBack } from './presets/preset.ts'

const PLAIN: WayBack = {
  parameters: { click_id: '{click_id}', txn_id: '{transaction_id}', amount: '{payout}', goal: '{goal}', status: '{status}' },
  notes: ['Replace what stands in braces by the macros of the network.'],
} // prettier-ignore

/** Macros stay as the upstream writes them. */
export function postbackUrlFor(back: WayBack = PLAIN, publicUrl: string, token: string): string {
  const parameters = [...Object.entries(back.parameters), ['token', token]]
  return `${publicUrl}/postback?${parameters.map((pair) => pair.join('=')).join('&')}`
}

export const notesFor = (back: WayBack = PLAIN): string[] => back.notes

/** Its words for statuses, and how it reverses. What the operator has set stays. */
export async function understandUpstream(
  trx: Trx,
  by: Actor,
  advertiserId: number,
  back: WayBack = PLAIN,
): Promise<void> {
  // prettier-ignore
  const known = await getAdvertiser(trx, advertiserId)
  const { statuses, negative_amount, reversal_prefix } = back
  await setAdvertiser(trx, by, advertiserId, {
    ...(statuses !== undefined &&
      Object.keys(known.status_map).length === 0 && { statusMap: Object.entries(statuses) }),
    ...(negative_amount !== undefined && known.negative_amount === 'refuse' && { negativeAmount: negative_amount }),
    ...(reversal_prefix !== undefined && known.reversal_prefix === '' && { reversalPrefix: reversal_prefix }),
  })
}
