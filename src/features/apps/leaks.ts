import type { FastifyBaseLogger } from 'fastify'
import { messageOf } from '../../errors.ts'
import type { AppCredential } from './credentials.ts'

const REPEAT_MS = 3_600_000

/** Records that an app's secret came from a browser, at most once an hour for each app. */
export function leakReporter(
  record: (appId: number, origin: string) => Promise<void>,
  log: FastifyBaseLogger,
): (credential: AppCredential, origin: string) => void {
  const recordedAtMs = new Map<number, number>()
  return ({ appId }, origin) => {
    const now = Date.now()
    if (now - (recordedAtMs.get(appId) ?? -Infinity) < REPEAT_MS) return
    recordedAtMs.set(appId, now)
    log.warn({ app_id: appId, origin }, 'an API secret came from a browser: it must stay on servers; rotate it')
    record(appId, origin).catch((error: unknown) => {
      recordedAtMs.delete(appId) // the next such request tries again
      log.warn(`could not record a leaked secret of app ${appId}: ${messageOf(error)}`)
    })
  }
}
