// The credentials of all apps in memory, by API key.
import type { Since } from '../../db/changes.ts'
import type { Db } from '../../db/open.ts'
import type { Credential } from '../../http/gate.ts'
import { readChangedApps } from './apps.ts'

/** One key of an app, with what serving its requests takes. */
export type AppCredential = Credential & {
  appId: number
  isTest: boolean
  currency: { id: number; name: string; rateMicros: number }
  /** Null when the app shows everything. */
  rules: { id: number; blockedCategories: string[]; blockedKeywords: string[]; paymentOffers: boolean } | null
}

export class Credentials {
  readonly #byKey = new Map<string, AppCredential>()
  readonly #numbers = new Map<string, number>()

  readonly #byApp = new Map<string, AppCredential>()

  /** By the app and mode that a link names. */
  ofApp(appId: number, isTest: boolean): AppCredential | undefined {
    return this.#byApp.get(`${appId}|${isTest}`)
  }

  readonly find = (apiKey: string): AppCredential | undefined => this.#byKey.get(apiKey)

  /** Takes in the apps changed since then. */
  async refresh(db: Db, since: Since): Promise<void> {
    for (const app of await readChangedApps(db, since)) {
      const rules = {
        blockedCategories: app.blocked_categories,
        blockedKeywords: app.blocked_keywords,
        paymentOffers: app.payment_offers,
      }
      const currency = { name: app.currency, rateMicros: app.rate_micros }
      const credential: AppCredential = {
        apiKey: app.api_key,
        appId: app.app_id,
        isTest: app.is_test,
        rateLimit: app.rate_limit,
        expiresAtMs: app.revoked_at !== null ? 0 : (app.expires_at?.getTime() ?? Infinity),
        secrets: app.secrets.map(({ hash, expires_at }) => ({ hash, expiresAtMs: expires_at?.getTime() ?? Infinity })),
        currency: { id: this.#numberOf(currency), ...currency },
        rules: isOpen(rules) ? null : { id: this.#numberOf(rules), ...rules },
      }
      this.#byKey.set(app.api_key, credential)
      this.#byApp.set(`${app.app_id}|${app.is_test}`, credential)
    }
  }

  /** The same number for what is the same, from 1 on: caches tell currencies and rules apart by it. */
  #numberOf(value: object): number {
    const text = JSON.stringify(value)
    const number = this.#numbers.get(text) ?? this.#numbers.size + 1
    this.#numbers.set(text, number)
    return number
  }
}

function isOpen(rules: { blockedCategories: string[]; blockedKeywords: string[]; paymentOffers: boolean }): boolean {
  return rules.blockedCategories.length === 0 && rules.blockedKeywords.length === 0 && rules.paymentOffers
}
