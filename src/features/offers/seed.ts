// Fills the catalogue with made-up offers, for testing and benchmarks.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { DEMO_ADVERTISERS, demoOffer } from './demo.ts'
import { describeProblems, readImportRecord } from './import-record.ts'
import { upsertOffers } from './upsert.ts'

const BATCH = 1_000

/** Creates those of the first `count` demo offers that do not exist yet; returns how many it created. */
export async function seedOffers(
  db: Db,
  count: number,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  await db
    .insertInto('advertisers')
    .values(DEMO_ADVERTISERS.map((name) => ({ name })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  let created = 0
  for (let start = 0; start < count; start += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - start) }, (_, i) => {
      const read = readImportRecord(demoOffer(start + i))
      if ('problems' in read) throw new Error(`Demo offer ${start + i}: ${describeProblems(read.problems)}`)
      return { line: start + i, offer: read.offer }
    })
    created += (await upsertOffers(db, rows)).created
    onProgress(start + rows.length)
  }
  return created
}

/** Spreads the creation times of new offers over the weeks before, as in a catalogue that grew. */
export async function spreadCreation(db: Db): Promise<void> {
  const age = sql<Date>`created_at - (offer_id * 7919 % 60) * interval '1 day' - (offer_id * 104729 % 1440) * interval '1 minute'`
  await db.updateTable('offers').set({ created_at: age, updated_at: age }).execute()
}

/** Lets the made-up offers lead to the demo's advertisers, which are on this server. */
export async function leadToDemo(db: Db, publicUrl: string): Promise<void> {
  const led = sql<string>`regexp_replace(destination_url, '^(https://track\\.example\\.com|https?://[^/]+/demo/offers)/', ${`${publicUrl}/demo/offers/`})`
  await db
    .updateTable('offers')
    .set({ destination_url: led })
    .where('destination_url', '!=', led)
    .where('advertiser_id', 'in', (is) =>
      is.selectFrom('advertisers').select('advertiser_id').where('name', 'in', DEMO_ADVERTISERS),
    )
    .execute()
}
