// The secret that a network signs its callbacks with, for an advertiser whose way of signing is known.
import { type Db, inTransaction } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import type { Actor } from '../accounts/audit.ts'
import { getAdvertiser } from '../accounts/advertisers.ts'
import { setCallSignature } from '../accounts/call-signature.ts'
import { presetOf } from './presets/presets.ts'

/** Callbacks are checked as they were, or as the network of the advertiser's feed signs them. */
export async function setPostbackSecret(db: Db, by: Actor, secretKey: string, advertiserId: number, secret: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { signature: known, name } = await getAdvertiser(trx, advertiserId)
    const feeds = await trx.selectFrom('feeds').select('preset').where('advertiser_id', '=', advertiserId).orderBy('feed_id').execute() // prettier-ignore
    const [ofFeed] = feeds.flatMap(({ preset }) => presetOf(preset ?? '')?.back.signed?.signature ?? [])
    const signature = known ?? ofFeed
    if (signature === undefined) throw new OperatorError(`It is not known how ${name} signs its callbacks. Set the signature on the advertiser’s page.`, 'postback_secret') // prettier-ignore
    await setCallSignature(trx, by, secretKey, advertiserId, { signature, secret })
  })
} // prettier-ignore
