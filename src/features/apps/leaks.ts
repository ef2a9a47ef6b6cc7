// Secrets that were sent by a browser, where anyone can read them.
import type { FastifyBaseLogger } from 'fastify'
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { messageOf } from '../../errors.ts'
import type { AppCredential } from './credentials.ts'

const REPEAT_MS = 3_600_000

/** Records that a secret came from a browser, at most once an hour for each key. */
export function leakReporter(
  db: Db,
  log: FastifyBaseLogger,
): (credential: AppCredential, origin: string, requestId: string) => void {
  const recordedAtMs = new Map<string, number>()
  return ({ appId, apiKey }, origin, request_id) => {
    const now = Date.now()
    if (now - (recordedAtMs.get(apiKey) ?? -Infinity) < REPEAT_MS) return
    recordedAtMs.set(apiKey, now)
    const whose = { app_id: appId, api_key: apiKey, origin, request_id }
    log.warn(whose, 'an API secret came from a browser: it must stay on servers; rotate it')
    recordLeak(db, apiKey, origin).catch((error: unknown) => {
      recordedAtMs.delete(apiKey) // the next such request retries
      log.warn({ request_id }, `could not record a leaked secret of app ${appId}: ${messageOf(error)}`)
    })
  }
}

export async function recordLeak(db: Db, apiKey: string, origin: string): Promise<void> {
  await db
    .updateTable('credentials')
    .set({ secret_leaked_at: sql<Date>`now()`, secret_leaked_origin: origin })
    .where('api_key', '=', apiKey)
    .execute()
}
