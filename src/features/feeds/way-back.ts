// How an upstream confirms conversions to us: the URL to paste into its system, and what our side has to know about its
// calls.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { setAdvertiser } from '../accounts/advertiser-settings.ts'
import { type Advertiser, dialectOf, getAdvertiser } from '../accounts/advertisers.ts'
import type { Actor } from '../accounts/audit.ts'
import { addCallRules } from '../accounts/call-rules.ts'
import { readStatus } from '../conversions/inbound/status-words.ts'
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
  // Two feeds that are added at once would each write their own words over those of the other.
  await sql`SELECT FROM advertisers WHERE advertiser_id = ${advertiserId} FOR NO KEY UPDATE`.execute(trx)
  const known = await getAdvertiser(trx, advertiserId)
  const { statuses = {}, negative_amount, reversal_prefix, ignored, only_goal } = back
  for (const conflict of conflictsWith(known, back)) throw new OperatorError(`The advertiser ${known.name} ${conflict}. Change that, or choose another advertiser for this feed.`, 'advertiser') // prettier-ignore
  const change = await findChange(trx, known, back)
  if (change !== null) throw new OperatorError(`Callbacks of the advertiser ${known.name} would be read differently: ${change}. Choose another advertiser for this feed, or change the callback settings of this one first.`, 'advertiser') // prettier-ignore
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

const MOST_SEARCHED = 10_000 // of its conversions, the latest first

/** What callbacks that came before this feed mean now, and would no longer mean. Null: nothing. */
async function findChange(trx: Trx, known: Advertiser, back: WayBack): Promise<string | null> {
  const { advertiser_id } = known
  const words = Object.entries(back.statuses ?? {}).map(([word, after]) => ({ word, before: readStatus(word, dialectOf(known)), after })) // prettier-ignore
  const changed = words.find(({ before, after }) => before !== undefined && before !== after)
  if (changed !== undefined && (await hasHadCalls(trx, advertiser_id))) return `the status "${changed.word}" means ${changed.before} now, and ${changed.after} for this network` // prettier-ignore
  const { reversal_prefix: prefix = '' } = back
  if (prefix === '' || known.reversal_prefix === prefix) return null
  const { rows } = await sql<{ id: string }>`
    SELECT advertiser_transaction_id AS id FROM (
      SELECT advertiser_transaction_id FROM conversions WHERE advertiser_id = ${advertiser_id} AND NOT is_test
      ORDER BY conversion_id DESC LIMIT ${MOST_SEARCHED}) c
    WHERE starts_with(advertiser_transaction_id, ${prefix}) LIMIT 1`.execute(trx)
  return rows[0] === undefined ? null : `"${rows[0].id}" is the ID of a transaction now, and marks a reversal for this network` // prettier-ignore
}

/** The log forgets, conversions stay. */
async function hasHadCalls(trx: Trx, advertiserId: number): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    SELECT EXISTS (SELECT FROM inbound_calls WHERE advertiser_id = ${advertiserId})
      OR EXISTS (SELECT FROM conversions WHERE advertiser_id = ${advertiserId}) AS has`.execute(trx)
  return rows[0]?.has === true
}
