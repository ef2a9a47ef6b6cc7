// How an upstream confirms conversions to us: the URL to paste into its system, and what our side has to know about its
// calls.
import { isDeepStrictEqual } from 'node:util'
import type { Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { setAdvertiser } from '../accounts/advertiser-settings.ts'
import { type Advertiser, getAdvertiser } from '../accounts/advertisers.ts'
import type { Actor } from '../accounts/audit.ts'
import { addCallRules } from '../accounts/call-rules.ts'
import type { WayBack } from './presets/preset.ts'

const PLAIN: WayBack = {
  parameters: { click_id: '{click_id}', txn_id: '{transaction_id}', amount: '{payout}', goal: '{goal}', status: '{status}' },
  notes: ['Replace the placeholders in braces with the macros of the network.'],
} // prettier-ignore

/** Macros stay as the upstream writes them. */
export function postbackUrlFor(back: WayBack = PLAIN, publicUrl: string, token: string): string {
  const parameters = [...Object.entries(back.parameters), ['token', token]]
  return `${publicUrl}/postback?${parameters.map((pair) => pair.join('=')).join('&')}`
}

export const notesFor = (back: WayBack = PLAIN): string[] => back.notes

/**
 * Its words for statuses, how it reverses and what its calls mean are added to what is set. Refuses where the advertiser
 * reads the same otherwise: one of them would be misunderstood, and reversals lost without a sign.
 */
export async function understandUpstream(
  trx: Trx,
  by: Actor,
  advertiserId: number,
  back: WayBack = PLAIN,
): Promise<void> {
  const known = await getAdvertiser(trx, advertiserId)
  const { statuses = {}, negative_amount, reversal_prefix, ignored, only_goal } = back
  for (const conflict of conflictsWith(known, back)) throw new OperatorError(`The advertiser ${known.name} ${conflict}. Change that, or choose another advertiser for this feed.`, 'advertiser') // prettier-ignore
  const missing = Object.entries(statuses).filter(([word]) => !Object.hasOwn(known.status_map, word))
  await setAdvertiser(trx, by, advertiserId, {
    ...(missing.length > 0 && { statusMap: [...Object.entries(known.status_map), ...missing] }),
    ...(negative_amount !== undefined && known.negative_amount === 'refuse' && { negativeAmount: negative_amount }),
    ...(reversal_prefix !== undefined && known.reversal_prefix === '' && { reversalPrefix: reversal_prefix }),
  })
  await addCallRules(trx, by, advertiserId, {
    ...(ignored !== undefined && { ignored }),
    ...(only_goal === true && { only_goal }),
  })
}

/** What it reads otherwise than this network means it, as the end of a sentence. */
function* conflictsWith(known: Advertiser, back: WayBack): Generator<string> {
  for (const [word, status] of Object.entries(back.statuses ?? {})) {
    const meant = known.status_map[word] ?? status
    if (meant !== status) yield `reads the status "${word}" as ${meant}, and this network means ${status}`
  }
  const { negative_amount, reversal_prefix } = back
  if (negative_amount !== undefined && ![negative_amount, 'refuse'].includes(known.negative_amount)) yield `is set to treat negative amounts differently: ${known.negative_amount}` // prettier-ignore
  if (reversal_prefix !== undefined && ![reversal_prefix, ''].includes(known.reversal_prefix)) yield `recognizes reversals by "${known.reversal_prefix}", and this network marks them with "${reversal_prefix}"` // prettier-ignore
  if (known.signature !== null && !isDeepStrictEqual(known.signature, back.signed?.signature ?? null)) yield 'has a callback signature that this network does not use' // prettier-ignore
}
