// The audit entries of an import: one for each offer, shown in that offer’s history.
import { type Actor, recordParts } from '../../../features/accounts/audit.ts'
import type { OfferChange, OnOfferChanges } from '../../../features/offers/offer-changes.ts'
import { compareRecords } from './record.ts'

/** Writes it beside the changes. `auditId` is the audit entry of the whole import. */
export const recordImport =
  (by: Actor, fileName: string, auditId: number): OnOfferChanges =>
  (trx, changes) =>
    recordParts(
      trx,
      by,
      auditId,
      changes.map((change) => entryOf(change, fileName)),
    )

function entryOf(change: OfferChange, file_name: string) {
  const { offerId: subject } = change
  if (change.made === null)
    return {
      action: 'offer.import',
      subject,
      details: { file_name, changes: compareRecords(change.before, change.after) },
    }
  const { name, advertiser, external_id } = change.made
  return { action: 'offer.import_new', subject, details: { name, advertiser, external_id, file_name } }
}
