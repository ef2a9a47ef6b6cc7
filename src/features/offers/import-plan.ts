// What an import would do, found out by comparing: nothing is written, and no lock is taken.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { hashText } from '../../lib/hash-text.ts'
import { FIELD_NAMES, type FieldName, FIELDS, type NewOffer } from './fields.ts'
import { findOffers, type RecordedOffer } from './offers.ts'
import { findAdvertisers, noAdvertiser, type UpsertOutcome } from './upsert.ts'
import { planGoals } from './write-goals.ts'

export type PlannedChange = {
  line: number
  kind: 'created' | 'updated'
  externalId: string
  name: string
  /** Of an offer that is there already: what would be different. */
  fields: string[]
}

/** What earlier rows of the file would do to an offer, by its key. */
export type Planned = Map<string, string>

type Row = { line: number; offer: NewOffer }

export async function planOffers(
  db: Db,
  rows: Row[],
  planned: Planned,
  onChange: (change: PlannedChange) => void,
): Promise<UpsertOutcome> {
  const outcome: UpsertOutcome = { created: 0, updated: 0, unchanged: 0, problems: [] }
  const advertisers = await findAdvertisers(db, [...new Set(rows.map(({ offer }) => offer.advertiser))])
  const known = rows.filter(({ line, offer }) => {
    const isKnown = advertisers.has(offer.advertiser)
    if (!isKnown) outcome.problems.push({ line, problem: noAdvertiser(offer.advertiser) })
    return isKnown
  })
  const recorded = await readRecorded(db, known, advertisers)
  // As the import does it: of several rows for one offer in a batch, the last one counts.
  const distinct = new Map(known.map((row) => [keyOf(row.offer), row]))
  outcome.unchanged += known.length - distinct.size
  for (const [key, { line, offer }] of distinct) {
    const hash = hashText(JSON.stringify(offer))
    const before = recorded.get(key)
    const earlier = planned.get(key)
    planned.set(key, hash)
    const fields = before === undefined ? [] : changedFields(before, offer)
    const isSame = earlier === undefined ? before !== undefined && fields.length === 0 : earlier === hash
    if (isSame) {
      outcome.unchanged++
      continue
    }
    const kind = before === undefined && earlier === undefined ? 'created' : 'updated'
    outcome[kind]++
    onChange({ line, kind, externalId: offer.external_id, name: offer.name, fields })
  }
  return outcome
}

const keyOf = ({ advertiser, external_id }: Pick<NewOffer, 'advertiser' | 'external_id'>) =>
  JSON.stringify([advertiser, external_id])

async function readRecorded(
  db: Db,
  rows: Row[],
  advertisers: Map<string, number>,
): Promise<Map<string, RecordedOffer>> {
  if (rows.length === 0) return new Map()
  const keys = rows.map(({ offer }) => ({
    advertiser_id: advertisers.get(offer.advertiser),
    external_id: offer.external_id,
  }))
  const { rows: found } = await sql<{ offer_id: number }>`
    SELECT offer_id FROM jsonb_to_recordset(${JSON.stringify(keys)}) AS k (advertiser_id bigint, external_id text)
    JOIN offers USING (advertiser_id, external_id)`.execute(db)
  const offers = await findOffers(db, [...new Set(found.map((row) => row.offer_id))])
  return new Map(offers.map((offer) => [keyOf(offer), offer]))
}

function changedFields(before: RecordedOffer, after: NewOffer): FieldName[] {
  return FIELD_NAMES.filter((name) => {
    if (name === 'goals') return planGoals(before.goals, after.goals).isChanged
    const column = (FIELDS[name] as { column?: keyof NewOffer }).column ?? (name as keyof NewOffer)
    return !isDeepStrictEqual(before[column], after[column])
  })
}
