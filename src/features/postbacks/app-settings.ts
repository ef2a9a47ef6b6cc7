// The settings and signing secrets of apps that a worker needs, cached for a second.
import type { Db } from '../../db/open.ts'
import { readSigningSecrets, signingKeyOf } from '../apps/signing-secrets.ts'
import { readAllSettings, type VersionedSettings } from './settings.ts'

const FRESH_MS = 1_000

export type AppSettings = { saved: VersionedSettings | null; secrets: ReadonlyMap<boolean, string[]> }

const NO_APP: AppSettings = { saved: null, secrets: new Map() }

export class AppSettingsCache {
  readonly #apps = new Map<number, AppSettings & { readAtMs: number }>()
  readonly #db: Db
  readonly #secretKey: string

  constructor(db: Db, secretKey: string) {
    this.#db = db
    this.#secretKey = secretKey
  }

  get(appId: number): AppSettings {
    return this.#apps.get(appId) ?? NO_APP
  }

  async refresh(appIds: Iterable<number>): Promise<void> {
    const nowMs = performance.now()
    const stale = [...new Set(appIds)].filter(
      (appId) => nowMs - (this.#apps.get(appId)?.readAtMs ?? -Infinity) > FRESH_MS,
    )
    if (stale.length === 0) return
    const settings = await readAllSettings(this.#db, this.#secretKey, stale)
    const secrets = await readSigningSecrets(this.#db, this.#secretKey, stale)
    for (const appId of stale)
      this.#apps.set(appId, {
        saved: settings.get(appId) ?? null,
        secrets: new Map([false, true].map((isTest) => [isTest, secrets.get(signingKeyOf(appId, isTest)) ?? []])),
        readAtMs: nowMs,
      })
  }
}
