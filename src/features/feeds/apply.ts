// Applies a run that is complete: creates, changes and resumes what was fetched, pauses what is gone. In batches, each of
// which can be the last: the next run goes on where this one stopped.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { microsToUsd } from '../../lib/money.ts'
import { type Actor, type AuditEntry, recordParts } from '../accounts/audit.ts'
import type { NewOffer } from '../offers/fields.ts'
import { compareRecords, type OfferChange } from '../offers/offer-changes.ts'
import { changeStatuses } from '../offers/offers.ts'
import { upsertOffers } from '../offers/upsert.ts'
import { noteChanges } from './notes.ts'
import { holdRun } from './run-fence.ts'
import { plainOf } from './pinned-fields.ts'
import { type Planned, type PlanOptions, readBatch, readGone, type Row, type Written } from './plan.ts'
import { takeOver } from './take-over.ts'

export type ApplyOptions = PlanOptions & { name: string; by: Actor; auditId: number; now: Date }

/** An operator was faster: what was planned would undo an edit. */
class PlanIsStale extends Error {
  override readonly name = 'PlanIsStale'
}

const MOST_ATTEMPTS = 10

export async function applyFetched(db: Db, options: ApplyOptions): Promise<void> {
  await takeOver(db, options.feedId, options.runId)
  let attempts = 0
  for (let after: string | null = ''; after !== null;) {
    const planned = await readBatch(db, options, after)
    try {
      await applyBatch(db, options, planned)
    } catch (error) {
      if (!(error instanceof PlanIsStale) || ++attempts === MOST_ATTEMPTS) throw error
      await takeOver(db, options.feedId, options.runId) // what another feed has just paused
      continue
    }
    ;[after, attempts] = [planned.next, 0]
  }
  await dropHeld(db, options)
}

/**
 * Nothing waits any more where the upstream has taken its change back, or the offer is gone. An offer that returns is
 * looked at anew, and an approval of before does not count.
 */
async function dropHeld(db: Db, { feedId, runId }: ApplyOptions): Promise<void> {
  await inTransaction(db, async (trx) => {
    await holdRun(trx, runId)
    await sql`UPDATE feed_offers f SET hash = '', unapplied = NULL, held_hash = NULL, held_payout = NULL, held_paid = NULL, approved_paid = NULL
      WHERE feed_id = ${feedId} AND (held_hash IS NOT NULL OR unapplied IS NOT NULL OR approved_paid IS NOT NULL)
        AND NOT EXISTS (SELECT FROM feed_staging s WHERE s.run_id = ${runId} AND s.external_id = f.external_id AND s.hash = coalesce(f.held_hash, s.hash))`.execute(trx)
  }) // prettier-ignore
}

async function applyBatch(db: Db, options: ApplyOptions, planned: Planned): Promise<void> {
  const { rows, stays } = planned
  const { problems } = await upsertOffers(db, rows.map(({ line, next }) => ({ line, offer: next })), options.now, (trx, changes) => onChanges(trx, options, planned, changes)) // prettier-ignore
  const refused = new Map(problems.map(({ line, problem }) => [line, problem]))
  for (const row of rows) if (refused.has(row.line)) stays.push({ one: row, kind: 'skipped', details: { reason: refused.get(row.line) } }) // prettier-ignore
  await inTransaction(db, async (trx) => {
    await holdRun(trx, options.runId)
    await keepApplied(
      trx,
      options,
      rows.filter(({ line }) => !refused.has(line)),
    ) // of offers that are so already
  })
  const held = rows.filter((row) => row.held !== null && !refused.has(row.line))
  await noteChanges(db, options.runId, options.mask, held.map((row) => ({ external_id: row.external_id, name: row.next.name, offer_id: row.offer_id, kind: 'held', details: { payout: row.held } }))) // prettier-ignore
  await noteChanges(db, options.runId, options.mask, stays.map(({ one, kind, details }) => ({ external_id: one.external_id, name: String(one.offer['name'] ?? ''), offer_id: one.offer_id, kind, details }))) // prettier-ignore
}

/** What is most asked about a new offer. */
export const created = ({ payout_micros }: Pick<NewOffer, 'payout_micros'>) => ({ changes: { payout: { before: null, after: microsToUsd(payout_micros) } } }) // prettier-ignore

/**
 * In the transaction of the changes: an offer that is there belongs to its feed, and what the feed wrote is known with it;
 * otherwise it would look like an edit. It may be tried again.
 */
async function onChanges(
  trx: Trx,
  options: ApplyOptions,
  { rows, known }: Planned,
  changes: OfferChange[],
): Promise<void> {
  // prettier-ignore
  const { feedId, runId, name, by, auditId, mask } = options
  await holdRun(trx, runId)
  const byId = new Map(rows.map((row) => [row.external_id, row]))
  const updated = changes.flatMap((change) => (change.made === null ? { before: change.before, row: byId.get(change.after.external_id) as Row } : [])) // prettier-ignore
  for (const { before, row } of updated) {
    const planned = known.get(row.offer_id ?? -1)
    if (planned === undefined || !isDeepStrictEqual(plainOf(before), plainOf(planned))) throw new PlanIsStale('An offer was edited meanwhile.') // prettier-ignore
  }
  if ((await keepApplied(trx, options, updated.map(({ row }) => row))) < updated.length) throw new PlanIsStale('A field was released meanwhile.') // prettier-ignore
  const made = changes.flatMap((change) => (change.made === null ? [] : { offer_id: change.offerId, row: byId.get(change.made.external_id) as Row })) // prettier-ignore
  if (made.length > 0)
    await trx
      .insertInto('feed_offers')
      .values(
        made.map(({ offer_id, row }) => ({
          feed_id: feedId,
          external_id: row.external_id,
          offer_id,
          ...forDatabase(row.written),
        })),
      ) // prettier-ignore
      .execute()
  const noted = changes.map((change) => {
    if (change.made !== null) return { external_id: change.made.external_id, name: change.made.name, offer_id: change.offerId, kind: 'created' as const, details: created(change.made) } // prettier-ignore
    const fields = compareRecords(change.before, change.after)
    const kind = fields['status']?.after === 'active' ? ('resumed' as const) : ('changed' as const)
    return { external_id: change.after.external_id, name: change.after.name, offer_id: change.offerId, kind, details: { changes: fields } } // prettier-ignore
  })
  await noteChanges(trx, runId, mask, noted)
  await recordParts(trx, by, auditId, noted.map(({ kind, offer_id, details }): AuditEntry => ({ action: kind === 'created' ? 'offer.feed_new' : 'offer.feed', subject: offer_id, details: { feed: name, ...details } }))) // prettier-ignore
}

const forDatabase = ({ applied, unapplied, paid, held_payout, held_paid, ...hashes }: Written) => {
  const jsonOf = (value: unknown) => (value === null ? null : JSON.stringify(value))
  return { ...hashes, applied: JSON.stringify(applied), unapplied: jsonOf(unapplied), paid: jsonOf(paid), held_payout: jsonOf(held_payout), held_paid: jsonOf(held_paid) } // prettier-ignore
}

/** What is known of offers after the run. Not where that is otherwise than planned. An approval is for one change. */
async function keepApplied(trx: Trx, { feedId }: ApplyOptions, rows: Row[]): Promise<number> {
  const kept = rows.filter(({ offer_id }) => offer_id !== null).map(({ external_id, applied, approved_paid, written }) => ({ ...written, external_id, before: applied, approved: approved_paid })) // prettier-ignore
  if (kept.length === 0) return 0
  const { numAffectedRows } =
    await sql`UPDATE feed_offers f SET hash = k.hash, applied = k.applied, unapplied = k.unapplied, paid = k.paid,
      held_hash = k.held_hash, held_payout = k.held_payout, held_paid = k.held_paid,
      approved_paid = CASE WHEN f.approved_paid IS DISTINCT FROM k.approved THEN f.approved_paid END
    FROM jsonb_to_recordset(${JSON.stringify(kept)}) AS k (external_id text, hash text, applied jsonb, unapplied jsonb, paid jsonb, held_hash text, held_payout jsonb, held_paid jsonb, before jsonb, approved jsonb)
    WHERE f.feed_id = ${feedId} AND f.external_id = k.external_id AND f.applied = k.before`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Those of the feed that did not come, as far as the feed lets them run. */
export async function pauseGone(db: Db, { feedId, runId, by, name, auditId, mask }: ApplyOptions): Promise<void> {
  for (;;) {
    const gone = await readGone(db, feedId, runId, '')
    if (gone.length === 0) return
    await inTransaction(db, async (trx) => {
      await holdRun(trx, runId)
      const { changed } = await changeStatuses(trx, gone.map(({ offer_id }) => offer_id), 'paused') // prettier-ignore
      const ids = changed.map(({ offer_id }) => offer_id) // those that the operator has paused meanwhile are the operator's
      await sql`UPDATE feed_offers SET applied = applied || '{"status": "paused"}' WHERE offer_id = ANY (${ids}::bigint[])`.execute(trx) // prettier-ignore
      await noteChanges(trx, runId, mask, gone.filter(({ offer_id }) => ids.includes(offer_id)).map((one) => ({ ...one, kind: 'paused' as const, details: {} }))) // prettier-ignore
      await recordParts(trx, by, auditId, ids.map((subject) => ({ action: 'offer.feed', subject, details: { feed: name, gone: true } }))) // prettier-ignore
    })
  }
}
