// What an import would do, found out by comparing: nothing is written, and no lock is taken.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { hashText } from '../../lib/hash-text.ts'
import { capsOf } from './caps.ts'
import type { NewOffer } from './import-record.ts'
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
    onChange({ line, kind, externalId: offer.externalId, name: offer.name, fields })
  }
  return outcome
}

const keyOf = ({ advertiser, externalId }: NewOffer) => JSON.stringify([advertiser, externalId])

async function readRecorded(db: Db, rows: Row[], advertisers: Map<string, number>): Promise<Map<string, Recorded>> {
  if (rows.length === 0) return new Map()
  const keys = rows.map(({ offer }) => ({
    advertiser_id: advertisers.get(offer.advertiser),
    external_id: offer.externalId,
  }))
  const { rows: found } = await sql<{ offer_id: number }>`
    SELECT offer_id FROM jsonb_to_recordset(${JSON.stringify(keys)}) AS k (advertiser_id bigint, external_id text)
    JOIN offers USING (advertiser_id, external_id)`.execute(db)
  const ids = [...new Set(found.map((row) => row.offer_id))]
  const offers = (await findOffers(db, ids)).map((row) => ({ ...asImported(row), recordedGoals: row.goals }))
  return new Map(offers.map((offer) => [keyOf(offer), offer]))
}

type Recorded = NewOffer & { recordedGoals: RecordedOffer['goals'] }

function changedFields(before: Recorded, after: NewOffer): string[] {
  const names = Object.keys(after) as (keyof NewOffer)[]
  const isChanged = (name: keyof NewOffer) =>
    name === 'goals'
      ? planGoals(before.recordedGoals, after.goals).isChanged
      : !isDeepStrictEqual(before[name], after[name])
  return names.filter(isChanged).map(fieldName)
}

/** As it is called in a file. */
const fieldName = (name: string) =>
  ({ attributionSeconds: 'attribution_window', holdSeconds: 'hold', confirmWithinSeconds: 'confirm_within' })[name] ??
  name.replace(/Micros$/, '').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An offer as the import that would leave it as it is. */
export function asImported(row: RecordedOffer): NewOffer {
  return {
    externalId: row.external_id,
    advertiser: row.advertiser,
    name: row.name,
    description: row.description,
    category: row.category,
    payoutMicros: row.payout_micros,
    revenueMicros: row.revenue_micros,
    countries: row.countries,
    platforms: row.platforms,
    destinationUrl: row.destination_url,
    imageUrl: row.image_url,
    difficulty: row.difficulty,
    timeEstimate: row.time_estimate,
    requirements: row.requirements,
    paymentRequired: row.payment_required,
    conversionType: row.conversion_type,
    goals: row.goals
      .filter((goal) => !goal.is_retired)
      .map((goal) => ({
        externalId: goal.external_id,
        name: goal.name,
        description: goal.description,
        payoutMicros: goal.payout_micros,
        revenueMicros: goal.revenue_micros,
        isOptional: goal.is_optional,
        isRepeatable: goal.is_repeatable,
        payoutPpm: goal.payout_ppm,
        revenuePpm: goal.revenue_ppm,
      })),
    status: row.status,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    attributionSeconds: row.attribution_s,
    holdSeconds: row.hold_s,
    confirmWithinSeconds: row.confirm_within_s,
    redoAfterReversal: row.redo_after_reversal,
    overCap: row.over_cap,
    caps: capsOf(row),
  }
}
