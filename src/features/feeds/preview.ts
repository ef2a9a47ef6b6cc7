// What a run would do, offer by offer: nothing but the notes of the run is written.
import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/open.ts'
import type { RecordedOffer } from '../offers/offers.ts'
import { created } from './apply.ts'
import { noteChanges } from './notes.ts'
import { plainOf } from './pinned-fields.ts'
import { BATCH, type PlanOptions, readBatches, readGone, type Row } from './plan.ts'

export async function previewFetched(db: Db, options: PlanOptions): Promise<void> {
  const { feedId, runId, mask } = options
  for await (const { rows, stays, known } of readBatches(db, options)) {
    const changes = rows.flatMap((row) => describeChange(row, known.get(row.offer_id ?? -1)) ?? [])
    const all = [...changes, ...stays.map(({ one, kind, details }) => ({ one, name: String(one.offer['name'] ?? ''), kind, details }))] // prettier-ignore
    await noteChanges(db, runId, mask, all.map(({ one, name, kind, details }) => ({ external_id: one.external_id, name, offer_id: one.offer_id, kind, details }))) // prettier-ignore
  }
  for (let after = ''; ;) {
    const gone = await readGone(db, feedId, runId, after)
    await noteChanges(db, runId, mask, gone.map((one) => ({ ...one, kind: 'paused', details: {} }))) // prettier-ignore
    if (gone.length < BATCH) return
    after = gone.at(-1)?.external_id ?? ''
  }
}

/** Null: nothing would be different. */
function describeChange(row: Row, recorded: RecordedOffer | undefined) {
  const { name } = row.next // as an operator has edited it
  if (recorded === undefined) {
    const details = created(row.next)
    return row.held === null ? { one: row, name, kind: 'created', details } : { one: row, name, kind: 'held', details: { ...details, payout: row.held } } // prettier-ignore
  }
  const [before, after] = [plainOf(recorded), plainOf(row.next)]
  const fields = Object.keys(after).filter((field) => !isDeepStrictEqual(before[field], after[field]))
  if (fields.length === 0 && row.held === null) return null
  const changes = Object.fromEntries(fields.map((field) => [field, { before: before[field], after: after[field] }]))
  if (row.held !== null) return { one: row, name, kind: 'held', details: { changes, payout: row.held } }
  return { one: row, name, kind: fields.includes('status') ? 'resumed' : 'changed', details: { changes } }
}
