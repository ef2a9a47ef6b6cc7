// The demo: on an empty database, offers and an app to try things out with. Its secret is kept in a file, unlike any
// other, so that every start can print it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPublisher, listPublishers } from '../features/accounts/publishers.ts'
import { createApp } from '../features/apps/apps.ts'
import { seedOffers, spreadCreation } from '../features/offers/seed.ts'
import type { Context } from './context.ts'

const OFFERS = 200

export type DemoApp = { app_id: number; api_key: string; api_secret: string; signing_secret: string }

/** Fills an empty database; returns the demo app, or null where the data is somebody's own. */
export async function prepareDemo({ config, database: { db }, secretKey }: Context): Promise<DemoApp | null> {
  const file = join(config.dataDir, 'demo-app.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as DemoApp
  if ((await listPublishers(db)).length > 0) return null
  if ((await seedOffers(db, OFFERS)) > 0) await spreadCreation(db)
  const { publisher_id } = await createPublisher(db, 'Demo publisher')
  const { app_id, live } = await createApp(db, secretKey, {
    publisherId: publisher_id,
    name: 'Demo app',
    currency: 'Coins',
    rateMicros: 100_000_000,
    rateLimit: 100,
    postbackUrl: null,
    expiresAt: null,
    blockedCategories: [],
    blockedKeywords: [],
    paymentOffers: true,
  })
  const demo = { app_id, ...live }
  writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  return demo
}
