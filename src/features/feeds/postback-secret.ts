// The secret that a network signs its callbacks with, for an advertiser whose way of signing is known.
import { isDeepStrictEqual } from 'node:util'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import type { Actor } from '../accounts/audit.ts'
import { getAdvertiser } from '../accounts/advertisers.ts'
import { type CallSignature, setCallSignature } from '../accounts/call-signature.ts'
import { presetOf } from './presets/presets.ts'

/** Callbacks are checked as they were, or as the networks of the advertiser's feeds sign them. */
export async function setPostbackSecret(db: Db, by: Actor, secretKey: string, advertiserId: number, secret: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { signature: known, name } = await getAdvertiser(trx, advertiserId)
    const signature = known ?? (await findSignature(trx, advertiserId, name))
    if (signature === null) throw new OperatorError(`It is not known how ${name} signs its callbacks. Set the signature on the advertiser’s page.`, 'postback_secret') // prettier-ignore
    await setCallSignature(trx, by, secretKey, advertiserId, { signature, secret })
  })
} // prettier-ignore

/** Of all its feeds that use a preset. Callbacks of a network that signs otherwise, or not, would be refused for good. */
export async function findSignature(trx: Trx, advertiserId: number, name: string): Promise<CallSignature | null> {
  const feeds = await trx.selectFrom('feeds').select('preset').where('advertiser_id', '=', advertiserId).where('removed_at', 'is', null).orderBy('feed_id').execute() // prettier-ignore
  const [first = null, ...others] = feeds.flatMap((feed) => presetOf(feed.preset ?? '') ?? []).map(({ back }) => back.signed?.signature ?? null) // prettier-ignore
  if (others.some((one) => !isDeepStrictEqual(one, first))) throw new OperatorError(`The networks of ${name} sign their callbacks differently, or not at all. Use an advertiser of its own for the feed of each.`, 'postback_secret') // prettier-ignore
  return first
}
