// Imports into a world for itself, all of one advertiser, and what is there afterwards.
import assert from 'node:assert/strict'
import { createAdvertiser } from '../src/features/accounts/advertisers.ts'
import { type Imported, useOfferFiles } from './offer-files.ts'
import { SECRET_KEY, useWorld } from './world.ts'
import { TESTER } from './tester.ts'

const ADVERTISER = 'Acme, "the" Company'
const COUNTS = { rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 }
let count = 0

/** A row of an offer that is not there yet. */
export const row = (more: Record<string, unknown> = {}) => ({
  external_id: `row-${count++}`,
  advertiser: ADVERTISER,
  name: 'An offer',
  category: 'app',
  payout: '1.25',
  destination_url: 'https://ads.example.com/?click={click_id}',
  ...more,
})

export function counts(imported: Imported, expected: Partial<typeof COUNTS>): void {
  const { problems, ...result } = imported
  assert.deepEqual(result, { ...COUNTS, ...expected }, JSON.stringify(problems))
}

export function useImports(name: string) {
  const world = useWorld(name, async ({ database }) => {
    await createAdvertiser(database.db, TESTER, SECRET_KEY, ADVERTISER)
  })
  const files = useOfferFiles()
  const offersOf = (externalId: string) =>
    world.database.db.selectFrom('offers').selectAll().where('external_id', '=', externalId)
  return {
    world,
    folder: files.folder,
    bring: (file: string, content: string) => files.importText(world.database.db, file, content),
    offerOf: (externalId: string) => offersOf(externalId).executeTakeFirstOrThrow(),
    isKnown: async (externalId: string) => (await offersOf(externalId).execute()).length === 1,
  }
}
