// Pauses by advertisers. An advertiser pauses its offers and resumes what it paused itself. A pause by the operator, or by
// a feed, takes precedence: a trigger ends the advertiser's with any other change of status, and `setOfferStatuses` when the
// operator pauses what is paused already.
import { type Db, inTransaction } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import type { Actor } from '../accounts/audit.ts'
import { lockOffer, setOfferStatus } from './offers.ts'

export async function isPausedByAdvertiser(db: Db, offerId: number): Promise<boolean> {
  const row = await db
    .selectFrom('advertiser_pauses')
    .select('offer_id')
    .where('offer_id', '=', offerId)
    .executeTakeFirst()
  return row !== undefined
}

/** One that is paused already stays as it is, and whose pause it is. */
export async function pauseForAdvertiser(db: Db, by: Actor, offerId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockOffer(trx, offerId)
    const offer = await trx.selectFrom('offers').select('status').where('offer_id', '=', offerId).executeTakeFirst()
    if (offer?.status === 'paused') return
    await setOfferStatus(trx, by, offerId, 'paused')
    await trx.insertInto('advertiser_pauses').values({ offer_id: offerId }).execute()
  })
}

export async function resumeForAdvertiser(db: Db, by: Actor, offerId: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockOffer(trx, offerId)
    if (!(await isPausedByAdvertiser(trx, offerId)))
      throw new AppError('CONFLICT', 'You did not pause this offer. Ask the operator to resume it.')
    await setOfferStatus(trx, by, offerId, 'active')
  })
}
