// What measuring postbacks begins with: the database of a catalogue, a worker, apps that get postbacks, and
// conversions to send.
import { join } from 'node:path'
import type pg from 'pg'
import { keepSecretFile } from '../src/db/secret-file.ts'
import { createApp } from '../src/features/apps/apps.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import type { Catalogue } from './data.ts'
import { holdPostgres, type Opened, runLong } from './postgres.ts'
import { startServe } from './servers.ts'
import { TESTER } from '../test/tester.ts'

export async function openFor({ dataDir }: Catalogue, ended: AsyncDisposableStack): Promise<Opened> {
  const postgres = await holdPostgres(dataDir)
  ended.defer(() => postgres.release())
  const opened = postgres.open()
  ended.defer(() => opened.close())
  return opened
}

/** It may send to this machine. */
export async function startWorker(
  { dataDir }: Catalogue,
  ended: AsyncDisposableStack,
  env: Record<string, string> = {},
) {
  const worker = await startServe(dataDir, ['--only', 'worker'], { POSTBACK_ALLOW: '127.0.0.0/8', ...env })
  ended.defer(() => worker.stop())
  return worker
}

export async function createPostbackApp(
  catalogue: Catalogue,
  opened: Opened,
  publisherId: number,
  name: string,
  url: string,
): Promise<number> {
  const { app_id } = await createApp(opened.db, TESTER, secretKeyOf(catalogue), {
    publisherId, name, currency: 'Coins', rateMicros: 100_000_000, rateLimit: 100, expiresAt: null, blockedCategories: [],
    blockedKeywords: [], paymentOffers: true,
  }) // prettier-ignore
  await setPostbackUrl(catalogue, opened, app_id, url)
  return app_id
}

export const setPostbackUrl = (catalogue: Catalogue, { db }: Opened, appId: number, url: string) =>
  saveSettings(db, TESTER, secretKeyOf(catalogue), appId, { ...DEFAULTS, method: 'POST', url })

const secretKeyOf = ({ dataDir }: Catalogue) => keepSecretFile(join(dataDir, 'secret-key'))

/** So many approved conversions for each of these apps, in turn. Their user IDs say when they were created: t-<ms>-… */
export async function insertConversions(pool: pg.Pool, appIds: number[], each: number): Promise<void> {
  await runLong(
    pool,
    `INSERT INTO conversions (conversion_id, app_id, publisher_id, advertiser_id, offer_id, goal_id, user_id, is_test, is_repeatable,
       status, source, payout_micros, revenue_micros, currency, rate_micros, created_at, approved_at, sequence, event_id, actor)
     SELECT uuidv7(), app_id, 1, o.advertiser_id, o.offer_id, g.goal_id, 't-' || $3::bigint || '-' || uuidv7(), false, false,
       'approved', 'publisher', 1500000, 2000000, 'Coins', 100000000, $4::timestamptz, $4::timestamptz, 1, uuidv7(), 'publisher'
     FROM unnest($1::bigint[]) app_id, generate_series(1, $2::integer) n,
       (SELECT * FROM offers LIMIT 1) o JOIN LATERAL (SELECT goal_id FROM goals WHERE goals.offer_id = o.offer_id LIMIT 1) g ON true
     ORDER BY n`,
    [appIds, each, Date.now(), new Date()],
  )
}
