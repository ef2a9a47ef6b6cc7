// Writes a batch of offers with their goals: creates new ones, updates changed ones, skips the rest. An offer is
// identified by its advertiser and external ID; its goals as write-goals.ts says. Where what an offer promises has
// changed, it gets new terms.
import { sql } from 'kysely'
import { isRowError, withRetry } from '../../db/pg-errors.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { messageOf } from '../../errors.ts'
import { askForCount, countCaps } from './cap-counts.ts'
import { CAP_COLUMNS } from './caps.ts'
import { type NewOffer, OFFER_COLUMNS } from './fields.ts'
import { type OnOfferChanges, readChanges, type WrittenOffer } from './offer-changes.ts'
import { writeGoals } from './write-goals.ts'

export type UpsertOutcome = {
  created: number
  updated: number
  unchanged: number
  problems: { line: number; problem: string }[]
}

type Row = { line: number; offer: NewOffer }
type KnownRow = Row & { advertiserId: number }

export async function upsertOffers(
  db: Db,
  rows: Row[],
  now: Date = new Date(),
  onChanges?: OnOfferChanges,
): Promise<UpsertOutcome> {
  const outcome: UpsertOutcome = { created: 0, updated: 0, unchanged: 0, problems: [] }
  if (rows.length === 0) return outcome
  const advertisers = await findAdvertisers(db, [...new Set(rows.map(({ offer }) => offer.advertiser))])
  const known: KnownRow[] = []
  for (const row of rows) {
    const advertiserId = advertisers.get(row.offer.advertiser)
    if (advertiserId !== undefined) known.push({ ...row, advertiserId })
    else
      outcome.problems.push({
        line: row.line,
        problem: noAdvertiser(row.offer.advertiser),
      })
  }
  await writeOrSplit((some) => writeBatch(db, some, onChanges), known, outcome)
  await countCaps(db, now)
  return outcome
}

export const noAdvertiser = (name: string) => `there is no advertiser "${name}": create it first`

/** One offer, created or changed. After the commit, `countCaps` must follow. */
export async function putOffer(
  trx: Trx,
  advertiserId: number,
  offer: NewOffer,
): Promise<{ offerId: number; isNew: boolean }> {
  const { created, recapped } = await write(trx, [{ line: 0, offer, advertiserId }])
  await askForCount(trx, recapped)
  const { offer_id } = await trx
    .selectFrom('offers')
    .select('offer_id')
    .where('advertiser_id', '=', advertiserId)
    .where('external_id', '=', offer.external_id)
    .executeTakeFirstOrThrow()
  return { offerId: offer_id, isNew: created === 1 }
}

/** All in one transaction; if the database refuses a row, each separately, so that only that one is left out. */
async function writeOrSplit(
  writeAll: (rows: KnownRow[]) => Promise<Written>,
  rows: KnownRow[],
  outcome: UpsertOutcome,
): Promise<void> {
  if (rows.length === 0) return
  try {
    const { created, updated } = await withRetry(() => writeAll(rows))
    outcome.created += created
    outcome.updated += updated
    outcome.unchanged += rows.length - created - updated
  } catch (error) {
    if (!isRowError(error)) throw error
    if (rows.length === 1)
      outcome.problems.push({ line: rows[0]?.line ?? 0, problem: `the database refused it: ${messageOf(error)}` })
    else for (const row of rows) await writeOrSplit(writeAll, [row], outcome)
  }
}

async function writeBatch(db: Db, rows: KnownRow[], onChanges?: OnOfferChanges): Promise<Written> {
  // A file may name an offer twice: as if imported one after the other, the last one counts.
  const distinct = [
    ...new Map(rows.map((row) => [JSON.stringify([row.advertiserId, row.offer.external_id]), row])).values(),
  ]
  return inTransaction(db, async (trx) => {
    const written = await write(trx, distinct, onChanges)
    await askForCount(trx, written.recapped)
    return written
  })
}

export async function findAdvertisers(db: Db, names: string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('advertisers')
    .select(['advertiser_id', 'name'])
    .where((is) => is('name', '=', is.fn.any(is.val(names))))
    .execute()
  return new Map(rows.map((row) => [row.name, row.advertiser_id]))
}

const columns = sql.raw(OFFER_COLUMNS.join(', '))
const excluded = sql.raw(OFFER_COLUMNS.map((name) => `excluded.${name}`).join(', '))
const before = sql.raw(OFFER_COLUMNS.map((name) => `old.${name}`).join(', '))
const assignments = sql.raw(OFFER_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', '))

const caps = sql.raw(CAP_COLUMNS.join(', '))
const capsBefore = sql.raw(CAP_COLUMNS.map((name) => `before.${name}`).join(', '))
const capsAfter = sql.raw(CAP_COLUMNS.map((name) => `written.${name}`).join(', '))

/** How many are new, how many changed, and which have other caps than before. */
type Written = { created: number; updated: number; recapped: number[] }

async function write(trx: Trx, rows: KnownRow[], onChanges?: OnOfferChanges): Promise<Written> {
  // Locked first: a change by another process meanwhile would be overwritten, since it is not in what is compared.
  await sql`SELECT FROM offers JOIN jsonb_populate_recordset(NULL::offers, ${JSON.stringify(rows.map(keyOf))}) AS wanted
    USING (advertiser_id, external_id) ORDER BY offers.offer_id FOR NO KEY UPDATE OF offers`.execute(trx)
  // The query beside the insert still sees the offers as they were before it.
  const { rows: written } = await sql<WrittenOffer>`
    WITH written AS (
      INSERT INTO offers AS old (advertiser_id, external_id, ${columns})
      SELECT advertiser_id, external_id, ${columns} FROM jsonb_populate_recordset(NULL::offers, ${JSON.stringify(rows.map(offerRow))})
      ON CONFLICT (advertiser_id, external_id) DO UPDATE SET ${assignments}, updated_at = date_trunc('second', now())
      WHERE (${before}) IS DISTINCT FROM (${excluded})
      RETURNING offer_id, advertiser_id, external_id, (xmax = 0) AS is_new, ${caps}
    )
    SELECT before.*, offer_id, written.advertiser_id, written.external_id, is_new,
      (${capsBefore}) IS DISTINCT FROM (${capsAfter}) OR NOT is_new AND before.offer_id IS NULL AS is_recapped
    FROM written LEFT JOIN offers before USING (offer_id)`.execute(trx)
  const changedGoals = await writeGoals(trx, rows)
  const idsOf = (some: typeof written) => some.map((row) => row.offer_id)
  const created = written.filter((row) => row.is_new).length
  const changed = new Set([...idsOf(written), ...changedGoals.keys()])
  const onlyGoals = [...changed].filter((id) => !written.some((row) => row.offer_id === id))
  if (onlyGoals.length > 0) {
    await trx
      .updateTable('offers')
      .set({ updated_at: sql`date_trunc('second', now())` })
      .where('offer_id', 'in', onlyGoals)
      .execute()
  }
  if (changed.size > 0) await sql`SELECT renew_terms(${[...changed]}::bigint[])`.execute(trx)
  if (onChanges !== undefined && changed.size > 0)
    await onChanges(trx, await readChanges(trx, rows, written, changedGoals))
  return { created, updated: changed.size - created, recapped: idsOf(written.filter((row) => row.is_recapped)) }
}

const keyOf = ({ advertiserId, offer: { external_id } }: KnownRow) => ({ advertiser_id: advertiserId, external_id })

const offerRow = ({ advertiserId, offer: { advertiser: _name, goals: _goals, ...columns } }: KnownRow) => ({
  advertiser_id: advertiserId,
  ...columns,
})
