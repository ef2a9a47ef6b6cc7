// The credentials of all apps in memory, by API key.
import type { Db } from '../../db/open.ts'
import type { Credential } from '../../http/gate.ts'
import { readChangedApps } from './apps.ts'

/** One key of an app, with what serving its requests takes. */
export type AppCredential = Credential & {
  appId: number
  isTest: boolean
  currency: { name: string; rateMicros: number }
  /** Null when the app shows everything. */
  rules: { key: string; blockedCategories: string[]; blockedKeywords: string[]; paymentOffers: boolean } | null
}

export class Credentials {
  readonly #byKey = new Map<string, AppCredential>()

  readonly find = (apiKey: string): AppCredential | undefined => this.#byKey.get(apiKey)

  /** Takes in the apps changed by a transaction not older than `xid`. */
  async refresh(db: Db, xid: string): Promise<void> {
    for (const app of await readChangedApps(db, xid)) {
      this.#byKey.set(app.api_key, {
        apiKey: app.api_key,
        appId: app.app_id,
        isTest: app.is_test,
        rateLimit: app.rate_limit,
        expiresAtMs: app.revoked_at !== null ? 0 : (app.expires_at?.getTime() ?? Infinity),
        secrets: app.secrets.map(({ hash, expires_at }) => ({ hash, expiresAtMs: expires_at?.getTime() ?? Infinity })),
        currency: { name: app.currency, rateMicros: app.rate_micros },
        rules: rulesOf(app.blocked_categories, app.blocked_keywords, app.payment_offers),
      })
    }
  }
}

function rulesOf(
  blockedCategories: string[],
  blockedKeywords: string[],
  paymentOffers: boolean,
): AppCredential['rules'] {
  if (blockedCategories.length === 0 && blockedKeywords.length === 0 && paymentOffers) return null
  return {
    key: JSON.stringify([blockedCategories, blockedKeywords, paymentOffers]),
    blockedCategories,
    blockedKeywords,
    paymentOffers,
  }
}
