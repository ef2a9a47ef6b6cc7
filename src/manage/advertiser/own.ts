// What the operations of an advertiser's account begin with.
import type { Db } from '../../db/open.ts'
import type { RecordedOffer } from '../../features/offers/offers.ts'
import { notThere } from '../gate.ts'
import { getOffer } from '../offer-record.ts'

/** One of this advertiser's offers. */
export async function getOwnOffer(db: Db, advertiserId: number, offerId: number): Promise<RecordedOffer> {
  const offer = await getOffer(db, offerId)
  if (offer.advertiser_id !== advertiserId) throw notThere('There is no such offer.')
  return offer
}
