// What a complete run means for each offer of a feed: found by comparing, before anything is written.
//
// What an operator has edited is known by comparison, too: a field that is not as the feed wrote it stays as it is.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { FIELD_NAMES, FIELDS, type NewOffer, showFields } from '../offers/fields.ts'
import { describeProblems, readImportRecord } from '../offers/import-record.ts'
import { findOffers, type RecordedOffer } from '../offers/offers.ts'
import type { CredentialMask } from './credential-mask.ts'
import type { Paid } from './stage.ts'
import { feedGoals, keepTranslations } from './keep-translations.ts'

export const BATCH = 500

/** `maxPayoutChangePpm`: where the upstream changes what it pays by more, the payout is held. */
export type PlanOptions = { feedId: number; runId: number; maxPayoutChangePpm: number | null; mask: CredentialMask }
export type ShownRecord = Record<string, unknown>
export type Due = { external_id: string; offer: ShownRecord; hash: string; offer_id: number | null; applied: ShownRecord | null; paid: Paid; paid_before: Paid | null; approved_hash: string | null; is_taken: boolean } // prettier-ignore
/** `kept`: fields that stay as they are. `held`: the payout that waits, if it does. */
export type Next = { next: NewOffer; mapped: ShownRecord; kept: string[]; held: HeldPayout | null }
export type HeldPayout = { before: unknown; after: unknown }
export type Stays = { kind: 'skipped'; details: object }
export type Row = Due & Next & { line: number }

/** As JSON has it: what is stored is compared with what was. */
export const plainOf = (offer: RecordedOffer | NewOffer) =>
  JSON.parse(JSON.stringify(showFields(FIELDS, offer))) as ShownRecord

/** Fields that someone else has written since. Sums follow from goals. */
export const pinnedFields = (recorded: RecordedOffer, applied: ShownRecord): string[] => {
  const shown = plainOf(recorded)
  const isSame = (field: string) => field === 'goals' ? isDeepStrictEqual(feedGoals(shown), feedGoals(applied)) : isDeepStrictEqual(shown[field], applied[field]) // prettier-ignore
  return FIELD_NAMES.filter((field) => !['payout', 'revenue', 'advertiser', 'external_id'].includes(field) && !isSame(field)) // prettier-ignore
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
    SELECT s.external_id, s.offer, s.hash, s.paid, f.offer_id, f.applied, f.paid AS paid_before, f.approved_hash,
      f.offer_id IS NULL AND EXISTS (SELECT FROM offers o WHERE o.advertiser_id = feeds.advertiser_id AND o.external_id = s.external_id) AS is_taken
    FROM feeds JOIN feed_staging s ON s.run_id = ${runId} LEFT JOIN feed_offers f ON f.feed_id = feeds.feed_id AND f.external_id = s.external_id
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
  // Part of one that the operator has paused: it starts with that pause, as if it had been there before.
  const first = one.offer['status'] === 'paused' ? { ...read.offer, status: 'paused' as const } : read.offer
  if (recorded === undefined || one.applied === null) return { next: first, mapped, kept: [], held: null }
  const pinned = pinnedFields(recorded, one.applied)
  const isHeld = maxPayoutChangePpm !== null && !pinned.includes('goals') && one.approved_hash !== one.hash && changeOfPaid(one, one.applied, mapped) > maxPayoutChangePpm // prettier-ignore
  const kept = isHeld ? [...pinned, ...heldFields(one.applied)] : pinned
  const shown = plainOf(recorded)
  const { payout: _payout, revenue: _revenue, ...record } = keepTranslations(shown, { ...mapped, ...pick(shown, kept) })
  const next = readImportRecord(record)
  const held = isHeld ? { before: one.applied['payout'], after: mapped['payout'] } : null
  return 'offer' in next ? { next: next.offer, mapped, kept, held } : { kind: 'skipped', details: { reason: describeProblems(next.problems) } } // prettier-ignore
}

/** Only the money waits. An offer that was gone returns with it: it would promise what is no longer paid. */
const heldFields = (applied: ShownRecord) => ['goals', 'payout', 'revenue', ...(applied['status'] === 'paused' ? ['status'] : [])] // prettier-ignore

/** Of what the upstream itself pays, whatever the operator has set meanwhile; in dollars only where it changed its currency. */
function changeOfPaid({ paid, paid_before }: Due, applied: ShownRecord, mapped: ShownRecord): number {
  if (paid_before?.currency === paid.currency) return changeOf(paid_before.micros, paid.micros)
  return changeOf(Number(applied['revenue']), Number(mapped['revenue']))
}

const changeOf = (before: number, after: number) => (before === 0 ? 0 : (Math.abs(after - before) / before) * 1_000_000)

export const pick = (record: ShownRecord, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, record[name]])) // prettier-ignore

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
