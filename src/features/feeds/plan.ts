// What a complete run means for each offer of a feed: found by comparing, before anything is written.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { NewOffer } from '../offers/fields.ts'
import { describeProblems, readImportRecord } from '../offers/import-record.ts'
import { findOffers, type RecordedOffer } from '../offers/offers.ts'
import type { CredentialMask } from './credential-mask.ts'
import { pick, pinnedFields, plainOf, type ShownRecord, withNewFields } from './pinned-fields.ts'
import { changeOfPaid, isSamePaid, type Paid, type SplitFrom, withDollars } from './paid.ts'
import { keepTranslations } from './keep-translations.ts'
import { isFree } from './take-over.ts'

export const BATCH = 500

/** `maxPayoutChangePpm`: where the upstream changes what it pays by more, the payout is held. */
export type PlanOptions = { feedId: number; runId: number; maxPayoutChangePpm: number | null; mask: CredentialMask }
export type Due = { external_id: string; offer: ShownRecord; hash: string; paid: Paid; split_from: SplitFrom | null; offer_id: number | null; applied: ShownRecord | null; paid_before: Paid | null; approved_paid: Paid | null; held_payout: HeldPayout | null; is_taken: boolean } // prettier-ignore
/** `held`: the payout that waits, if it does. */
export type Next = { next: NewOffer; held: HeldPayout | null; written: Written }
export type HeldPayout = { before: unknown; after: unknown }
export type Stays = { kind: 'skipped'; details: object }
export type Row = Due & Next & { line: number }

/** What is known of an offer of a feed after a run. Without a hash, every run looks at it. */
export type Written = {
  hash: string
  /** As the feed has written it; of fields that stay, as it had before. */
  applied: ShownRecord
  /** What it has now, where that is not written. */
  unapplied: ShownRecord | null
  paid: Paid | null
  held_hash: string | null
  held_payout: HeldPayout | null
  held_paid: Paid | null
}

/** All that is new, otherwise than before, or back, a batch at a time. */
export async function* readBatches(db: Db, options: PlanOptions): AsyncGenerator<Planned> {
  for (let after: string | null = ''; after !== null;) {
    const planned = await readBatch(db, options, after)
    yield planned
    after = planned.next
  }
}

/** Those after this external ID, in its order. */
export async function readBatch(db: Db, options: PlanOptions, after: string): Promise<Planned> {
  const due = await readDue(db, options, after)
  return { ...(await planBatch(db, options, due)), next: due.length < BATCH ? null : (due.at(-1)?.external_id ?? null) }
}

/** What changes, and what stays for a reason; with the offers as they are now. `next`: where to go on; null: nowhere. */
export type Planned = { rows: Row[]; stays: (Stays & { one: Due })[]; known: Map<number, RecordedOffer>; next: string | null } // prettier-ignore

async function planBatch(db: Db, options: PlanOptions, due: Due[]): Promise<Omit<Planned, 'next'>> {
  const offers = await findOffers(db, due.flatMap(({ offer_id }) => offer_id ?? [])) // prettier-ignore
  const known = new Map(offers.map((offer) => [offer.offer_id, offer]))
  const planned: Omit<Planned, 'next'> = { rows: [], stays: [], known }
  for (const [line, one] of due.entries()) {
    const next = planOne(one, known.get(one.offer_id ?? -1), options)
    if ('next' in next) planned.rows.push({ ...one, ...next, line })
    else planned.stays.push({ one, ...next })
  }
  return planned
}

async function readDue(db: Db, { feedId, runId }: PlanOptions, after: string): Promise<Due[]> {
  const { rows } = await sql<Due>`
    SELECT s.external_id, s.offer, s.hash, s.paid, s.split_from, f.offer_id, f.applied, f.paid AS paid_before, f.approved_paid, f.held_payout,
      f.offer_id IS NULL AND EXISTS (SELECT FROM offers o WHERE o.advertiser_id = feeds.advertiser_id AND o.external_id = s.external_id) AS is_taken
    FROM feeds JOIN feed_staging s ON s.run_id = ${runId} LEFT JOIN (feed_offers f JOIN feeds owner USING (feed_id))
      ON owner.advertiser_id = feeds.advertiser_id AND f.external_id = s.external_id AND (f.feed_id = feeds.feed_id OR ${isFree})
    WHERE feeds.feed_id = ${feedId} AND s.external_id > ${after}
      AND (f.hash IS DISTINCT FROM s.hash OR f.applied ->> 'status' = 'paused')
    ORDER BY s.external_id LIMIT ${BATCH}`.execute(db)
  return rows
}

/** What becomes of an offer: its next state, or why it stays as it is. */
function planOne(one: Due, recorded: RecordedOffer | undefined, { maxPayoutChangePpm }: PlanOptions): Next | Stays {
  if (one.is_taken) return { kind: 'skipped', details: { reason: 'another offer of this advertiser, not from this feed, has this external ID' } } // prettier-ignore
  const read = readImportRecord({ ...one.offer, status: 'active' })
  if ('problems' in read) return { kind: 'skipped', details: { reason: describeProblems(read.problems) } }
  const mapped = plainOf(read.offer)
  const paid = withDollars(one.paid, mapped)
  const before = one.split_from?.paid ?? (one.applied === null ? null : withDollars(one.paid_before, one.applied))
  const isMuch = maxPayoutChangePpm !== null && before !== null && !isSamePaid(one.approved_paid, paid) && changeOfPaid(before, paid) > maxPayoutChangePpm // prettier-ignore
  const change: Change = { one, offer: read.offer, mapped, paid, before: isMuch ? before : null }
  return recorded === undefined || one.applied === null ? planNew(change) : planKnown(change, recorded, one.applied)
}

/** `before`: what the upstream paid before a change that has to wait; null: none has to. */
type Change = { one: Due; offer: NewOffer; mapped: ShownRecord; paid: Paid; before: Paid | null }

/** Part of one that the operator has paused: it starts with that pause, as if it had been there before. */
const startsPaused = ({ offer }: Due) => offer['status'] === 'paused'

/** One that waits is created paused: it is part of one that paid something else. */
function planNew({ one, offer, mapped, paid, before }: Change): Next {
  const held = before === null ? null : { before: one.split_from?.payout, after: mapped['payout'] }
  const next = held !== null || startsPaused(one) ? { ...offer, status: 'paused' as const } : offer
  const applied = held !== null && !startsPaused(one) ? { ...mapped, status: 'paused' } : mapped
  return { next, held, written: { ...written(one, mapped, applied, held), paid: before ?? paid } }
}

function planKnown({ one, mapped, paid, before }: Change, recorded: RecordedOffer, wrote: ShownRecord): Next | Stays {
  const shown = plainOf(recorded)
  const applied = withNewFields(wrote, one.offer, mapped)
  // What the feed has now, too, is as if it had written it: changing it is an edit from then on.
  const other = pinnedFields(recorded, mapped)
  const pinned = pinnedFields(recorded, applied).filter((field) => other.includes(field))
  const isPinned = pinned.includes('goals')
  const held = before === null || isPinned ? null : { before: one.held_payout?.before ?? one.split_from?.payout ?? shown['payout'], after: mapped['payout'] } // prettier-ignore
  // Only the money waits. An offer that was gone returns with it: it would promise what is no longer paid.
  const status = held !== null && applied['status'] === 'paused' && !startsPaused(one) ? ['status'] : []
  const kept = [...pinned, ...(held !== null || isPinned ? ['goals', 'payout', 'revenue'] : []), ...status]
  const first = startsPaused(one) && applied['status'] === 'paused' ? { ...mapped, status: 'paused' } : mapped
  const { payout: _payout, revenue: _revenue, ...record } = keepTranslations(shown, { ...first, ...pick(shown, kept) })
  const next = readImportRecord(record)
  if ('problems' in next) return { kind: 'skipped', details: { reason: describeProblems(next.problems) } }
  const paidNow = held !== null ? before : isPinned ? one.paid_before : paid
  return { next: next.offer, held, written: { ...written(one, mapped, { ...mapped, ...pick(applied, kept) }, held), paid: paidNow } } // prettier-ignore
}

function written(one: Due, mapped: ShownRecord, applied: ShownRecord, held: HeldPayout | null): Omit<Written, 'paid'> {
  const unapplied = Object.keys(mapped).filter((field) => !isDeepStrictEqual(mapped[field], applied[field]))
  return {
    hash: held === null && unapplied.length === 0 ? one.hash : '',
    applied,
    unapplied: unapplied.length === 0 ? null : pick(mapped, unapplied),
    held_hash: held === null ? null : one.hash,
    held_payout: held,
    held_paid: held === null ? null : one.paid,
  }
}

export type Gone = { external_id: string; name: string; offer_id: number }

/** Those of the feed that did not come, as far as they run. */
export async function readGone(db: Db, feedId: number, runId: number, after: string): Promise<Gone[]> {
  const { rows } = await sql<Gone>`
    SELECT f.external_id, o.name, f.offer_id FROM feed_offers f JOIN offers o USING (offer_id)
    WHERE f.feed_id = ${feedId} AND f.applied ->> 'status' = 'active' AND o.status = 'active'
      AND NOT EXISTS (SELECT FROM feed_staging s WHERE s.run_id = ${runId} AND s.external_id = f.external_id)
    AND f.external_id > ${after} ORDER BY f.external_id LIMIT ${BATCH}`.execute(db)
  return rows
}

/** How many of the feed's offers run, and how many of them did not come. Those that the operator filters out did. */
export async function countGone(db: Db, feedId: number, runId: number): Promise<{ running: number; gone: number }> {
  const { rows } = await sql<{ running: number; gone: number }>`
    SELECT count(*)::int AS running,
      count(*) FILTER (WHERE NOT EXISTS (SELECT FROM feed_staging s WHERE s.run_id = ${runId} AND s.external_id = f.external_id)
        AND NOT EXISTS (SELECT FROM feed_changes c WHERE c.run_id = ${runId} AND c.external_id = f.external_id AND c.details ->> 'is_filtered' = 'true'))::int AS gone
    FROM feed_offers f JOIN offers o USING (offer_id)
    WHERE f.feed_id = ${feedId} AND f.applied ->> 'status' = 'active' AND o.status = 'active'`.execute(db)
  return rows[0] ?? { running: 0, gone: 0 }
}
