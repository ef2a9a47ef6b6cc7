// The settings and signing secrets of apps that a worker needs, cached for a second, and not beyond their version.
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

  /** `versions`: of the settings of each app. */
  async refresh(versions: ReadonlyMap<number, number>): Promise<void> {
    const nowMs = performance.now()
    const isFresh = ([appId, version]: [number, number]) => {
      const known = this.#apps.get(appId)
      return known !== undefined && nowMs - known.readAtMs <= FRESH_MS && known.saved?.version === version
    }
    const stale = [...versions].filter((one) => !isFresh(one)).map(([appId]) => appId)
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
