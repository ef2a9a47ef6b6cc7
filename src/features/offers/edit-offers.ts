// Changes of single offers by an operator, each with its audit entry. Counting what caps have used follows the commit.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { rfc3339 } from '../../lib/time.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { askForCount, countCaps } from './cap-counts.ts'
import { CAP_COLUMN, type CapRow, type Caps, type OVER_CAP } from './caps.ts'
import type { NewOffer } from './fields.ts'
import { requireImage } from './images.ts'
import { compareRecords } from './offer-changes.ts'
import { lockOffer, type RecordedOffer, showOffer } from './offers.ts'
import { putOffer } from './upsert.ts'

/** Returns its ID. `details`: what else the audit log should say. In a caller's transaction, `countCaps` must follow. */
export async function createOffer(
  db: Db,
  by: Actor,
  { advertiserId, offer, details = {} }: { advertiserId: number; offer: NewOffer; details?: object },
  now: Date,
): Promise<number> {
  const { name, external_id, advertiser } = offer
  const offerId = await inTransaction(db, async (trx) => {
    await requireImage(trx, offer.image_url)
    const { offerId: subject, isNew } = await putOffer(trx, advertiserId, offer)
    // Thrown inside: what was written over is as before.
    if (!isNew) throw isTaken(external_id, subject)
    await recordAudit(trx, by, {
      action: 'offer.create',
      subject,
      details: { name, advertiser, external_id, ...details },
    })
    return subject
  })
  if (!db.isTransaction) await countCaps(db, now)
  return offerId
}

const isTaken = (externalId: string, offerId: number) =>
  new AppError('CONFLICT', 'This advertiser already has an offer with this external ID.', {
    external_id: `Offer ${offerId} already has the external ID ${externalId}.`,
  })

/** `seen`: when the offer was last changed, as far as the operator knows; undefined: they do not mind. As `createOffer`. */
export async function changeOffer(
  db: Db,
  by: Actor,
  {
    offerId,
    offer,
    seen,
    details = {},
  }: { offerId: number; offer: NewOffer; seen: Date | null | undefined; details?: object },
  now: Date,
): Promise<void> {
  const change = async (trx: Trx, { advertiser_id, updated_at }: RecordedOffer) => {
    if (seen !== undefined && (seen === null || rfc3339(seen) !== rfc3339(updated_at)))
      throw new AppError('CONFLICT', 'Someone else changed this offer. Reload it, then make your change.')
    await requireImage(trx, offer.image_url)
    await putOffer(trx, advertiser_id, offer)
  }
  await changeRecord(db, by, offerId, change, details)
  if (!db.isTransaction) await countCaps(db, now)
}

/** Sets the caps given (null: no cap any more) and leaves the others. In a caller's transaction, `countCaps` must follow. */
export async function setCaps(
  db: Db,
  by: Actor,
  offerId: number,
  { overCap, ...caps }: Partial<Caps & { overCap: (typeof OVER_CAP)[number] }>,
  now: Date,
): Promise<void> {
  const values = Object.entries(caps).map(([name, cap]) => [CAP_COLUMN[name as keyof Caps], cap])
  await changeRecord(db, by, offerId, async (trx) => {
    await trx
      .updateTable('offers')
      .set({
        ...(Object.fromEntries(values) as Partial<CapRow>),
        ...(overCap === undefined ? {} : { over_cap: overCap }),
        updated_at: sql`date_trunc('second', ${now}::timestamptz)`,
      })
      .where('offer_id', '=', offerId)
      .execute()
    await askForCount(trx, [offerId])
  })
  if (!db.isTransaction) await countCaps(db, now)
}

/** The entry has the values before and after; without a difference there is none. */
const changeRecord = (
  db: Db,
  by: Actor,
  offerId: number,
  change: (trx: Trx, before: RecordedOffer) => Promise<void>,
  details: object = {},
): Promise<void> =>
  inTransaction(db, async (trx) => {
    await lockOffer(trx, offerId)
    const before = await showOffer(trx, offerId)
    await change(trx, before)
    const changes = compareRecords(before, await showOffer(trx, offerId))
    if (Object.keys(changes).length > 0)
      await recordAudit(trx, by, { action: 'offer.change', subject: offerId, details: { changes, ...details } })
  })
