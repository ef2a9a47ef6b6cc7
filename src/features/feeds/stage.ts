// What a run has fetched, as it would be imported, until the run is complete.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { NewOffer } from '../offers/fields.ts'
import { describeProblems, readImportRecord } from '../offers/import-record.ts'
import type { CredentialMask } from './credential-mask.ts'
import type { FeedSettings } from './feed-settings.ts'
import { filterOffer } from './filter-offer.ts'
import { inheritIds } from './inherit-ids.ts'
import { type Mapped, mapOffer } from './mapping/map-offer.ts'
import type { Mapping } from './mapping/mapping.ts'
import { cutText, readableText } from './mapping/texts.ts'
import { type Paid, paidFor, type SplitFrom } from './paid.ts'
import { priceOffer, type Rates } from './price.ts'

export type StageOptions = { runId: number; advertiser: string; mapping: Mapping; settings: FeedSettings; rates: Rates; mask: CredentialMask } // prettier-ignore

type Staged = { external_id: string; offer: string; hash: string; paid: Paid; split_from: SplitFrom | null }
type Skipped = { external_id: string; name: string; reason: string; is_filtered: boolean }

/** An ID that offers cannot have is shown by its beginning. */
const MOST_ID = 400
const MOST_REASON = 1_000

/** Returns how many were staged, and how many left out. `before`: how many came before these. */
export async function stageItems(
  db: Db,
  options: StageOptions,
  items: unknown[],
  before: number,
): Promise<{ staged: number; skipped: number }> {
  const { runId, mapping, mask } = options
  const staged = new Map<string, Staged>()
  const skipped = new Map<string, Skipped>()
  const came = items.flatMap((item) => mapOffer(mapping, item))
  const { named, splits } = await inheritIds(db, runId, came, (one) => !('problem' in readMapped(one, options)))
  for (const [i, mapped] of named.entries()) {
    const read = readMapped(mapped, options)
    const external_id = mapped.id === '' ? `no ID, ${before + i + 1}` : mapped.id.length <= MOST_ID ? mapped.id : `${cutText(mapped.id, MOST_ID)}… (${before + i + 1})` // prettier-ignore
    if ('problem' in read)
      skipped.set(external_id, { external_id, name: mask.text(mapped.name), reason: cutText(mask.text(readableText(read.problem)), MOST_REASON), is_filtered: read.isFiltered ?? false }) // prettier-ignore
    else {
      const offer = JSON.stringify(read.offer)
      const split = splits.get(external_id)
      const status = split?.isPaused ? { status: 'paused' } : {} // of one that does not run yet: no part of the hash
      const started = JSON.stringify({ ...read.offer, ...status })
      staged.set(external_id, { external_id, offer: started, hash: hashOf(offer), paid: read.paid, split_from: split?.from ?? null }) // prettier-ignore
    }
  }
  await sql`INSERT INTO feed_staging (run_id, external_id, offer, hash, paid, split_from)
    SELECT ${runId}, external_id, offer::jsonb, hash, paid, split_from FROM jsonb_to_recordset(${JSON.stringify([...staged.values()])})
      AS s (external_id text, offer text, hash text, paid jsonb, split_from jsonb) ON CONFLICT DO NOTHING`.execute(db)
  await sql`INSERT INTO feed_changes (run_id, external_id, name, kind, details)
    SELECT ${runId}, external_id, name, 'skipped', jsonb_build_object('reason', reason, 'is_filtered', is_filtered)
    FROM jsonb_to_recordset(${JSON.stringify([...skipped.values()])}) AS s (external_id text, name text, reason text, is_filtered boolean)
    ON CONFLICT DO NOTHING`.execute(db)
  return { staged: staged.size, skipped: skipped.size }
}

/** As it would be imported, or why it is left out. `isFiltered`: because the operator wants none of its kind. */
export function readMapped(
  mapped: Mapped,
  { advertiser, settings, rates }: Pick<StageOptions, 'advertiser' | 'settings' | 'rates'>,
): { offer: object; parsed: NewOffer; paid: Paid } | { problem: string; isFiltered?: true } {
  if ('skipped' in mapped) return { problem: mapped.skipped }
  const { external_id, record } = mapped.offer
  const priced = priceOffer(mapped.offer, settings, rates)
  if ('problem' in priced) return priced
  const offer = { ...record, ...priced.caps, external_id, advertiser, goals: priced.goals.map(({ external_id: id, ...goal }) => ({ ...goal, external_id: id || null })) } // prettier-ignore
  const read = readImportRecord(offer)
  if ('problems' in read) return { problem: describeProblems(read.problems) }
  const problem = filterOffer(read.offer, settings)
  return problem === null ? { offer, parsed: read.offer, paid: paidFor(mapped.offer) } : { problem, isFiltered: true }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)
