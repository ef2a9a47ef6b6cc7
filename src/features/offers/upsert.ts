// Writes a batch of offers with their goals: new ones are made, changed ones updated, the rest left alone. An offer is
// known by its advertiser and the advertiser's own id for it; a goal by its name within the offer.
import { sql } from 'kysely'
import { isCollision, isRowFault } from '../../db/faults.ts'
import type { Db, Trx } from '../../db/open.ts'
import { messageOf } from '../../errors.ts'
import type { NewOffer } from './import-record.ts'

export type UpsertOutcome = {
  created: number
  updated: number
  unchanged: number
  problems: { line: number; problem: string }[]
}

type Row = { line: number; offer: NewOffer }

const MAX_TRIES = 10
type KnownRow = Row & { advertiserId: number }

export async function upsertOffers(db: Db, rows: Row[]): Promise<UpsertOutcome> {
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
        problem: `there is no advertiser "${row.offer.advertiser}"; make it with: offerdeck advertiser create --name "${row.offer.advertiser}"`,
      })
  }
  await writeOrSplit(db, known, outcome)
  return outcome
}

/** All in one transaction; if the database refuses a row, each by itself, so that only that one is left out. */
async function writeOrSplit(db: Db, rows: KnownRow[], outcome: UpsertOutcome): Promise<void> {
  if (rows.length === 0) return
  try {
    const { created, updated } = await retrying(() => db.transaction().execute((trx) => write(trx, rows)))
    outcome.created += created
    outcome.updated += updated
    outcome.unchanged += rows.length - created - updated
  } catch (error) {
    if (!isRowFault(error)) throw error
    if (rows.length === 1)
      outcome.problems.push({ line: rows[0]?.line ?? 0, problem: `the database refused it: ${messageOf(error)}` })
    else for (const row of rows) await writeOrSplit(db, [row], outcome)
  }
}

/** Once more, a few times, where the database ended a transaction that was in another's way. */
async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isCollision(error) || tries === MAX_TRIES) throw error
    }
  }
}

async function findAdvertisers(db: Db, names: string[]): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('advertisers')
    .select(['advertiser_id', 'name'])
    .where((is) => is('name', '=', is.fn.any(is.val(names))))
    .execute()
  return new Map(rows.map((row) => [row.name, row.advertiser_id]))
}

const COLUMNS = [
  'name', 'description', 'category', 'payout_micros', 'revenue_micros', 'countries', 'platforms', 'destination_url', 'image_url',
  'difficulty', 'time_estimate', 'requirements', 'payment_required', 'conversion_type', 'status', 'starts_at', 'ends_at',
] // prettier-ignore
const columns = sql.raw(COLUMNS.join(', '))
const excluded = sql.raw(COLUMNS.map((name) => `excluded.${name}`).join(', '))
const before = sql.raw(COLUMNS.map((name) => `old.${name}`).join(', '))
const assignments = sql.raw(COLUMNS.map((name) => `${name} = excluded.${name}`).join(', '))

async function write(trx: Trx, rows: KnownRow[]): Promise<{ created: number; updated: number }> {
  // A file may name an offer twice: as if imported one after the other, the last one counts.
  const distinct = [
    ...new Map(rows.map((row) => [JSON.stringify([row.advertiserId, row.offer.externalId]), row])).values(),
  ]
  const written = await sql<{ offer_id: number; is_new: boolean }>`
    INSERT INTO offers AS old (advertiser_id, external_id, ${columns})
    SELECT advertiser_id, external_id, ${columns} FROM jsonb_populate_recordset(NULL::offers, ${JSON.stringify(distinct.map(offerRow))})
    ON CONFLICT (advertiser_id, external_id) DO UPDATE SET ${assignments}, updated_at = date_trunc('second', now())
    WHERE (${before}) IS DISTINCT FROM (${excluded})
    RETURNING offer_id, (xmax = 0) AS is_new`.execute(trx)
  const changedGoals = await writeGoals(trx, distinct)
  const created = new Set(written.rows.filter((row) => row.is_new).map((row) => row.offer_id))
  const updated = new Set([...written.rows.map((row) => row.offer_id), ...changedGoals])
  const onlyGoals = changedGoals.filter((id) => !written.rows.some((row) => row.offer_id === id))
  if (onlyGoals.length > 0) {
    await trx
      .updateTable('offers')
      .set({ updated_at: sql`date_trunc('second', now())` })
      .where('offer_id', 'in', onlyGoals)
      .execute()
  }
  return { created: created.size, updated: updated.size - created.size }
}

function offerRow({ advertiserId, offer }: KnownRow) {
  return {
    advertiser_id: advertiserId,
    external_id: offer.externalId,
    name: offer.name,
    description: offer.description,
    category: offer.category,
    payout_micros: offer.payoutMicros,
    revenue_micros: offer.revenueMicros,
    countries: offer.countries,
    platforms: offer.platforms,
    destination_url: offer.destinationUrl,
    image_url: offer.imageUrl,
    difficulty: offer.difficulty,
    time_estimate: offer.timeEstimate,
    requirements: offer.requirements,
    payment_required: offer.paymentRequired,
    conversion_type: offer.conversionType,
    status: offer.status,
    starts_at: offer.startsAt,
    ends_at: offer.endsAt,
  }
}

/** Returns the offers whose goals changed. A goal that is gone is retired, not deleted: conversions may speak of it. */
async function writeGoals(trx: Trx, rows: KnownRow[]): Promise<number[]> {
  const goals = rows.flatMap(({ advertiserId, offer }) =>
    offer.goals.map((goal, i) => ({
      advertiser_id: advertiserId,
      external_id: offer.externalId,
      place: i + 1,
      name: goal.name,
      description: goal.description,
      payout_micros: goal.payoutMicros,
      revenue_micros: goal.revenueMicros,
      is_optional: goal.isOptional,
    })),
  )
  const { rows: changed } = await sql<{ offer_id: number }>`
    WITH given AS MATERIALIZED (
      SELECT o.offer_id, g.place, g.name, g.description, g.payout_micros, g.revenue_micros, g.is_optional
      FROM jsonb_to_recordset(${JSON.stringify(goals)}) AS g (advertiser_id bigint, external_id text, place integer,
        name text, description text, payout_micros bigint, revenue_micros bigint, is_optional boolean)
      JOIN offers o USING (advertiser_id, external_id)
    ), kept AS (
      INSERT INTO goals AS old (offer_id, place, name, description, payout_micros, revenue_micros, is_optional)
      SELECT * FROM given ORDER BY offer_id, place
      ON CONFLICT (offer_id, name) DO UPDATE SET place = excluded.place, description = excluded.description,
        payout_micros = excluded.payout_micros, revenue_micros = excluded.revenue_micros, is_optional = excluded.is_optional, is_retired = false
      WHERE (old.place, old.description, old.payout_micros, old.revenue_micros, old.is_optional, old.is_retired)
        IS DISTINCT FROM (excluded.place, excluded.description, excluded.payout_micros, excluded.revenue_micros, excluded.is_optional, false)
      RETURNING offer_id
    ), retired AS (
      UPDATE goals SET is_retired = true
      WHERE NOT is_retired AND offer_id IN (SELECT offer_id FROM given)
        AND NOT EXISTS (SELECT FROM given WHERE given.offer_id = goals.offer_id AND given.name = goals.name)
      RETURNING offer_id
    )
    SELECT offer_id FROM kept UNION SELECT offer_id FROM retired`.execute(trx)
  return changed.map((row) => row.offer_id)
}
