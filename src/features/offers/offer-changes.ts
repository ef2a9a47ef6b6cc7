// What writing a batch of offers changed, for the offers' history.
import { isDeepStrictEqual } from 'node:util'
import type { Trx } from '../../db/open.ts'
import { FIELD_NAMES, FIELDS, type NewOffer, showFields } from './fields.ts'
import { findOffers, type RecordedOffer } from './offers.ts'

/** What happened to an offer: created, or changed from one state to another. */
export type OfferChange =
  | { offerId: number; made: NewOffer }
  | { offerId: number; made: null; before: RecordedOffer; after: RecordedOffer }

/** Called in the transaction of the changes: what it writes commits with them. */
export type OnOfferChanges = (trx: Trx, changes: OfferChange[]) => Promise<void>

type OfferColumns = Omit<RecordedOffer, 'advertiser' | 'goals'>
export type Goals = RecordedOffer['goals']

/** An offer that was created or whose columns changed. For an existing one: as it was before. */
export type WrittenOffer = OfferColumns & { is_new: boolean; is_recapped: boolean }

/** Of offers whose columns stayed the goals changed, and the other way round: only what is now is read again. */
export async function readChanges(
  trx: Trx,
  rows: { advertiserId: number; offer: NewOffer }[],
  written: WrittenOffer[],
  goalsBefore: Map<number, Goals>,
): Promise<OfferChange[]> {
  const [made, changed] = [written.filter((row) => row.is_new), written.filter((row) => !row.is_new)]
  const keyOf = (advertiserId: number, externalId: string) => JSON.stringify([advertiserId, externalId])
  const given = new Map(rows.map(({ advertiserId, offer }) => [keyOf(advertiserId, offer.external_id), offer]))
  const creations = made.map(({ offer_id, advertiser_id, external_id }) => ({
    offerId: offer_id,
    made: given.get(keyOf(advertiser_id, external_id)) as NewOffer,
  }))
  const isMade = new Set(made.map((row) => row.offer_id))
  const columnsBefore = new Map(changed.map((row) => [row.offer_id, row]))
  const ids = [...new Set([...columnsBefore.keys(), ...goalsBefore.keys()])].filter((id) => !isMade.has(id))
  const offers = ids.length === 0 ? [] : await findOffers(trx, ids)
  const updates = offers.map((after) => {
    const goals = goalsBefore.get(after.offer_id) ?? after.goals
    return {
      offerId: after.offer_id,
      made: null,
      before: { ...after, ...columnsBefore.get(after.offer_id), goals },
      after,
    }
  })
  return [...creations, ...updates]
}

type Change = { before: unknown; after: unknown }

/** What is different, field by field, in dollars and durations, as the audit log keeps it. */
export function compareRecords(before: RecordedOffer, after: RecordedOffer): Record<string, Change> {
  const [old, now] = [showFields(FIELDS, before), showFields(FIELDS, after)]
  const changed = FIELD_NAMES.filter((field) => !isDeepStrictEqual(old[field], now[field]))
  return Object.fromEntries(changed.map((field) => [field, { before: old[field], after: now[field] }]))
}
