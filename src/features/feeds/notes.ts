import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { CredentialMask } from './credential-mask.ts'

/** What a run did, or would do, with an offer. */
export type Note = { external_id: string; name: string; offer_id: number | null; kind: string; details: object }

/** What upstreams echo of credentials is not kept. Offers keep it: their links would not work without. */
export async function noteChanges(db: Db, runId: number, mask: CredentialMask, notes: Note[]): Promise<void> {
  if (notes.length === 0) return
  await sql`INSERT INTO feed_changes (run_id, external_id, name, offer_id, kind, details)
    SELECT ${runId}, external_id, name, offer_id, kind, details
    FROM jsonb_to_recordset(${JSON.stringify(notes.map((note) => ({ ...note, name: mask.text(note.name), details: mask.deep(note.details, true) })))}) AS n (external_id text, name text, offer_id bigint, kind text, details jsonb)
    ON CONFLICT (run_id, external_id) DO UPDATE SET kind = excluded.kind, details = feed_changes.details || excluded.details`.execute(
    db,
  )
}

const RUNS_WITH_LEFT_OUT = 3

/** Why each offer was left out is of interest in the latest runs only: a network may have very many that are none for us. */
export async function forgetLeftOut(db: Db, feedId: number): Promise<void> {
  await sql`DELETE FROM feed_changes WHERE kind = 'skipped' AND run_id = ANY (ARRAY (
    SELECT run_id FROM feed_runs WHERE feed_id = ${feedId}
    ORDER BY run_id DESC OFFSET ${RUNS_WITH_LEFT_OUT} LIMIT ${RUNS_WITH_LEFT_OUT}))`.execute(db)
}
